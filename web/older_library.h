// SPDX-License-Identifier: Apache-2.0
// Debian 12's emscripten brings the C++ library of LLVM 13, which lacks some of C++20 that the runtime uses. Included
// before every file of the module (CMakeLists.txt), so that nobody else has to know.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 14000
// NOLINTBEGIN(cert-dcl58-cpp): names that the standard has put there since
namespace std {
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
namespace ranges {
template <class First, class Second>
constexpr bool equal(const First& first, const Second& second) {
  return std::equal(first.begin(), first.end(), second.begin(), second.end());
}
}  // namespace ranges
}  // namespace std
// NOLINTEND(cert-dcl58-cpp)
#endif
