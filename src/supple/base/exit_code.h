// SPDX-License-Identifier: Apache-2.0
// What a program of ours ends with, by the kind of error: 2 where it was called wrongly, 3 where an input is at fault,
// 1 where we are. Interrupted ones end with 130, as a shell would say.
#pragma once

#include "supple/base/result.h"

namespace supple {

constexpr int interrupted_exit_code = 130;
constexpr int bad_input_exit_code = 3;

inline int exit_code_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::input:
      return bad_input_exit_code;
    default:
      return 1;
  }
}

}  // namespace supple
