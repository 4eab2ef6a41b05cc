// SPDX-License-Identifier: Apache-2.0
// The rig of a character's file: its morph targets, then its skins, over all of its meshes at once.
//
// Vertices are numbered mesh after mesh. The pose holds a rotation for every joint that carries skin (translations and
// scales only where a clip moves them), and the morph weights; where the root stands in the world is kept apart.
// With wires through the joints (wires.h) it holds an offset and a twist for each handle instead, and nothing else.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/deform/pose_space.h"
#include "supple/rig/deform/skin_deformer.h"
#include "supple/rig/deform/wires.h"
#include "supple/rig/motion/root_motion.h"
#include "supple/rig/motion/sample_clip.h"
#include "supple/rig/raw_character.h"

#include <optional>

namespace supple {

struct CharacterRigSettings {
  std::vector<Index> meshes;  ///< of the character; empty: all
  SkinningMethod method = SkinningMethod::linear;
  /// Joint whose motion is not part of the pose; nothing above it carries skin. Default: the skin's common ancestor.
  std::optional<Index> root;
  bool all_translations = false;  ///< joints' translations are free even where no clip moves them
  /// What a translation by the character's height counts in the pose distance; a morph target counts as what it moves
  /// farthest.
  double radians_per_height = 2.0;
  std::vector<WireCurve> wires;  ///< what moves the skin instead of the joints; empty: the joints
};

/// A moment of a clip in the form that a rig takes: where the character stands, and the parameters p of its pose.
struct CharacterPose {
  RigidTransform placement;  ///< of the character in the world: world = placement · rig position
  std::vector<double> p;
  Pose locals;  ///< of all joints, without the placement
};

class CharacterRig {
  friend class DriveArchive;

 public:
  /// The morph weights of one mesh, next to each other in p.
  struct MorphSlot {
    Index node;                   ///< joint that carries the mesh
    Index first;                  ///< place of the first weight in p
    std::vector<double> neutral;  ///< weights of the undeformed character
  };

  static Result<CharacterRig> create(const RawCharacter& character, const CharacterRigSettings& settings = {});

  const std::shared_ptr<const Rig>& rig() const { return rig_; }
  const Skeleton& skeleton() const { return skeleton_; }
  Index root() const { return splitter_.root(); }
  /// First vertex of each mesh in use, in order, and the vertex count at the end.
  const std::vector<Index>& first_vertex() const { return first_vertex_; }
  /// Morph weights that are part of p; none where wires move the skin.
  const std::vector<MorphSlot>& morphs() const { return morphs_; }

  /// Puts pose-space corrections on the rig. Fails as PoseSpaceRig does.
  Status correct(std::vector<PoseCorrection> corrections);

  CharacterPose neutral() const;
  /// Overwrites `pose` (made by neutral()) with a moment of a clip. Allocates nothing.
  void sample(const Clip& clip, double time, ClipWrap wrap, CharacterPose& pose) const;
  /// Sets the pose from local transforms of all joints, as inverse kinematics or a game's own animation give them.
  /// Morph weights stay as they are.
  void set_joints(std::span<const Transform> locals, CharacterPose& pose) const;

 private:
  struct JointSlot {
    Index joint;
    ChannelTarget target;
    Index first;
  };
  CharacterRig(Skeleton skeleton, Index root) : skeleton_(std::move(skeleton)), splitter_(skeleton_, root) {}

  Status use_wires(const std::vector<WireCurve>& curves, const std::vector<Vec3>& rest, std::span<const Bone> bones,
                   const SkinWeights& weights, double translation_scale);
  void read_joints(CharacterPose& pose) const;

  Skeleton skeleton_;
  RootSplitter splitter_;
  std::shared_ptr<const Rig> rig_;
  std::vector<Index> first_vertex_;
  std::vector<JointSlot> joints_;
  std::vector<MorphSlot> morphs_;
  std::optional<WireHandles> wires_;
};

}  // namespace supple
