// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/character_drive.h"

#include "supple/rig/deform/rig_stack.h"

namespace supple {
namespace {

/// Whether any engine poses the skin as this rig does: skinning with weights, after morph targets.
bool is_played(const Rig& rig) {
  const auto* stack = dynamic_cast<const StackRig*>(&rig);
  return stack != nullptr && stack->linear_parts().skin != nullptr;
}

void append_skin(const RawCharacter& character, const CharacterMesh& mesh, SurfaceSkin& joined) {
  const auto first_bone = static_cast<Index>(joined.bones.size());
  SkinWeights& weights = joined.weights;
  const auto close_vertex = [&] { weights.first.push_back(static_cast<Index>(weights.joint.size())); };
  if (mesh.skin < 0) {
    joined.bones.push_back({mesh.node, Affine::Identity()});
    for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
      weights.joint.push_back(first_bone);
      weights.weight.push_back(1.0);
      close_vertex();
    }
    return;
  }
  const Skin& skin = character.skins[to_size(mesh.skin)];
  for (std::size_t k = 0; k < skin.joints.size(); ++k) joined.bones.push_back({skin.joints[k], skin.inverse_bind[k]});
  for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
    for (auto e = to_size(mesh.weights.first[v]); e < to_size(mesh.weights.first[v + 1]); ++e) {
      weights.joint.push_back(first_bone + mesh.weights.joint[e]);
      weights.weight.push_back(mesh.weights.weight[e]);
    }
    close_vertex();
  }
}

void append_mesh_surface(const CharacterMesh& mesh, Index first, CharacterDrive& drive) {
  SurfaceMesh added{mesh.name, mesh.node, mesh.file_mesh, first, static_cast<Index>(mesh.surface.vertices.size()), {}};
  for (const std::vector<Index>& primitive : mesh.welded_vertex) {
    auto& vertices = added.file_vertices.emplace_back(primitive);
    for (Index& v : vertices) v += first;
  }
  drive.meshes.push_back(std::move(added));
  for (const Triangle& t : mesh.surface.triangles)
    drive.triangles.push_back({first + t[0], first + t[1], first + t[2]});
}

}  // namespace

Result<std::shared_ptr<const CharacterDrive>> make_character_drive(const RawCharacter& character,
                                                                   const CharacterRig& rig,
                                                                   std::span<const NamedPose> poses,
                                                                   double metres_per_unit) {
  auto drive = std::make_shared<CharacterDrive>(CharacterDrive{rig});
  drive->metres_per_unit = metres_per_unit;
  if (!is_played(*rig.rig())) {
    Result<CharacterRig> played = CharacterRig::create(character);
    SUPPLE_RETURN_IF_ERROR(played);
    drive->played = std::move(*played);
  }
  Result<std::optional<PoseMorphs>> morphs = PoseMorphs::create(drive->engine_rig(), poses);
  SUPPLE_RETURN_IF_ERROR(morphs);
  drive->pose_morphs = std::move(*morphs);
  drive->skin.weights.first.push_back(0);
  Index first = 0;
  for (const CharacterMesh& mesh : character.meshes) {
    append_skin(character, mesh, drive->skin);
    append_mesh_surface(mesh, first, *drive);
    first += static_cast<Index>(mesh.surface.vertices.size());
  }
  return std::shared_ptr<const CharacterDrive>(std::move(drive));
}

}  // namespace supple
