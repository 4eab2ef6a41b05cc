// SPDX-License-Identifier: Apache-2.0
// What the handles of supple.h are, and how failures leave: no exception crosses the border, every failure leaves a
// sentence behind.
#pragma once

#include "supple.h"
#include "supple/base/result.h"

#include <exception>
#include <new>
#include <string>

namespace supple::c_api {

/// Of this thread.
std::string& last_error();

supple_status fail(supple_status status, const char* sentence) noexcept;
supple_status fail(const Error& error) noexcept;

/// Runs `body`, which returns a status; whatever it throws becomes one.
template <class Body>
supple_status guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(SUPPLE_FAILURE, "there is not enough memory; free some and call again");
  } catch (const std::exception& e) {
    return fail(SUPPLE_FAILURE, e.what());
  } catch (...) {
    return fail(SUPPLE_FAILURE, "something went wrong that has no name");
  }
}

inline supple_status null_argument() noexcept {
  return fail(SUPPLE_USAGE, "a pointer that must not be null is null; give the call something to work with");
}
inline supple_status out_of_range() noexcept {
  return fail(SUPPLE_USAGE, "an index is out of range; ask for the count first");
}
inline supple_status too_small() noexcept {
  return fail(SUPPLE_USAGE, "a buffer is too small for what was asked for; give it the room that the header names");
}

}  // namespace supple::c_api
