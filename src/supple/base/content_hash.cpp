// SPDX-License-Identifier: Apache-2.0
#include "supple/base/content_hash.h"

#include "supple/base/hash_mix.h"

#include <bit>
#include <cstring>

namespace supple {
namespace {

/// So that every bit of what went in reaches every digit.
std::uint64_t spread(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

}  // namespace

void ContentHash::mix(std::uint64_t word) {
  a_ = mix_word(a_, word);
  b_ = std::rotl(b_ + word * 0xa0761d6478bd642fu, 31) * 0xe7037ed1a0b428dbu;
}

ContentHash& ContentHash::bytes(const void* data, std::size_t size) {
  mix(size);
  const auto* at = static_cast<const std::byte*>(data);
  for (; size >= 8; size -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  if (size > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    mix(word);
  }
  return *this;
}

ContentHash& ContentHash::add(std::string_view text) { return bytes(text.data(), text.size()); }

std::string ContentHash::text() const {
  std::string digits;
  for (const std::uint64_t half : {spread(a_ ^ std::rotl(b_, 32)), spread(b_)})
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(half >> shift) & 15u];
  return digits;
}

}  // namespace supple
