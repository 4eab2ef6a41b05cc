// SPDX-License-Identifier: Apache-2.0
// BuildCache: a folder that keeps the results of build stages, so that the same character isn't built twice and a
// changed recipe only rebuilds what it touches.
//
//   FOLDER/STAGE-KEY    "SUPBLD01", a checksum of 32 digits, then the result
//
// The key is a hash of everything that the stage is made from, and of the program itself: another build of Supple finds
// nothing of this one's. Entries are written beside their name and renamed, so that a reader sees all of one or
// nothing, whoever else builds at the same time; one whose checksum doesn't fit is removed and made again. When the
// folder grows too large, what hasn't been used for longest goes first. Files of others in the folder, known by lacking
// the name or the first bytes, are never touched and never counted.
#pragma once

#include "supple/base/stage_store.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>

namespace supple {

class BuildCache final : public StageStore {
 public:
  static constexpr std::uint64_t default_size = std::uint64_t{2} << 30;
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

  /// Makes the folder when there is something to keep. A folder that can't be written keeps nothing.
  explicit BuildCache(std::filesystem::path folder, std::uint64_t most_bytes = default_size);

  std::optional<std::string> find(std::string_view stage, const ContentHash& content) override;
  void keep(std::string_view stage, const ContentHash& content, std::string_view bytes) override;

  const std::filesystem::path& folder() const { return folder_; }
  /// Stages of which something was found, and of which something was made, in alphabetical order.
  std::vector<std::string> found() const;
  std::vector<std::string> made() const;

 private:
  std::filesystem::path entry(std::string_view stage, const ContentHash& content) const;
  void remove_oldest();

  std::filesystem::path folder_;
  std::uint64_t most_bytes_;
  std::string program_;  ///< what tells this build of the library from others; empty: unknown, nothing is kept
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> found_, made_;
};

/// Of the program or shared library that holds this code: any change to it, and nothing else, changes its results.
/// Bytes, or none where it isn't known.
std::string program_id();

/// SUPPLE_CACHE_DIR, or the user's folder for caches (XDG_CACHE_HOME, ~/.cache) and supple/build in it; empty where
/// there is none.
std::filesystem::path default_cache_folder();
/// SUPPLE_CACHE_MB, or two gigabytes.
std::uint64_t default_cache_size();
/// The cache of that folder and size; null where there is no folder for it.
std::unique_ptr<BuildCache> default_cache();

}  // namespace supple
