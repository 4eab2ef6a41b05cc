// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/character.h"

#include "supple/asset/character_archive.h"
#include "supple/rig/deform/bind_space.h"
#include "supple/runtime/character_data.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace supple {
namespace {

template <class T>
bool has_entry(const std::vector<T>& all, int k) {
  return k >= 0 && to_size(k) < all.size();
}

std::array<float, 3> floats(const Vec3& x) {
  return {static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2])};
}

/// What decode_character() gives is whole; the door wants a skeleton and flesh besides.
Status check_playable(const CharacterAsset& asset, const std::string& source) {
  if (!asset.drive)
    return input_error(source +
                       " was built by an earlier version and has no skeleton; build it again with `supple build`");
  if (asset.model->size() == 0 || asset.model->elements.empty() || asset.model->sites.empty())
    return input_error(source + " has no soft tissue; everything in it is held by bones or hard parts");
  return {};
}

}  // namespace

// ---- what is made once ----------------------------------------------------------------------------------------------

CharacterData::CharacterData(CharacterAsset loaded)
    : asset(std::move(loaded)), prepared(std::make_shared<const PreparedModel<float>>(asset.model)) {
  for (std::size_t m = 0; m < drive().meshes.size(); ++m) {
    first_primitive.push_back(static_cast<Index>(primitives.size()));
    for (const std::vector<Index>& vertices : drive().meshes[m].file_vertices)
      primitives.push_back({static_cast<int>(m), &vertices});
  }
  for (const Triangle& t : drive().triangles) triangles.insert(triangles.end(), t.begin(), t.end());
  for (std::size_t b = 0; b < model().surface.blocks.size(); ++b)
    for (Index v = 0; v < model().surface.blocks[b].vertex_count(); ++v) nodes.push_back({b, v});
  all_vertices.resize(to_size(model().surface.vertex_count()));
  std::iota(all_vertices.begin(), all_vertices.end(), 0);
  find_morphs();
  find_bind_scales();
}

void CharacterData::find_morphs() {
  const CharacterRig& rig = drive().engine_rig();
  for (const CharacterRig::MorphSlot& slot : rig.morphs())
    for (std::size_t k = 0; k < slot.neutral.size(); ++k)
      morphs.push_back({{}, slot.first + static_cast<Index>(k), slot.neutral[k]});
  for (Morph& morph : morphs)
    for (const ParameterGroup& group : rig.rig()->layout().groups)
      if (group.first == morph.place) morph.name = group.name;
  if (!drive().pose_morphs) return;
  const auto& followers = drive().pose_morphs->followers();
  for (std::size_t f = 0; f < followers.size(); ++f)
    for (Morph& morph : morphs)
      if (morph.place == followers[f].place) morph.follower = static_cast<int>(f);
}

/// As the rest pose has it; where a part is hidden there by scaling it to nothing, the middle of the others.
void CharacterData::find_bind_scales() {
  const Skeleton& skeleton = drive().rig.skeleton();
  std::vector<Affine> bones(drive().skin.bones.size());
  find_bone_matrices(drive().skin, world_matrices(skeleton, rest_pose(skeleton)), bones);
  for (std::size_t v = 0; v < all_vertices.size(); ++v)
    bind_scale.push_back(mean_scale(skin_matrix(drive().skin, bones, v)));
  std::vector<double> sorted = bind_scale;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted.empty() || !(sorted[sorted.size() / 2] > 0) ? 1.0 : sorted[sorted.size() / 2];
  for (double& scale : bind_scale) scale = scale > 0.01 * middle ? scale : middle;
}

void find_bone_matrices(const SurfaceSkin& skin, std::span<const Affine> world, std::span<Affine> bones) {
  for (std::size_t b = 0; b < bones.size(); ++b)
    bones[b] = world[to_size(skin.bones[b].joint)] * skin.bones[b].inverse_bind;
}

Mat3 skin_matrix(const SurfaceSkin& skin, std::span<const Affine> bones, std::size_t vertex) {
  Mat3 B = Mat3::Zero();
  for (auto e = to_size(skin.weights.first[vertex]); e < to_size(skin.weights.first[vertex + 1]); ++e)
    B += skin.weights.weight[e] * bones[to_size(skin.weights.joint[e])].linear();
  return B;
}

// ---- loading --------------------------------------------------------------------------------------------------------

Result<Character> Character::load(const std::string& path) {
  Result<CharacterAsset> asset = load_character_asset(path);
  SUPPLE_RETURN_IF_ERROR(asset);
  SUPPLE_RETURN_IF_ERROR(check_playable(*asset, path));
  return Character(std::make_shared<const CharacterData>(std::move(*asset)));
}

Result<Character> Character::load(std::span<const std::byte> bytes, const std::string& name) {
  std::vector<double> aligned(bytes.size() / sizeof(double) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const Result<Archive> archive =
      Archive::parse({reinterpret_cast<const std::byte*>(aligned.data()), bytes.size()}, name);
  SUPPLE_RETURN_IF_ERROR(archive);
  Result<CharacterAsset> asset = decode_character(*archive);
  if (!asset.ok()) return Error{asset.error().kind, name + ": " + asset.error().message};
  SUPPLE_RETURN_IF_ERROR(check_playable(*asset, name));
  return Character(std::make_shared<const CharacterData>(std::move(*asset)));
}

// ---- questions ------------------------------------------------------------------------------------------------------

std::string_view Character::name() const { return data_->asset.name; }
double Character::height() const { return data_->model().height; }
double Character::metres_per_unit() const { return data_->drive().metres_per_unit; }
int Character::coordinate_count() const { return data_->model().size(); }

int Character::joint_count() const { return data_->drive().rig.skeleton().size(); }

std::string_view Character::joint_name(int joint) const {
  const auto& joints = data_->drive().rig.skeleton().joints;
  return has_entry(joints, joint) ? std::string_view(joints[to_size(joint)].name) : std::string_view();
}

int Character::joint_parent(int joint) const {
  const auto& joints = data_->drive().rig.skeleton().joints;
  return has_entry(joints, joint) ? joints[to_size(joint)].parent : -1;
}

JointTransform Character::joint_rest(int joint) const {
  const auto& joints = data_->drive().rig.skeleton().joints;
  JointTransform result;
  if (!has_entry(joints, joint)) return result;
  const Joint& found = joints[to_size(joint)];
  const Transform rest = found.matrix ? decompose(*found.matrix) : found.rest;
  result.translation = floats(rest.translation);
  result.scale = floats(rest.scale);
  for (std::size_t k = 0; k < 4; ++k)
    result.rotation[k] = static_cast<float>(rest.rotation.coeffs()[static_cast<Eigen::Index>(k)]);
  return result;
}

int Character::find_joint(std::string_view name) const {
  return supple::find_joint(data_->drive().rig.skeleton(), name);
}

int Character::morph_count() const { return static_cast<int>(data_->morphs.size()); }

std::string_view Character::morph_name(int morph) const {
  return has_entry(data_->morphs, morph) ? std::string_view(data_->morphs[to_size(morph)].name) : std::string_view();
}

int Character::find_morph(std::string_view name) const {
  for (std::size_t k = 0; k < data_->morphs.size(); ++k)
    if (data_->morphs[k].name == name) return static_cast<int>(k);
  return -1;
}

double Character::morph_neutral(int morph) const {
  return has_entry(data_->morphs, morph) ? data_->morphs[to_size(morph)].neutral : 0;
}

bool Character::morph_follows_pose(int morph) const {
  return has_entry(data_->morphs, morph) && data_->morphs[to_size(morph)].follower >= 0;
}

int Character::vertex_count() const { return data_->model().surface.vertex_count(); }
int Character::mesh_count() const { return static_cast<int>(data_->drive().meshes.size()); }

CharacterMeshInfo Character::mesh(int mesh) const {
  if (!has_entry(data_->drive().meshes, mesh)) return {};
  const SurfaceMesh& m = data_->drive().meshes[to_size(mesh)];
  return {m.name,
          m.node,
          m.file_mesh,
          m.first_vertex,
          m.vertex_count,
          data_->first_primitive[to_size(mesh)],
          static_cast<int>(m.file_vertices.size())};
}

int Character::primitive_count() const { return static_cast<int>(data_->primitives.size()); }

CharacterPrimitiveInfo Character::primitive(int primitive) const {
  if (!has_entry(data_->primitives, primitive)) return {};
  const CharacterData::Primitive& found = data_->primitives[to_size(primitive)];
  return {found.mesh, *found.vertices};
}

std::span<const std::int32_t> Character::triangles() const { return data_->triangles; }

// ---- the basis ------------------------------------------------------------------------------------------------------

int Character::node_count() const { return static_cast<int>(data_->nodes.size()); }
int Character::pose_count() const { return data_->model().pose_count(); }

void Character::node_basis(int pose, std::span<float> rows) const {
  const PoseSpaceModel& model = data_->model();
  if (pose < 0 || pose >= model.pose_count()) return;
  const auto r = to_size(model.size());
  std::fill(rows.begin(), rows.end(), 0.0F);
  for (std::size_t n = 0; n < data_->nodes.size() && (3 * n + 3) * r <= rows.size(); ++n) {
    const CharacterData::Node& node = data_->nodes[n];
    const VertexBlock& block = model.surface.blocks[node.block];
    for (std::size_t c = 0; c < block.columns.size(); ++c)
      for (std::size_t i = 0; i < 3; ++i)
        rows[(3 * n + i) * r + to_size(block.columns[c])] = static_cast<float>(block.basis[to_size(pose)](
            3 * Eigen::Index{node.vertex} + static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)));
  }
}

void Character::vertex_nodes(std::span<std::uint32_t> nodes) const {
  const SoftSurface& surface = data_->model().surface;
  for (std::size_t v = 0; v < surface.vertex.size() && 4 * v + 4 <= nodes.size(); ++v)
    for (std::size_t k = 0; k < 4; ++k) nodes[4 * v + k] = static_cast<std::uint32_t>(surface.vertex[v][k]);
}

void Character::vertex_node_weights(std::span<float> weights) const {
  const SoftSurface& surface = data_->model().surface;
  for (std::size_t v = 0; v < surface.weight.size() && 4 * v + 4 <= weights.size(); ++v)
    for (std::size_t k = 0; k < 4; ++k) weights[4 * v + k] = static_cast<float>(surface.weight[v][k]);
}

}  // namespace supple
