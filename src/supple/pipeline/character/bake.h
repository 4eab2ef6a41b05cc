// SPDX-License-Identifier: Apache-2.0
// Baking: a character simulated over its clips by whichever engine, and written so that others can play it. Peaks,
// frame rates and files come from what every engine gives (engine.h), so no engine is named here.
#pragma once

#include "supple/export/write_point_cache.h"
#include "supple/export/write_soft_glb.h"
#include "supple/pipeline/character/engine.h"
#include "supple/pipeline/character/measure_motion.h"

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
  /// Frames to write, of those that the whole clip has at `rate`, or at 30 a second: the first and the last.
  std::optional<std::pair<Index, Index>> frames;
  double rate = 0;  ///< frames per second; 0: 30, or as many as keep the motion between them within the tolerance
  BakeFormat format = BakeFormat::glb;
  /// The written motion may be off by this share of the largest displacement, if that is more than the tolerance: what
  /// moves far hides more.
  double share_of_motion = 0;
  SoftOutput output;
};

struct BakedClipReport {
  std::string name;
  double duration = 0;  ///< [s]
  Index frames = 0;
  double rate = 0;
  /// Largest displacement of a vertex [m], in the file where one is played, at 30 frames a second or those it has.
  double peak = 0;
  double peak_time = 0;           ///< when [s]
  std::string peak_part;          ///< where
  double rms = 0;                 ///< over the skin and the frames [m]
  std::vector<MovingPart> parts;  ///< of the skin, the one that moves most first
  double simulated_peak = 0;      ///< [m] before the file's compression
  double simulated_rms = 0;       ///< likewise
  double energy = 0;              ///< largest [J]
  bool loop = false;
  int rounds = 0;
  double gap = 0;  ///< of a loop before it was closed, share of the height
  int cuts = 0;
  int recovered = 0;
  double violent = 0;        ///< [s] in which the clip's acceleration was limited to what flesh can bear
  double violence = 0;       ///< its largest as a multiple of that
  double restraint = 1;      ///< less than one: flesh flew apart, and was driven with less
  Index solved_frames = 0;   ///< as in ClipRunReport, as the two below
  double penetration = 0;    ///< [m]
  double contact_depth = 0;  ///< of it, what searches for contacts find [m]
  double residual = 0;
  /// The deepest that the skin is inside itself with its flesh, where the recipe asks for contact [m].
  std::optional<double> skin_depth;
  double tone = 1;  ///< what drove this clip alone was multiplied with, to stay within the range of its feel
};

struct BakeReport {
  std::vector<BakedClipReport> clips;
  SoftGlbReport glb;
  std::vector<std::filesystem::path> files;
  double height = 0;  ///< of the character at rest [m], see character_height()
  double gain = 1;    ///< that the flesh was driven with
  double simulate_seconds = 0, write_seconds = 0;
};

/// `output`: a .glb or .gltf file, or the folder of point caches. Nothing is written unless all of it works.
Result<BakeReport> bake_character(const SoftCharacter& soft, const std::filesystem::path& output,
                                  const BakeSettings& settings, Progress& progress = Progress::silent());

/// What one of the source's clips is simulated with. Fails where it hasn't the frames that are asked for.
Result<SimulateSettings> clip_settings(const CharacterRig& rig, const Clip& clip, const BakeSettings& settings);

/// Some of the character's clips by their names, or all where none is named. Fails where there is no such clip, or
/// none.
Result<std::vector<Index>> chosen_clips(const RawCharacter& character, const std::vector<std::string>& names);

}  // namespace supple
