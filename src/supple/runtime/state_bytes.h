// SPDX-License-Identifier: Apache-2.0
// StateBytes: what changes while time runs, copied into a buffer of the caller and back, bit by bit. A class lists the
// members that make up its state once, in a function `exchange(StateBytes&)`; the same list counts, saves and restores.
// Sizes are those of the object, which a restored state must share; nothing is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace supple {

class StateBytes {
 public:
  /// Counts bytes only.
  StateBytes() = default;
  static StateBytes saving(std::span<std::byte> buffer) { return StateBytes(buffer.data(), nullptr, buffer.size()); }
  static StateBytes restoring(std::span<const std::byte> buffer) {
    return StateBytes(nullptr, buffer.data(), buffer.size());
  }

  std::size_t size() const { return at_; }
  bool restores() const { return from_ != nullptr; }

  /// A number, or a plain struct of numbers.
  template <class T>
  void operator()(T& value) {
    bytes(&value, sizeof(T));
  }
  /// `count` of them.
  template <class T>
  void operator()(T* values, std::size_t count) {
    bytes(values, count * sizeof(T));
  }
  /// As many of them as there are.
  template <class T>
  void operator()(std::vector<T>& values) {
    bytes(values.data(), values.size() * sizeof(T));
  }

 private:
  StateBytes(std::byte* to, const std::byte* from, std::size_t room) : to_(to), from_(from), room_(room) {}

  void bytes(void* data, std::size_t count) {
    auto* own = static_cast<std::byte*>(data);
    const bool fits = count <= room_ - std::min(at_, room_);
    if (to_ != nullptr && fits) std::copy(own, own + count, to_ + at_);
    if (from_ != nullptr && fits) std::copy(from_ + at_, from_ + at_ + count, own);
    at_ += count;
  }

  std::byte* to_ = nullptr;
  const std::byte* from_ = nullptr;
  std::size_t room_ = 0, at_ = 0;
};

}  // namespace supple
