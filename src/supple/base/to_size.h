// SPDX-License-Identifier: Apache-2.0
// Indices are signed (types.h), containers of the standard library count in std::size_t: this is the way from one to
// the other.
#pragma once

#include <cstddef>

namespace supple {

/// A number that is known not to be negative, as containers want it: `vertices[to_size(v)]`.
template <class Number>
constexpr std::size_t to_size(Number number) {
  return static_cast<std::size_t>(number);
}

}  // namespace supple
