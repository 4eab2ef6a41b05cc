// SPDX-License-Identifier: Apache-2.0
// A folder of solved shapes, one file each: what an interrupted sketch has already paid for.
//
// A file holds "SUPSHAP2", 32 digits that stand for its problem, the number of doubles, the doubles (all
// little-endian), and 32 digits that stand for all before them (base/content_hash.h). Files are written atomically. One
// that is damaged, or that belongs to another body or load, counts as missing and is written anew.
#pragma once

#include "supple/base/content_hash.h"
#include "supple/base/result.h"
#include "supple/base/types.h"

#include <filesystem>
#include <optional>
#include <span>

namespace supple {

class ShapeStore {
 public:
  /// Opens a store; creates its folder when that doesn't exist.
  static Result<ShapeStore> open(const std::filesystem::path& folder);

  /// Gives the shape of that number if it was saved for the same problem.
  std::optional<VecX> find(std::size_t number, const ContentHash& problem) const;
  Status save(std::size_t number, const ContentHash& problem, const VecX& shape) const;

 private:
  std::filesystem::path file_of(std::size_t number) const;
  std::filesystem::path folder_;
};

}  // namespace supple
