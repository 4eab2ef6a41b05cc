// SPDX-License-Identifier: Apache-2.0
// A character from a bare mesh and handles of the research formats: [rig] handles = "fish.tgf" of a recipe.
//
//   fish.mesh   the input: a surface, or tetrahedra, of which the boundary is the skin
//   fish.tgf    points and bones: a joint each, below a root of their own where several stand first
//   fish.dmat   weights of the vertices of the input, or of the tetrahedra of [body] mesh, which then carry the skin
//   fish_anim.txt  a clip
//
// Where nobody gives weights they are bounded biharmonic ones (offline/patches/bounded_biharmonic.h) on the tetrahedra
// that there are, or on some that are made. The result is a glTF document like any character's, which is read again, so
// that everything after this knows one kind of character.
#pragma once

#include "supple/io/motion/handle_rig.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

/// The input of a recipe: a character's file, or the one that its handles make.
Result<CharacterFile> read_input(const Recipe& recipe, const std::filesystem::path& folder);

/// Skeleton of the handles: "root" first where several handles have no parent, each handle as the joint of its name,
/// turned as its rest is, without stretch.
struct HandleSkeleton {
  Skeleton skeleton;
  std::vector<Index> joint;  ///< of each handle
  Index root = -1;           ///< a joint that is no handle; -1: none
};
HandleSkeleton handle_skeleton(const HandleRig& rig, const std::vector<Index>& parents_first);

/// Motion as a clip of that skeleton. Tells in `warnings` where a map shears, which no joint can do.
Clip handle_clip(const HandleRig& rig, const HandleSkeleton& skeleton, const HandleMotion& motion, double frame_time,
                 const std::string& name, std::vector<std::string>& warnings);

}  // namespace supple
