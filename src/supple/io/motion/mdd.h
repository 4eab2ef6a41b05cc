// SPDX-License-Identifier: Apache-2.0
// MDD point caches: positions of all vertices of a surface over time, as LightWave, Blender, modo and Houdini read
// them.
//
//   frames (int32)  points (int32)  time of every frame [s] (float)
//   then x, y, z (float) of every point, frame after frame. Big-endian.
#pragma once

#include "supple/base/types.h"
#include "supple/io/file.h"

#include <span>
#include <vector>

namespace supple {

/// Writes frame after frame; the file appears with finish(), which wants all frames to have been added.
class MddWriter {
 public:
  static Result<MddWriter> open(const std::filesystem::path& path, std::int32_t points, std::span<const double> times);
  /// Adds a frame: one position per point.
  Status add_frame(std::span<const Vec3> positions);
  Status finish();

 private:
  MddWriter(AtomicFile file, std::int32_t points, std::size_t frames)
      : file_(std::move(file)), points_(points), frames_(frames) {}
  AtomicFile file_;
  std::int32_t points_;
  std::size_t frames_, written_ = 0;
  std::string buffer_;
};

struct MddCache {
  std::vector<double> times;
  std::vector<std::vector<Vec3>> frames;
};

/// Refuses numbers that aren't finite. `name` is for messages.
Result<MddCache> parse_mdd(std::string_view bytes, const std::string& name);
Result<MddCache> load_mdd(const std::filesystem::path& path);

}  // namespace supple
