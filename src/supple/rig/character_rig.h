// SPDX-License-Identifier: Apache-2.0
// The rig of a character's file: its morph targets, then its skins, over all of its meshes at once.
//
// Vertices are numbered mesh after mesh. The pose holds a rotation for every joint that carries skin (translations and
// scales only where a clip moves them), and the morph weights; where the root stands in the world is kept apart.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/raw_character.h"
#include "supple/rig/root_motion.h"
#include "supple/rig/sample_clip.h"
#include "supple/rig/skin_deformer.h"

#include <optional>

namespace supple {

struct CharacterRigSettings {
  std::vector<Index> meshes;  ///< of the character; empty: all
  SkinningMethod method = SkinningMethod::linear;
  std::optional<Index> root;      ///< joint whose motion is not part of the pose; default: common ancestor of the skin
  bool all_translations = false;  ///< joints' translations are free even where no clip moves them
  double radians_per_height = 2.0;  ///< what a translation by the character's height counts in the pose distance
};

/// A moment of a clip as the rig wants it.
struct CharacterPose {
  RigidTransform placement;  ///< of the character in the world: world = placement · rig position
  std::vector<double> p;
  Pose locals;  ///< of all joints, without the placement
};

class CharacterRig {
 public:
  static Result<CharacterRig> create(const RawCharacter& character, const CharacterRigSettings& settings = {});

  const std::shared_ptr<const Rig>& rig() const { return rig_; }
  const Skeleton& skeleton() const { return skeleton_; }
  Index root() const { return splitter_.root(); }
  /// First vertex of each mesh in use, in order, and the vertex count at the end.
  const std::vector<Index>& first_vertex() const { return first_vertex_; }

  CharacterPose neutral() const;
  /// Overwrites `pose` (made by neutral()) with a moment of a clip. Allocates nothing.
  void sample(const Clip& clip, double time, ClipWrap wrap, CharacterPose& pose) const;
  /// The same from local transforms of all joints (IK, a game's own animation); morph weights stay as they are.
  void set_joints(std::span<const Transform> locals, CharacterPose& pose) const;

 private:
  struct JointSlot {
    Index joint;
    ChannelTarget target;
    Index first;
  };
  struct MorphSlot {
    Index node;
    Index first;
    std::vector<double> neutral;
  };
  CharacterRig(const RawCharacter& character, Index root) : skeleton_(character.skeleton), splitter_(skeleton_, root) {}

  void read_joints(CharacterPose& pose) const;

  Skeleton skeleton_;
  RootSplitter splitter_;
  std::shared_ptr<const Rig> rig_;
  std::vector<Index> first_vertex_;
  std::vector<JointSlot> joints_;
  std::vector<MorphSlot> morphs_;
};

}  // namespace supple
