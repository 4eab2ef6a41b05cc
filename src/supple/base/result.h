// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or one sentence that says what is wrong with which input and what to do about it.
//
// Used at import, build and load boundaries. Inside, broken promises are asserts (base/assert.h); inside a running
// simulation step nothing fails by throwing.
#pragma once

#include "supple/base/assert.h"

#include <optional>
#include <string>
#include <utility>

namespace supple {

/// Who has to act. The command line turns the kind into its exit code: usage 2, input 3, failure 1.
enum class ErrorKind {
  usage,    ///< the call or the command line asks for something that doesn't exist
  input,    ///< the user's file or numbers are at fault
  failure,  ///< we are at fault, or the machine is: disk full, no memory, no convergence
};

struct Error {
  ErrorKind kind = ErrorKind::failure;
  std::string message;  ///< one sentence: the file, the fault, the way out
};

Error usage_error(std::string message);
Error input_error(std::string message);
Error failure(std::string message);

/// A value of type T or an Error. Ask `ok()` before reading either.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor): `return mesh;` reads best
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  /// The value; asking an error for it ends the program with the error's sentence, in release builds too.
  T& value() & {
    require_value();
    return *value_;
  }
  const T& value() const& {
    require_value();
    return *value_;
  }
  T&& value() && {
    require_value();
    return std::move(*value_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

  const Error& error() const {
    SUPPLE_ASSERT(!ok());
    return error_;
  }

 private:
  void require_value() const {
    if (!ok()) assertion_failed(error_.message.c_str(), "Result::value() of an error", 0);
  }
  std::optional<T> value_;
  Error error_;
};

/// The result of what succeeds without giving a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    SUPPLE_ASSERT(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

/// Returns the error of a Result or Status expression from the enclosing function, if there is one.
#define SUPPLE_RETURN_IF_ERROR(expression)                            \
  do {                                                                \
    if (auto&& supple_status_ = (expression); !supple_status_.ok()) { \
      return supple_status_.error();                                  \
    }                                                                 \
  } while (false)

}  // namespace supple
