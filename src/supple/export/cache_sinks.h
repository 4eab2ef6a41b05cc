// SPDX-License-Identifier: Apache-2.0
// Where write_point_cache.h puts the frames of one mesh in one clip.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace supple {

struct CachePart {
  std::string name;
  Index first_vertex = 0, vertex_count = 0;
};

struct VectorRange {
  Vec3 low = Vec3::Constant(1e300), high = Vec3::Constant(-1e300);
  void include(std::span<const Vec3> values) {
    for (const Vec3& value : values) low = low.cwiseMin(value), high = high.cwiseMax(value);
  }
};

/// What a sink is told before the first frame.
struct CacheDescription {
  std::string clip, mesh;
  std::vector<CachePart> parts;  ///< primitives of the file
  Index vertex_count = 0;
  std::vector<double> times;  ///< [s]
  double frame_rate = 30;
  VectorRange range;  ///< of all positions, for formats that need it
};

class CacheSink {
 public:
  virtual ~CacheSink() = default;
  /// Adds the next frame. Normals have unit length; sinks that don't want them pass over them.
  virtual Status add_frame(std::span<const Vec3> positions, std::span<const Vec3> normals) = 0;
  /// Makes the files appear, and adds their names to the list.
  virtual Status finish(std::vector<std::filesystem::path>& files) = 0;
  virtual bool wants_normals() const { return false; }
};

using OpenedSink = Result<std::unique_ptr<CacheSink>>;
/// Opens a sink; `stem` is the path without the extension.
OpenedSink open_pc2_sink(const std::string& stem, const CacheDescription& description);
OpenedSink open_mdd_sink(const std::string& stem, const CacheDescription& description);
enum class TextureFormat { exr, png };
OpenedSink open_texture_sink(const std::string& stem, const CacheDescription& description, TextureFormat format);

}  // namespace supple
