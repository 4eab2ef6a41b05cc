// SPDX-License-Identifier: Apache-2.0
// The final positions of a soft motion as point caches and as vertex animation textures. Vertices are those of the
// file: primitive after primitive of a mesh, in the order of the file's arrays, seams unwelded. Positions are in the
// world.
//
// Files per clip and mesh: FOLDER/CLIP.MESH.pc2, .mdd; or CLIP.MESH.position.exr, .normal.exr and .json, with PNG in
// place of EXR for texture_png (docs/formats.md describes the texture's layout). Each file appears whole or not at all.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/export/soft_motion.h"

#include <filesystem>

namespace supple {

enum class CacheFormat { pc2, mdd, texture, texture_png };

struct CacheSettings {
  CacheFormat format = CacheFormat::pc2;
  double frame_rate = 30;  ///< [1/s] of the program that reads a PC2, which counts frames
};

/// Writes the caches and gives the paths of the files.
Result<std::vector<std::filesystem::path>> write_point_caches(const std::filesystem::path& folder,
                                                              const SoftMotion& motion, const CacheSettings& settings,
                                                              Progress& progress = Progress::silent());

}  // namespace supple
