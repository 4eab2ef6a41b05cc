// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_output.h"

#include <fmt/format.h>

#include "supple/io/file.h"

namespace supple {
namespace fs = std::filesystem;
namespace {

std::string heading(const std::vector<SceneTrack>& tracks) {
  std::string line = "time_s,kinetic_J,elastic_J,gravity_J,largest_displacement_m";
  for (const SceneTrack& track : tracks) line += fmt::format(",{0}_x_m,{0}_y_m,{0}_z_m", track.name);
  return line + "\n";
}

}  // namespace

SceneFiles::SceneFiles(const Scene& scene) : scene_(scene), history_(heading(scene.tracks)) {}

Status SceneFiles::open(FileTransaction& files) {
  if (scene_.output.directory.empty()) return {};
  std::error_code code;
  if (fs::exists(scene_.output.directory, code) && !fs::is_directory(scene_.output.directory, code))
    return input_error(
        fmt::format("Can't write into {}: it is a file; name a folder.", scene_.output.directory.string()));
  SUPPLE_RETURN_IF_ERROR(files.make_folder(scene_.output.directory));
  SUPPLE_RETURN_IF_ERROR(check_output(scene_.output.directory / "history.csv"));
  wanted_ = true;
  return {};
}

Status SceneFiles::add_frame(const SceneBody& body, const DynamicsState& state) {
  if (!wanted_) return {};
  const std::string name = fmt::format("frame_{:06}.vtu", frames_.size());
  VtuFields fields;
  fields.points.push_back(vtu_vectors("displacement", state.u));
  fields.points.push_back(vtu_vectors("velocity", state.v));
  frames_.push_back({state.time, name});
  return std::visit([&](const auto& mesh) { return write_vtu(scene_.output.directory / name, mesh, fields); },
                    body.mesh);
}

void SceneFiles::add_row(const HistoryRow& row) {
  if (!wanted_) return;
  history_ += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}", row.time, row.kinetic, row.elastic, row.gravity,
                          row.largest_displacement);
  for (const Vec3& u : row.tracks) history_ += fmt::format(",{:.9g},{:.9g},{:.9g}", u.x(), u.y(), u.z());
  history_ += '\n';
}

Result<std::vector<fs::path>> SceneFiles::finish(const SceneBody& body, const VtuFields& final_fields) {
  std::vector<fs::path> files;
  if (!wanted_) return files;
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(scene_.output.directory / "history.csv", history_));
  SUPPLE_RETURN_IF_ERROR(
      std::visit([&](const auto& mesh) { return write_vtu(scene_.output.directory / "final.vtu", mesh, final_fields); },
                 body.mesh));
  if (!frames_.empty()) {
    SUPPLE_RETURN_IF_ERROR(write_pvd(scene_.output.directory / "series.pvd", frames_));
    files.push_back(scene_.output.directory / "series.pvd");
  }
  files.push_back(scene_.output.directory / "final.vtu");
  files.push_back(scene_.output.directory / "history.csv");
  return files;
}

}  // namespace supple
