// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/bake.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/nearest_name.h"
#include "supple/io/gltf/read_character.h"
#include "supple/pipeline/baked_frames.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// ---- which clips, which frames --------------------------------------------------------------------------------------

Result<std::vector<Index>> chosen_clips(const RawCharacter& character, const std::vector<std::string>& names) {
  std::vector<Index> chosen;
  if (names.empty()) {
    for (std::size_t c = 0; c < character.clips.size(); ++c) chosen.push_back(static_cast<Index>(c));
    if (chosen.empty())
      return input_error(
          "the character has no animation, so there is nothing to bake; add clips with [[motion]] in a recipe");
    return chosen;
  }
  for (const std::string& name : names) {
    const auto found = std::find_if(character.clips.begin(), character.clips.end(),
                                    [&](const Clip& clip) { return clip.name == name; });
    if (found != character.clips.end()) {
      chosen.push_back(static_cast<Index>(found - character.clips.begin()));
      continue;
    }
    std::vector<std::string_view> all;
    for (const Clip& clip : character.clips) all.push_back(clip.name);
    const std::string_view near = nearest_name(name, all);
    return input_error(fmt::format(
        "there is no clip \"{}\"; {}", name,
        near.empty() ? fmt::format("there are {}", fmt::join(all, ", ")) : fmt::format("did you mean \"{}\"?", near)));
  }
  return chosen;
}

bool loops(const BuiltCharacter& built, const Clip& clip, LoopChoice choice) {
  return choice == LoopChoice::all || (choice == LoopChoice::closing && closes(built.rig, clip));
}

/// Frames at a rate, and one at the very end.
std::vector<double> frame_times(double from, double to, double rate) {
  std::vector<double> times;
  const auto count = static_cast<std::int64_t>(std::floor((to - from) * rate + 1e-6));
  for (std::int64_t k = 0; k <= count; ++k) times.push_back(from + static_cast<double>(k) / rate);
  if (to - times.back() > 1e-4 / rate) times.push_back(to);
  return times;
}

double largest_length(const VecX& u) {
  double largest = 0;
  for (Eigen::Index v = 0; v < u.size(); v += 3) largest = std::max(largest, u.segment<3>(v).squaredNorm());
  return std::sqrt(largest);
}

/// How far linear interpolation between frames strays from the simulation [m].
double interpolation_error(const PoseSpaceModel& model, const SimulatedClip& clip, const std::vector<double>& times) {
  double largest = 0;
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    const VecX middle = clip.at(0.5 * (times[k] + times[k + 1]));
    const VecX line = 0.5 * (clip.at(times[k]) + clip.at(times[k + 1]));
    // Mass-orthonormal coordinates: cheap to tell when there is hardly a difference.
    if ((middle - line).norm() <= 1e-12) continue;
    largest = std::max(largest, largest_length(model.surface.basis * (middle - line)));
  }
  return largest;
}

std::vector<double> choose_times(const PoseSpaceModel& model, const SimulatedClip& clip, double from, double to,
                                 double rate, double tolerance, double& used) {
  used = rate > 0 ? rate : 30;
  std::vector<double> times = frame_times(from, to, used);
  if (rate > 0) return times;
  while (used < 120 && interpolation_error(model, clip, times) > 0.5 * tolerance) {
    used *= 2;
    times = frame_times(from, to, used);
  }
  return times;
}

// ---- the file -------------------------------------------------------------------------------------------------------

/// The character as its file has it, in the file's units and with all of its meshes, and where ours is in it.
struct FileCharacter {
  GltfDocument document;
  RawCharacter character;
  std::vector<Index> meshes;  ///< of the file's character, as the rig has them
  std::vector<Index> clips;   ///< of the file's character, for each clip of ours
};

void add_foreign_clip(const Clip& clip, double units_per_metre, RawCharacter& character) {
  Clip& added = character.clips.emplace_back(clip);
  for (Channel& channel : added.channels) {
    if (channel.target != ChannelTarget::translation) continue;
    for (double& value : channel.values) value *= units_per_metre;
  }
}

Result<FileCharacter> load_file(const BuiltCharacter& built, const Recipe& recipe,
                                const std::filesystem::path& folder) {
  Result<GltfDocument> document = load_gltf(folder / recipe.input);
  if (!document.ok()) return document.error();
  Result<RawCharacter> character = read_character(*document);
  if (!character.ok()) return character.error();
  FileCharacter file{std::move(*document), std::move(*character), {}, {}};
  for (std::size_t m = 0; m < file.character.meshes.size(); ++m) {
    const std::string& name = file.character.meshes[m].name;
    if (std::find(recipe.exclude.begin(), recipe.exclude.end(), name) == recipe.exclude.end())
      file.meshes.push_back(static_cast<Index>(m));
  }
  for (std::size_t c = 0; c < file.character.clips.size(); ++c) {
    const std::string& name = file.character.clips[c].name;
    if (!recipe.clips || std::find(recipe.clips->begin(), recipe.clips->end(), name) != recipe.clips->end())
      file.clips.push_back(static_cast<Index>(c));
  }
  for (std::size_t c = file.clips.size(); c < built.character().clips.size(); ++c) {
    file.clips.push_back(static_cast<Index>(file.character.clips.size()));
    add_foreign_clip(built.character().clips[c], 1 / recipe.scale, file.character);
  }
  return file;
}

bool plays_otherwise(const Recipe& recipe) { return recipe.dual_quaternions || !recipe.wires.empty(); }

// ---- report ---------------------------------------------------------------------------------------------------------

BakedClipReport report_clip(const PoseSpaceModel& model, const Clip& clip, const SimulatedClip& simulated,
                            const std::vector<double>& times, double rate) {
  BakedClipReport report;
  report.name = clip.name;
  report.duration = times.back() - times.front();
  report.frames = static_cast<Index>(times.size());
  report.rate = rate;
  report.energy = simulated.largest_energy;
  report.loop = simulated.loop;
  report.rounds = simulated.rounds;
  report.gap = simulated.gap;
  report.cuts = simulated.cuts;
  report.recovered = simulated.recovered;
  for (const double time : times) {
    const double length = largest_length(model.surface.basis * simulated.at(time));
    if (length > report.peak) report.peak = length, report.peak_time = time;
  }
  return report;
}

struct SimulatedClips {
  std::vector<SimulatedClip> clips;
  std::vector<std::vector<double>> times;
};

Result<SimulatedClips> simulate_all(const BuiltCharacter& built, const BakeSettings& settings, double tolerance,
                                    BakeReport& report, Progress& progress) {
  const Result<std::vector<Index>> chosen = chosen_clips(built.character(), settings.clips);
  if (!chosen.ok()) return chosen.error();
  const PoseSpaceModel& model = *built.reduced.model;
  SimulatedClips result;
  progress.stage("simulating");
  for (const Index c : *chosen) {
    const Clip& clip = built.character().clips[static_cast<std::size_t>(c)];
    SimulateSettings simulate = settings.simulate;
    simulate.loop = loops(built, clip, settings.loops);
    Result<SimulatedClip> simulated =
        simulate_clip(built.reduced.model, built.reduced.flesh_frequency, built.rig, clip, simulate);
    if (!simulated.ok()) return simulated.error();
    if (progress.cancelled()) return failure("stopped");
    simulated->clip = c;
    const double to = simulated->loop ? clip.duration : std::min(simulate.to.value_or(clip.duration), clip.duration);
    const double from = simulated->loop ? simulated->start : std::max(simulated->start, simulate.from);
    double rate = 0;
    result.times.push_back(choose_times(model, *simulated, from, to, settings.rate, tolerance, rate));
    report.clips.push_back(report_clip(model, clip, *simulated, result.times.back(), rate));
    result.clips.push_back(std::move(*simulated));
    progress.update(static_cast<double>(result.clips.size()) / static_cast<double>(chosen->size()));
  }
  return result;
}

CacheFormat cache_format(BakeFormat format) {
  switch (format) {
    case BakeFormat::mdd:
      return CacheFormat::mdd;
    case BakeFormat::exr:
      return CacheFormat::texture;
    case BakeFormat::png:
      return CacheFormat::texture_png;
    default:
      return CacheFormat::pc2;
  }
}

}  // namespace

Result<BakeReport> bake_character(const BuiltCharacter& built, const Recipe& recipe,
                                  const std::filesystem::path& folder, const std::filesystem::path& output,
                                  const BakeSettings& settings, Progress& progress) {
  BakeReport report;
  report.height = built.reduced.model->height;
  const CompressionSettings& compression = settings.output.compression;
  const double tolerance =
      compression.tolerance > 0 ? compression.tolerance * recipe.scale : compression.share_of_height * report.height;
  auto start = Clock::now();
  Result<SimulatedClips> simulated = simulate_all(built, settings, tolerance, report, progress);
  if (!simulated.ok()) return simulated.error();
  report.simulate_seconds = seconds_since(start);

  start = Clock::now();
  Result<FileCharacter> file = load_file(built, recipe, folder);
  if (!file.ok()) return file.error();
  SoftMotion motion;
  motion.character = &file->character;
  motion.meshes = file->meshes;
  for (std::size_t k = 0; k < simulated->clips.size(); ++k)
    motion.clips.push_back({file->clips[static_cast<std::size_t>(simulated->clips[k].clip)], simulated->times[k]});
  std::optional<CharacterRig> linear;
  if (plays_otherwise(recipe)) {
    Result<CharacterRig> played = CharacterRig::create(built.character());
    if (!played.ok()) return played.error();
    linear = std::move(*played);
  }
  Result<BakedFrames> frames = BakedFrames::create(built, std::move(simulated->clips), std::move(simulated->times),
                                                   1 / recipe.scale, std::move(linear));
  if (!frames.ok()) return frames.error();
  motion.frames = &*frames;
  if (settings.format == BakeFormat::glb) {
    Result<SoftGlbReport> written = write_soft_glb(output, file->document, motion, settings.output, progress);
    if (!written.ok()) return written.error();
    report.glb = *written;
    report.files = {output};
  } else {
    const double rate = report.clips.empty() ? 30 : report.clips.front().rate;
    Result<std::vector<std::filesystem::path>> written =
        write_point_caches(output, motion, {cache_format(settings.format), rate}, progress);
    if (!written.ok()) return written.error();
    report.files = std::move(*written);
  }
  report.write_seconds = seconds_since(start);
  return report;
}

}  // namespace supple
