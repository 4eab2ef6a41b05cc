// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#ifndef SUPPLE_VERSION
#error "the build gives the version"
#endif

namespace supple::c_api {

std::string& last_error() {
  thread_local std::string sentence;
  return sentence;
}

supple_status fail(supple_status status, const char* sentence) noexcept {
  try {
    last_error() = sentence;
  } catch (...) {
    last_error().clear();
  }
  return status;
}

supple_status fail(const Error& error) noexcept {
  const supple_status status = error.kind == ErrorKind::usage   ? SUPPLE_USAGE
                               : error.kind == ErrorKind::input ? SUPPLE_INPUT
                                                                : SUPPLE_FAILURE;
  return fail(status, error.message.c_str());
}

}  // namespace supple::c_api

const char* supple_version(void) { return SUPPLE_VERSION; }
const char* supple_last_error(void) { return supple::c_api::last_error().c_str(); }
