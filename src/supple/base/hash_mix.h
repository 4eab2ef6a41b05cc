// SPDX-License-Identifier: Apache-2.0
// mix_word: the one step that all hashes of ours are made of.
//
//   h ← (h ⊕ w) · 0x9e3779b97f4a7c15,   h ← h ⊕ (h ≫ 29)
//
// It is a bijection of h for a given word w, and of w for a given h: two inputs that differ in one word never come out
// the same. ContentHash (128 bits, for names of cached results), the checksum of archives (64 bits, part of a file
// format and therefore fixed) and ArrayHash (for unordered containers) differ only in what they put in first and last.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace supple {

constexpr std::uint64_t mix_word(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

/// Hashes a few numbers for unordered containers: a point, a triangle.
struct ArrayHash {
  template <class T, std::size_t N>
  std::size_t operator()(const std::array<T, N>& values) const {
    std::uint64_t hash = 0;
    for (const T value : values) hash = mix_word(hash, std::hash<T>{}(value));
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace supple
