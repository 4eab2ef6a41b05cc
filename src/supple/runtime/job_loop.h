// SPDX-License-Identifier: Apache-2.0
// An engine's own jobs: how a game lends its threads to the runtime, which has none.
#pragma once

#include <cstdint>

namespace supple {

/// Calls body(context, i) once for each i below count, on any thread, and returns after the last.
using JobBody = void (*)(void* context, std::int64_t i);
using JobLoop = void (*)(void* user, std::int64_t count, JobBody body, void* context);

}  // namespace supple
