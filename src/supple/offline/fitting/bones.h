// SPDX-License-Identifier: Apache-2.0
// What of a character doesn't give: the tetrahedra that its bones cross (2016 paper, section 9), and hard parts such as
// hooves, horns, eyes, teeth and props.
//
// A bone runs from a joint that carries skin to each joint below it that does; at the end of a chain it runs into the
// flesh that hangs on the joint. Hard parts are found by three signs: a mesh without a skin; a small separate piece of
// surface that hangs on one joint; a name that says so.
#pragma once

#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/deform/carried_rig.h"

namespace supple {

struct BoneSettings {
  double radius = 0.0;                    ///< around bones that is fixed as well, as a share of the body's diagonal
  std::vector<std::string> soft_joints;   ///< their bones hold nothing
  std::vector<std::string> rigid_joints;  ///< all that hangs on them is hard
  bool find_hard_parts = true;
};

struct BoneSegment {
  Index joint = 0;
  Vec3 from = Vec3::Zero();
  Vec3 to = Vec3::Zero();
};

/// Finds the bones in the neutral pose, in the rig's space. Fails when a joint of the settings doesn't exist.
Result<std::vector<BoneSegment>> find_bones(const RawCharacter& character, const CharacterRig& rig,
                                            const BoneSettings& settings);

/// Tells for each vertex of the rig whether it belongs to a hard part.
Result<std::vector<char>> hard_vertices(const RawCharacter& character, const CharacterRig& rig,
                                        const BoneSettings& settings);

/// Vertices of the mesh that follow the rig exactly: those of crossed tetrahedra, and those carried by hard skin only.
std::vector<Index> fixed_by_bones(const TetMesh& mesh, std::span<const BoneSegment> bones, double radius,
                                  const SurfaceCarry& carry, std::span<const char> hard);

/// Tells whether the segment has a point in the tetrahedron.
bool crosses(const std::array<Vec3, 4>& tet, const Vec3& from, const Vec3& to);

}  // namespace supple
