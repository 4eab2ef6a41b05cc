// SPDX-License-Identifier: Apache-2.0
// PC2 point caches: positions of all vertices of a surface over time, as Blender, Maya, 3ds Max and Houdini read them.
//
//   "POINTCACHE2\0"  version 1 (int32)  points (int32)  start frame (float)  frames per sample (float)  samples (int32)
//   then x, y, z (float) of every point, sample after sample. Little-endian.
#pragma once

#include "supple/base/types.h"
#include "supple/io/file.h"

#include <span>
#include <vector>

namespace supple {

struct Pc2Header {
  std::int32_t points = 0;
  float start_frame = 0;
  float frames_per_sample = 1;
  std::int32_t samples = 0;
};

/// Writes sample after sample; the file appears with finish(), which fails unless all samples were added.
class Pc2Writer {
 public:
  static Result<Pc2Writer> open(const std::filesystem::path& path, const Pc2Header& header);
  /// Adds a sample: one position per point.
  Status add_sample(std::span<const Vec3> positions);
  Status finish();

 private:
  Pc2Writer(AtomicFile file, const Pc2Header& header) : file_(std::move(file)), header_(header) {}
  AtomicFile file_;
  Pc2Header header_;
  std::int32_t written_ = 0;
  std::string buffer_;
};

struct PointCache {
  Pc2Header header;
  std::vector<std::vector<Vec3>> samples;
};

Result<PointCache> load_pc2(const std::filesystem::path& path);

}  // namespace supple
