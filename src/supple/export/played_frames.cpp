// SPDX-License-Identifier: Apache-2.0
#include "supple/export/played_frames.h"

#include <fmt/format.h>

#include <algorithm>

namespace supple {
namespace {

Error another_character(const RawCharacter& character) {
  return failure(
      fmt::format("The written file of {} doesn't have the character's own meshes and clips.", character.name));
}

/// The mesh of the written character at the node of a mesh of the source; −1 where there is none.
Index mesh_at_node(const RawCharacter& written, Index file_node) {
  for (std::size_t m = 0; m < written.meshes.size(); ++m)
    if (written.file_node[to_size(written.meshes[m].node)] == file_node) return static_cast<Index>(m);
  return -1;
}

/// Vertices are welded anew where a file is read, and new targets or weights may keep some apart: both lead to the
/// vertices of the file, which are the same.
bool add_vertices(const CharacterMesh& from, const CharacterMesh& to, std::size_t first,
                  std::vector<std::size_t>& vertex) {
  const std::size_t begin = vertex.size();
  vertex.resize(begin + from.surface.vertices.size(), first);
  if (from.welded_vertex.size() != to.welded_vertex.size()) return false;
  for (std::size_t p = 0; p < from.welded_vertex.size(); ++p) {
    if (from.welded_vertex[p].size() != to.welded_vertex[p].size()) return false;
    for (std::size_t i = 0; i < from.welded_vertex[p].size(); ++i)
      vertex[begin + to_size(from.welded_vertex[p][i])] = first + to_size(to.welded_vertex[p][i]);
  }
  return true;
}

}  // namespace

PlayedFrames::PlayedFrames(const SoftMotion& motion, std::shared_ptr<const RawCharacter> written,
                           std::vector<Index> meshes, std::vector<std::size_t> vertex, std::vector<Index> clips)
    : written_(std::move(written)),
      source_(std::make_unique<SoftPlayer>(motion)),
      played_(std::make_unique<PosedMeshes>(*written_, meshes)),
      vertex_(std::move(vertex)),
      clips_(std::move(clips)),
      rigid_(vertex_.size()),
      soft_(to_size(played_->vertex_count())) {}

Result<PlayedFrames> PlayedFrames::create(const SoftMotion& motion, std::shared_ptr<const RawCharacter> written,
                                          std::vector<Index> clips) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  const RawCharacter& character = *motion.character;
  const PosedMeshes posed(character, motion.meshes);
  const auto is_there = [&](Index clip) { return clip >= 0 && to_size(clip) < written->clips.size(); };
  if (clips.size() != motion.clips.size() || !std::all_of(clips.begin(), clips.end(), is_there))
    return another_character(character);
  std::vector<Index> meshes;
  std::vector<std::size_t> vertex;
  std::size_t first = 0;
  for (std::size_t m = 0; m < posed.meshes().size(); ++m) {
    const CharacterMesh& mesh = posed.mesh(m);
    meshes.push_back(mesh_at_node(*written, character.file_node[to_size(mesh.node)]));
    if (meshes.back() < 0) return another_character(character);
    const CharacterMesh& played = written->meshes[to_size(meshes.back())];
    if (!add_vertices(mesh, played, first, vertex)) return another_character(character);
    first += played.surface.vertices.size();
  }
  return PlayedFrames(motion, std::move(written), std::move(meshes), std::move(vertex), std::move(clips));
}

void PlayedFrames::frame(Index f, std::span<Vec3> displacement) {
  const auto c = to_size(source_->clip_of(f));
  const double time = source_->clips()[c].times[to_size(f - source_->first_frame(static_cast<Index>(c)))];
  source_->pose(f);
  source_->meshes().positions(rigid_);
  played_->pose(written_->clips[to_size(clips_[c])], time);
  played_->positions(soft_);
  for (std::size_t v = 0; v < vertex_.size(); ++v) displacement[v] = soft_[vertex_[v]] - rigid_[v];
}

}  // namespace supple
