// SPDX-License-Identifier: Apache-2.0
#include "supple/export/write_point_cache.h"

#include "supple/export/cache_sinks.h"
#include "supple/export/posed_meshes.h"
#include "supple/mesh/normals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace supple {
namespace {

/// A name that every file system takes, unlike those before it.
std::string file_name(const std::string& name, std::set<std::string>& taken) {
  std::string plain;
  for (const char c : name.substr(0, 100))
    plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
  if (plain.empty()) plain.push_back('_');
  std::string unique = plain;
  for (int k = 2; !taken.insert(unique).second; ++k) unique = fmt::format("{}_{}", plain, k);
  return unique;
}

CacheDescription description_of(const CharacterMesh& mesh) {
  CacheDescription description;
  description.mesh = mesh.name;
  std::size_t named = 0;
  for (const std::vector<Index>& welded : mesh.welded_vertex) {
    const auto count = static_cast<Index>(welded.size());
    const bool has_name = !welded.empty() && named < mesh.surface.parts.size();
    description.parts.push_back({has_name ? mesh.surface.parts[named++].name : "", description.vertex_count, count});
    description.vertex_count += count;
  }
  return description;
}

class CacheWriter {
 public:
  CacheWriter(const std::filesystem::path& folder, const SoftMotion& motion, const CacheSettings& settings,
              Progress& progress)
      : folder_(folder), settings_(settings), progress_(progress), player_(motion) {}

  Result<std::vector<std::filesystem::path>> run() {
    progress_.stage("writing positions");
    std::set<std::string> clip_names, mesh_names;
    for (std::size_t m = 0; m < player_.meshes().meshes().size(); ++m)
      mesh_names_.push_back(file_name(player_.meshes().mesh(m).name, mesh_names));
    for (Index c = 0; c < static_cast<Index>(player_.clips().size()); ++c) {
      const SoftClip& soft = player_.clips()[to_size(c)];
      const std::string& name = player_.character().clips[to_size(soft.clip)].name;
      SUPPLE_RETURN_IF_ERROR(write_clip(c, name, file_name(name, clip_names)));
    }
    return std::move(files_);
  }

 private:
  OpenedSink open(std::size_t m, Index c, const std::string& name, const std::string& file) const {
    CacheDescription description = description_of(player_.meshes().mesh(m));
    description.clip = name;
    description.times = player_.clips()[to_size(c)].written_times();
    description.frame_rate = settings_.frame_rate;
    const std::string stem = (folder_ / (file + "." + mesh_names_[m])).string();
    if (settings_.format == CacheFormat::pc2) return open_pc2_sink(stem, description);
    if (settings_.format == CacheFormat::mdd) return open_mdd_sink(stem, description);
    const bool png = settings_.format == CacheFormat::texture_png;
    if (png) description.range = ranges_[m];
    return open_texture_sink(stem, description, png ? TextureFormat::png : TextureFormat::exr);
  }

  Status write_clip(Index c, const std::string& name, const std::string& file) {
    if (settings_.format == CacheFormat::texture_png) SUPPLE_RETURN_IF_ERROR(find_ranges(c));
    std::vector<std::unique_ptr<CacheSink>> sinks;
    for (std::size_t m = 0; m < player_.meshes().meshes().size(); ++m) {
      OpenedSink sink = open(m, c, name, file);
      SUPPLE_RETURN_IF_ERROR(sink);
      sinks.push_back(std::move(*sink));
    }
    for (Index f = player_.first_frame(c); f < player_.first_frame(c + 1); ++f) {
      if (progress_.cancelled()) return failure("Writing the positions was stopped.");
      if (player_.is_written(f)) SUPPLE_RETURN_IF_ERROR(write_frame(f, sinks));
      progress_.update(static_cast<double>(f + 1) / player_.frame_count());
    }
    for (const auto& sink : sinks) SUPPLE_RETURN_IF_ERROR(sink->finish(files_));
    return {};
  }

  /// Of the positions of each mesh in a clip, by playing it once more.
  Status find_ranges(Index c) {
    ranges_.assign(player_.meshes().meshes().size(), {});
    for (Index f = player_.first_frame(c); f < player_.first_frame(c + 1); ++f) {
      if (progress_.cancelled()) return failure("Writing the positions was stopped.");
      if (!player_.is_written(f)) continue;
      play(f);
      for (std::size_t m = 0; m < ranges_.size(); ++m) ranges_[m].include(positions_of(m));
    }
    return {};
  }

  void play(Index f) {
    const std::span<const Vec3> displacement = player_.play(f);
    positions_.resize(displacement.size());
    player_.meshes().positions(positions_);
    for (std::size_t v = 0; v < positions_.size(); ++v) positions_[v] += displacement[v];
  }

  std::span<const Vec3> positions_of(std::size_t m) const {
    return std::span<const Vec3>(positions_)
        .subspan(to_size(player_.meshes().first_vertex()[m]), player_.meshes().mesh(m).surface.vertices.size());
  }

  Status write_frame(Index f, const std::vector<std::unique_ptr<CacheSink>>& sinks) {
    play(f);
    for (std::size_t m = 0; m < sinks.size(); ++m) {
      const CharacterMesh& mesh = player_.meshes().mesh(m);
      const std::span<const Vec3> own = positions_of(m);
      std::vector<Vec3> normals;
      if (sinks[m]->wants_normals()) normals = vertex_normals(mesh.surface.triangles, own);
      SUPPLE_RETURN_IF_ERROR(sinks[m]->add_frame(unwelded(mesh, own), unwelded(mesh, normals)));
    }
    return {};
  }

  static std::vector<Vec3> unwelded(const CharacterMesh& mesh, std::span<const Vec3> values) {
    std::vector<Vec3> result;
    if (values.empty()) return result;
    for (const std::vector<Index>& welded : mesh.welded_vertex)
      for (const Index v : welded) result.push_back(values[to_size(v)]);
    return result;
  }

  std::filesystem::path folder_;
  CacheSettings settings_;
  Progress& progress_;
  SoftPlayer player_;
  std::vector<std::string> mesh_names_;
  std::vector<Vec3> positions_;
  std::vector<VectorRange> ranges_;  ///< of each mesh in the clip being written
  std::vector<std::filesystem::path> files_;
};

}  // namespace

Result<std::vector<std::filesystem::path>> write_point_caches(const std::filesystem::path& folder,
                                                              const SoftMotion& motion, const CacheSettings& settings,
                                                              Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  return CacheWriter(folder, motion, settings, progress).run();
}

}  // namespace supple
