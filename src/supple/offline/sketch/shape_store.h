// SPDX-License-Identifier: Apache-2.0
// A folder of solved shapes, one file each: what an interrupted sketch has already paid for.
//
// A file holds "SUPSHAP1", the key of its problem, the number of doubles, the doubles, and a checksum of all before it
// (FNV-1a, 64 bit, all little-endian). Files are written atomically. One that is damaged, or that belongs to another
// body or load, counts as missing and is written anew.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <filesystem>
#include <optional>
#include <span>

namespace supple {

/// FNV-1a over bytes, continued from `hash`.
std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t hash = 0xcbf29ce484222325u);

class ShapeStore {
 public:
  /// Opens a store; creates its folder when that doesn't exist.
  static Result<ShapeStore> open(const std::filesystem::path& folder);

  std::optional<VecX> find(std::size_t number, std::uint64_t key) const;
  Status save(std::size_t number, std::uint64_t key, const VecX& shape) const;

 private:
  std::filesystem::path file_of(std::size_t number) const;
  std::filesystem::path folder_;
};

}  // namespace supple
