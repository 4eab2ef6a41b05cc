// SPDX-License-Identifier: Apache-2.0
// Asserts state what the code promises itself; a user's bad input is never one of them (see base/result.h).
#pragma once

namespace supple {

/// Prints the failed condition with its place to standard error and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace supple

#ifdef NDEBUG
#define SUPPLE_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define SUPPLE_ASSERT(condition) \
  static_cast<void>((condition) || (::supple::assertion_failed(#condition, __FILE__, __LINE__), false))
#endif
