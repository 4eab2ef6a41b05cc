// SPDX-License-Identifier: Apache-2.0
// Handles of patches from a character's joints: what hangs on which joint, and which stretches of bone stand for it.
#include "supple/offline/patches/patches.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple {
namespace {

/// Pieces that a bone is looked at in.
constexpr int bone_pieces = 24;
/// How far from other groups' bones a group keeps its own, as a share of its farthest point.
constexpr double drawn_back = 1.0 / 3;

/// Adds `amount` to the joints that a vertex of the skin hangs on.
void hang(const CharacterMesh& mesh, std::span<const Skin> skins, std::size_t vertex, double amount,
          std::vector<double>& on_joint) {
  if (mesh.skin < 0) {
    on_joint[to_size(mesh.node)] += amount;
    return;
  }
  const Skin& skin = skins[to_size(mesh.skin)];
  for (Index k = mesh.weights.first[vertex]; k < mesh.weights.first[vertex + 1]; ++k)
    on_joint[to_size(skin.joints[to_size(mesh.weights.joint[to_size(k)])])] += amount * mesh.weights.weight[to_size(k)];
}

double distance(const Vec3& x, const BoneSegment& bone) {
  const Vec3 d = bone.to - bone.from;
  const double length2 = d.squaredNorm();
  const double t = length2 > 0 ? std::clamp((x - bone.from).dot(d) / length2, 0.0, 1.0) : 0.0;
  return (x - bone.from - t * d).norm();
}

Vec3 along(const BoneSegment& bone, double t) { return bone.from + t * (bone.to - bone.from); }

/// Groups of the bones, by number; bones of joints in no group are no concern of anybody.
class GroupedBones {
 public:
  GroupedBones(std::span<const BoneSegment> bones, std::span<const JointGroup> groups, std::size_t joints)
      : bones_(bones), group_of_(joints, -1) {
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const Index j : groups[g].joints) group_of_[to_size(j)] = static_cast<Index>(g);
  }

  Index group(const BoneSegment& bone) const { return group_of_[to_size(bone.joint)]; }

  /// From the bones of other groups.
  double room(const Vec3& x, Index group_number) const {
    double least = std::numeric_limits<double>::infinity();
    for (const BoneSegment& bone : bones_)
      if (group(bone) >= 0 && group(bone) != group_number) least = std::min(least, distance(x, bone));
    return least;
  }

  double farthest(Index group_number) const {
    double most = 0;
    for (const BoneSegment& bone : bones_) {
      if (group(bone) != group_number) continue;
      for (int k = 0; k <= bone_pieces; ++k)
        most = std::max(most, room(along(bone, k / double{bone_pieces}), group_number));
    }
    return most;
  }

  /// The stretches of a bone with at least so much room.
  void keep(const BoneSegment& bone, double least_room, std::vector<std::array<Vec3, 2>>& segments) const {
    int first = -1;
    for (int k = 0; k <= bone_pieces + 1; ++k) {
      const bool kept = k <= bone_pieces && room(along(bone, k / double{bone_pieces}), group(bone)) >= least_room;
      if (kept && first < 0) first = k;
      if (kept || first < 0) continue;
      segments.push_back({along(bone, first / double{bone_pieces}), along(bone, (k - 1) / double{bone_pieces})});
      first = -1;
    }
  }

 private:
  std::span<const BoneSegment> bones_;
  std::vector<Index> group_of_;
};

}  // namespace

std::vector<double> flesh_on_joints(const RawCharacter& character, const CharacterRig& rig, const EmbeddedBody& body) {
  VecX volume = tet_laplacian(body.mesh).volume;
  for (const Index v : body.fixed_vertices) volume[v] = 0;
  std::vector<double> on_skin(body.skin.vertices.size(), 0.0);
  for (std::size_t v = 0; v < body.carry.size(); ++v) {
    double sum = 0;
    for (const double w : body.carry.weight[v]) sum += std::max(w, 0.0);
    for (std::size_t k = 0; k < SurfaceCarry::neighbours && sum > 0; ++k)
      on_skin[to_size(body.carry.vertex[v][k])] +=
          volume[static_cast<Eigen::Index>(v)] * std::max(body.carry.weight[v][k], 0.0) / sum;
  }
  std::vector<double> on_joint(character.skeleton.joints.size(), 0.0);
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    for (std::size_t v = 0; v < character.meshes[m].surface.vertices.size(); ++v)
      hang(character.meshes[m], character.skins, v, on_skin[to_size(rig.first_vertex()[m]) + v], on_joint);
  }
  return on_joint;
}

std::vector<PatchHandle> handles_of_groups(const CharacterRig& rig, const EmbeddedBody& body,
                                           std::span<const JointGroup> groups) {
  const std::vector<Affine> world = world_matrices(rig.skeleton(), rig.neutral().locals);
  const GroupedBones bones(body.bones, groups, world.size());
  std::vector<PatchHandle> handles;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    PatchHandle& handle = handles.emplace_back();
    handle.name = groups[g].name;
    const double least_room = drawn_back * bones.farthest(static_cast<Index>(g));
    for (const BoneSegment& bone : body.bones)
      if (bones.group(bone) == static_cast<Index>(g)) bones.keep(bone, least_room, handle.segments);
    if (!handle.segments.empty()) continue;
    for (const Index j : groups[g].joints) handle.points.emplace_back(world[to_size(j)].translation());
  }
  return handles;
}

std::vector<PatchHandle> automatic_handles(const RawCharacter& character, const CharacterRig& rig,
                                           const EmbeddedBody& body, const JointGroupSettings& settings) {
  std::vector<Vec3> places;
  for (const Affine& joint : world_matrices(rig.skeleton(), rig.neutral().locals))
    places.emplace_back(joint.translation());
  const std::vector<JointGroup> groups =
      group_joints(rig.skeleton(), places, flesh_on_joints(character, rig, body), settings);
  std::vector<PatchHandle> handles = handles_of_groups(rig, body, groups);
  if (handles.size() < 2) return handles;
  const std::vector<Index> held = handle_vertices(body.mesh, handles);
  std::vector<PatchHandle> useful;
  for (std::size_t h = 0; h < handles.size(); ++h)
    if (std::find(held.begin(), held.end(), static_cast<Index>(h)) != held.end())
      useful.push_back(std::move(handles[h]));
  return useful;
}

}  // namespace supple
