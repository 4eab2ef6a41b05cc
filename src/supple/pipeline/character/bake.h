// SPDX-License-Identifier: Apache-2.0
// Baking: a built character simulated over its clips, and written so that others can play it.
#pragma once

#include "supple/export/write_point_cache.h"
#include "supple/export/write_soft_glb.h"
#include "supple/pipeline/character/simulate_clip.h"
#include "supple/pipeline/character/soft_character.h"

namespace supple {

/// Which clips repeat without end.
enum class LoopChoice {
  none,
  all,
  closing,  ///< those that end in the pose they begin with
};

enum class BakeFormat { glb, pc2, mdd, exr, png };

struct BakeSettings {
  std::vector<std::string> clips;  ///< empty: all
  SimulateSettings simulate;       ///< `loop` is overruled by `loops`
  LoopChoice loops = LoopChoice::closing;
  double rate = 0;  ///< frames per second; 0: 30, or as many as keep the motion between them within the tolerance
  BakeFormat format = BakeFormat::glb;
  SoftOutput output;
};

struct BakedClipReport {
  std::string name;
  double duration = 0;  ///< [s]
  Index frames = 0;
  double rate = 0;
  double peak = 0;       ///< largest displacement of a vertex [m]
  double peak_time = 0;  ///< when [s]
  double energy = 0;     ///< largest [J]
  bool loop = false;
  int rounds = 0;
  double gap = 0;  ///< of a loop before it was closed, share of the height
  int cuts = 0;
  int recovered = 0;
};

struct BakeReport {
  std::vector<BakedClipReport> clips;
  SoftGlbReport glb;
  std::vector<std::filesystem::path> files;
  double height = 0;  ///< [m]
  double simulate_seconds = 0, write_seconds = 0;
};

/// `output`: a .glb or .gltf file, or the folder of point caches. Nothing is written unless all of it works.
Result<BakeReport> bake_character(const SoftCharacter& soft, const Recipe& recipe, const std::filesystem::path& folder,
                                  const std::filesystem::path& output, const BakeSettings& settings,
                                  Progress& progress = Progress::silent());

}  // namespace supple
