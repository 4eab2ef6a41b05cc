// SPDX-License-Identifier: Apache-2.0
// ByteReader and append_bytes: numbers in binary files, in either byte order.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace supple {

static_assert(std::endian::native == std::endian::little, "the binary writers assume a little-endian machine");

template <class T>
T byte_swapped(T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, bool swap = false) : bytes_(bytes), swap_(swap) {}

  /// Reads the next value. Returns false when there are too few bytes left.
  template <class T>
  bool read(T& value) {
    if (bytes_left() < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    if (swap_) value = byte_swapped(value);
    position_ += sizeof(T);
    return true;
  }

  bool skip(std::uint64_t count) {
    if (count > bytes_left()) return false;
    position_ += to_size(count);
    return true;
  }

  std::size_t position() const { return position_; }
  std::size_t bytes_left() const { return bytes_.size() - position_; }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  bool swap_ = false;
};

/// Appends the little-endian bytes of a number.
template <class T>
void append_bytes(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace supple
