// SPDX-License-Identifier: Apache-2.0
// Patches: overlapping parts of a body that get modes of their own (2016 paper, section 7).
//
// Each patch has a handle, points or line segments that say where it is. Its weight W is 1 there and 0 at all other
// handles (bounded_biharmonic.h). What has W > η belongs to the patch, and
//   W' = ((W − η) / (1 − η))^κ
// brings its motion smoothly to zero at its border; η = 0.1 and κ = 1/2 as in the paper.
//
// No vertex is left out: weights add up to one, so the largest of d weights is at least 1/d, and η is never above
// 0.9/d. That changes η for ten patches or more only.
#pragma once

#include "supple/base/result.h"
#include "supple/offline/fitting/embedded_body.h"
#include "supple/offline/patches/bounded_biharmonic.h"
#include "supple/offline/patches/joint_groups.h"

namespace supple {

/// Where a patch is: points and segments in the space of the body's neutral pose [m].
struct PatchHandle {
  std::string name;
  std::vector<Vec3> points;
  std::vector<std::array<Vec3, 2>> segments;
};

struct PatchSettings {
  double threshold = 0.1;  ///< η
  double decay = 0.5;      ///< κ
  BoxQuadraticSettings solver;
};

struct Patch {
  std::string name;
  PatchHandle handle;
  VecX weights;                 ///< W' of every vertex; 0 outside
  std::vector<Index> vertices;  ///< with W' > 0, ascending
  int modes = 0;
};

struct Patches {
  std::vector<Patch> patches;
  BiharmonicReport report;
};

/// Makes one patch per handle; a single one is the whole body. Fails when a handle is empty, or when two of them share
/// all their vertices.
Result<Patches> make_patches(const TetMesh& mesh, std::span<const PatchHandle> handles,
                             const PatchSettings& settings = {});

/// For each vertex the handle that holds it, or -1: the vertices of the tetrahedra that a handle touches, or the vertex
/// nearest to it where it touches none. Where several want a vertex, the nearest has it.
std::vector<Index> handle_vertices(const TetMesh& mesh, std::span<const PatchHandle> handles);

// ---- handles from joints --------------------------------------------------------------------------------------------

/// Volume of the free flesh that hangs on each joint [m³].
std::vector<double> flesh_on_joints(const RawCharacter& character, const CharacterRig& rig, const EmbeddedBody& body);

/// The bones of each group, drawn back from those of other groups, so that there is room for weights to change: of its
/// bones a group keeps what is at least a third as far from the others' as its farthest point.
std::vector<PatchHandle> handles_of_groups(const CharacterRig& rig, const EmbeddedBody& body,
                                           std::span<const JointGroup> groups);

/// Body, head and limbs of any character (joint_groups.h), one handle each; a single one where nothing tells parts
/// apart.
std::vector<PatchHandle> automatic_handles(const RawCharacter& character, const CharacterRig& rig,
                                           const EmbeddedBody& body, const JointGroupSettings& settings = {});

// ---- how many modes -------------------------------------------------------------------------------------------------

/// How much there is to see in each patch: √(Σ W' · volume · compliance) over its free vertices. The root, because a
/// patch twice as large hasn't twice as many shapes worth seeing: the paper gives the bear's body, with seven times
/// the flesh of an arm, 20 modes to the arm's 15. Patches whose names differ in left and right
/// only are equally important. `compliance`: how far each vertex gives way (flesh_compliance());
/// empty: all alike.
std::vector<double> patch_importance(const TetMesh& mesh, std::span<const Index> fixed, std::span<const Patch> patches,
                                     const VecX& compliance = {});

/// `total` modes in proportion to importance, at least `least` each where there are so many, `total` exactly. What is
/// equally important to 3 % gets the same number, as far as the sum allows.
std::vector<int> share_modes(std::span<const double> importance, int total, int least = 4);

}  // namespace supple
