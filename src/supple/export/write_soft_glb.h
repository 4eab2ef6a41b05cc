// SPDX-License-Identifier: Apache-2.0
// The character's own file with soft motion added: morph targets and their weight curves, or helper bones. Skeleton,
// skeleton animation, materials, existing morph targets and everything else stay as they are.
//
// A clip that already moves morph weights gets one curve for the old and the new: keys of both, and in between as many
// as the old curve's shape needs. Clips that came from other files (read_clips), with numbers beyond the animations of
// this one, become new animations.
#pragma once

#include "supple/export/compress_motion.h"
#include "supple/export/helper_bones.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/io/gltf/gltf_editor.h"

#include <filesystem>
#include <memory>

namespace supple {

/// Adds the targets and curves to a document: the one that `motion.character` was read from. `step`: of targets that
/// are rounded, as a share of the tolerance.
Status add_soft_targets(GltfDocument& document, const SoftMotion& motion, const CompressedMotion& compressed,
                        MorphStorage storage = MorphStorage::plain, double step = 0.125);

/// Adds helper bones to a document in the same way.
Status add_helper_bones(GltfDocument& document, const SoftMotion& motion, const FittedBones& fitted);

struct SoftOutput {
  bool helper_bones = false;  ///< instead of morph targets
  CompressionSettings compression = {};
  HelperBoneSettings bones = {};
  MorphStorage storage = MorphStorage::plain;
  GltfPacking packing = GltfPacking::none;
};

/// What was written. Only the part that was asked for, morph targets or helper bones, is filled in.
struct SoftGlbReport {
  CompressionReport compression;
  HelperBoneReport bones;
  std::uintmax_t bytes = 0;  ///< of the file
  /// The character as its new file has it, and its clip for each of the motion's: what PlayedFrames plays.
  std::shared_ptr<const RawCharacter> written;
  std::vector<Index> written_clips;
};

/// Compresses the motion or fits bones to it, adds it to a copy of the source and writes that, all or nothing.
Result<SoftGlbReport> write_soft_glb(const std::filesystem::path& path, const GltfDocument& source,
                                     const SoftMotion& motion, const SoftOutput& output = {},
                                     Progress& progress = Progress::silent());

}  // namespace supple
