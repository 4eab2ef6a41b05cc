// SPDX-License-Identifier: Apache-2.0
// ContentHash: 128 bits that stand for everything that was put in, in order. Two lanes of multiplication and rotation
// (one of them hash_mix.h), each a bijection of its state for a given word; no defence against somebody who wants a
// collision, and none by accident.
#pragma once

#include "supple/base/types.h"

#include <Eigen/Core>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace supple {

class ContentHash {
 public:
  /// Everything is preceded by its length, so that no two sequences of calls put in the same bytes.
  ContentHash& add(std::string_view text);
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) ContentHash& add(T value) {
    return bytes(&value, sizeof value);
  }
  ContentHash& add(const MatX& matrix) {
    add(matrix.rows());
    return bytes(matrix.data(), to_size(matrix.size()) * sizeof(double));
  }
  /// Numbers, and fixed groups of them: indices, points, matrices of 3 × 3, arrays.
  template <class T>
  ContentHash& add(std::span<const T> values) {
    static_assert(!std::is_pointer_v<T> && !std::is_same_v<T, std::string> && sizeof(T) <= 72);
    return bytes(values.data(), values.size_bytes());
  }
  template <class T>
  ContentHash& add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }
  ContentHash& add(const std::vector<std::string>& words) {
    add(words.size());
    for (const std::string& word : words) add(std::string_view(word));
    return *this;
  }

  /// Gives the hash as 32 hexadecimal digits.
  std::string text() const;

 private:
  ContentHash& bytes(const void* data, std::size_t size);
  void mix(std::uint64_t word);

  std::uint64_t a_ = 0x243f6a8885a308d3u, b_ = 0x13198a2e03707344u;
};

}  // namespace supple
