// SPDX-License-Identifier: Apache-2.0
#include "supple/base/result.h"

namespace supple {

Error usage_error(std::string message) { return {ErrorKind::usage, std::move(message)}; }
Error input_error(std::string message) { return {ErrorKind::input, std::move(message)}; }
Error failure(std::string message) { return {ErrorKind::failure, std::move(message)}; }

}  // namespace supple
