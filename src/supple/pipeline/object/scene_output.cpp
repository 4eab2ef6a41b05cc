// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_output.h"

#include <fmt/format.h>

#include "supple/io/file.h"

#include <unistd.h>

namespace supple {
namespace fs = std::filesystem;
namespace {

Error cannot_create(const fs::path& folder, const std::error_code& code) {
  return input_error(fmt::format("Can't make the folder {}: {}.", folder.string(), code.message()));
}

std::string heading(const std::vector<SceneTrack>& tracks) {
  std::string line = "time_s,kinetic_J,elastic_J,gravity_J,largest_displacement_m";
  for (const SceneTrack& track : tracks) line += fmt::format(",{0}_x_m,{0}_y_m,{0}_z_m", track.name);
  return line + "\n";
}

}  // namespace

SceneFiles::SceneFiles(const Scene& scene) : scene_(scene), history_(heading(scene.tracks)) {}

SceneFiles::~SceneFiles() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

Status SceneFiles::open() {
  if (scene_.output.directory.empty()) return {};
  std::error_code code;
  fs::path target = fs::absolute(scene_.output.directory, code).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  if (fs::exists(target, code) && !fs::is_directory(target, code))
    return input_error(fmt::format("Can't write into {}: it is a file; name a folder.", target.string()));
  const fs::path parent = target.parent_path();
  fs::create_directories(parent, code);
  if (code) return cannot_create(parent, code);
  const fs::path staging = parent / fmt::format(".{}.{}.partial", target.filename().string(), ::getpid());
  if (!fs::create_directory(staging, code) || code) return cannot_create(target, code);
  staging_ = staging;
  return {};
}

Status SceneFiles::add_frame(const SceneBody& body, const DynamicsState& state) {
  if (staging_.empty()) return {};
  const std::string name = fmt::format("frame_{:06}.vtu", frames_.size());
  VtuFields fields;
  fields.points.push_back(vtu_vectors("displacement", state.u));
  fields.points.push_back(vtu_vectors("velocity", state.v));
  frames_.push_back({state.time, name});
  return std::visit([&](const auto& mesh) { return write_vtu(staging_ / name, mesh, fields); }, body.mesh);
}

void SceneFiles::add_row(const HistoryRow& row) {
  if (staging_.empty()) return;
  history_ += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}", row.time, row.kinetic, row.elastic, row.gravity,
                          row.largest_displacement);
  for (const Vec3& u : row.tracks) history_ += fmt::format(",{:.9g},{:.9g},{:.9g}", u.x(), u.y(), u.z());
  history_ += '\n';
}

Status SceneFiles::move_into_place() {
  std::error_code code;
  fs::create_directories(scene_.output.directory, code);
  if (code) return cannot_create(scene_.output.directory, code);
  for (const fs::directory_entry& entry : fs::directory_iterator(staging_, code)) {
    const fs::path target = scene_.output.directory / entry.path().filename();
    fs::rename(entry.path(), target, code);
    if (code) return failure(fmt::format("Can't write {}: {}.", target.string(), code.message()));
  }
  return {};
}

Result<std::vector<fs::path>> SceneFiles::finish(const SceneBody& body, const VtuFields& final_fields) {
  std::vector<fs::path> files;
  if (staging_.empty()) return files;
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(staging_ / "history.csv", history_));
  SUPPLE_RETURN_IF_ERROR(
      std::visit([&](const auto& mesh) { return write_vtu(staging_ / "final.vtu", mesh, final_fields); }, body.mesh));
  if (!frames_.empty()) {
    SUPPLE_RETURN_IF_ERROR(write_pvd(staging_ / "series.pvd", frames_));
    files.push_back(scene_.output.directory / "series.pvd");
  }
  files.push_back(scene_.output.directory / "final.vtu");
  files.push_back(scene_.output.directory / "history.csv");
  SUPPLE_RETURN_IF_ERROR(move_into_place());
  return files;
}

}  // namespace supple
