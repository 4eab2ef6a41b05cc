// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/bake.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/nearest_name.h"
#include "supple/base/parallel.h"
#include "supple/base/shared_progress.h"
#include "supple/export/played_frames.h"
#include "supple/pipeline/character/clip_frames.h"
#include "supple/pipeline/character/exaggeration.h"
#include "supple/pipeline/character/own_place.h"
#include "supple/pipeline/character/skin_depth.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace supple {
namespace {

// ---- which frames ---------------------------------------------------------------------------------------------------

bool loops(const CharacterRig& rig, const Clip& clip, LoopChoice choice) {
  return choice == LoopChoice::all || (choice == LoopChoice::closing && closes(rig, clip));
}

/// Frames at a rate, and one at the very end.
std::vector<double> frame_times(double from, double to, double rate) {
  std::vector<double> times;
  const auto count = static_cast<std::int64_t>(std::floor((to - from) * rate + 1e-6));
  for (std::int64_t k = 0; k <= count; ++k) times.push_back(from + static_cast<double>(k) / rate);
  if (to - times.back() > 1e-4 / rate) times.push_back(to);
  return times;
}

/// How far linear interpolation between frames strays from the simulation [m].
double interpolation_error(ClipRun& run, Index vertices, const std::vector<double>& times) {
  std::vector<Vec3> before(to_size(vertices)), after = before, middle = before;
  double largest = 0;
  run.in_neutral_pose(times[0], before);
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    run.in_neutral_pose(times[k + 1], after);
    run.in_neutral_pose(0.5 * (times[k] + times[k + 1]), middle);
    for (std::size_t v = 0; v < middle.size(); ++v)
      largest = std::max(largest, (middle[v] - 0.5 * (before[v] + after[v])).squaredNorm());
    std::swap(before, after);
  }
  return std::sqrt(largest);
}

std::vector<double> choose_times(ClipRun& run, Index vertices, double from, double to, double rate, double tolerance,
                                 double& used) {
  used = rate > 0 ? rate : 30;
  std::vector<double> times = frame_times(from, to, used);
  if (rate > 0) return times;
  while (used < 120 && interpolation_error(run, vertices, times) > 0.5 * tolerance) {
    used *= 2;
    times = frame_times(from, to, used);
  }
  return times;
}

/// The chosen frames of a clip among those that it has at the rate. Fails where it has fewer.
Result<std::vector<double>> chosen_times(const Clip& clip, const BakeSettings& settings) {
  const double rate = settings.rate > 0 ? settings.rate : 30;
  std::vector<double> times = frame_times(std::min(first_key(clip), clip.duration), clip.duration, rate);
  const auto [first, last] = *settings.frames;
  if (first < 0 || last < first || last >= std::ssize(times))
    return input_error(fmt::format("the clip \"{}\" has frames 0 to {} at {:g} a second; there is no {}:{}", clip.name,
                                   times.size() - 1, rate, first, last));
  return std::vector<double>(times.begin() + first, times.begin() + last + 1);
}

// ---- the file -------------------------------------------------------------------------------------------------------

/// The character as its file has it, in the file's units and with all of its meshes, and where ours is in it.
struct WrittenCharacter {
  RawCharacter character;
  std::vector<Index> meshes;  ///< of the file's character, as the rig has them
  std::vector<Index> clips;   ///< of the file's character, for each clip of ours
};

void add_foreign_clip(const CharacterSource& source, const Clip& clip, RawCharacter& character) {
  RawCharacter there;
  there.skeleton = source.character.skeleton;
  there.clips = {clip};
  bring_home(-source.place, there);
  Clip& added = character.clips.emplace_back(std::move(there.clips.front()));
  const double units_per_metre = 1 / source.recipe.scale;
  for (Channel& channel : added.channels) {
    if (channel.target != ChannelTarget::translation) continue;
    for (double& value : channel.values) value *= units_per_metre;
  }
}

/// Corrections that follow joints give weights to clips of the file as well.
void take_weights(const Clip& ours, Clip& clip) {
  const auto is_weight = [](const Channel& channel) { return channel.target == ChannelTarget::weights; };
  std::erase_if(clip.channels, is_weight);
  std::copy_if(ours.channels.begin(), ours.channels.end(), std::back_inserter(clip.channels), is_weight);
}

WrittenCharacter written_character(const CharacterSource& source) {
  const Recipe& recipe = source.recipe;
  WrittenCharacter file{source.file.character, {}, {}};
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
  for (std::size_t c = 0; recipe.corrections && c < file.clips.size(); ++c)
    take_weights(source.character.clips[c], file.character.clips[to_size(file.clips[c])]);
  for (std::size_t c = file.clips.size(); c < source.character.clips.size(); ++c) {
    file.clips.push_back(static_cast<Index>(file.character.clips.size()));
    add_foreign_clip(source, source.character.clips[c], file.character);
  }
  return file;
}

// ---- simulation -----------------------------------------------------------------------------------------------------

/// The frames that a film of 30 pictures a second shows, and the last: what lasts for a 120th of a second nobody sees.
std::vector<std::size_t> seen_frames(const std::vector<double>& times) {
  constexpr double rate = 30, early = 1e-4;
  std::vector<std::size_t> seen;
  for (std::size_t f = 0; f < times.size(); ++f) {
    const double next = times.front() + static_cast<double>(seen.size()) / rate;
    if (times[f] >= next - early || f + 1 == times.size()) seen.push_back(f);
  }
  return seen;
}

std::vector<double> times_of(const std::vector<double>& times, const std::vector<std::size_t>& frames) {
  std::vector<double> chosen;
  for (const std::size_t f : frames) chosen.push_back(times[f]);
  return chosen;
}

void take_measure(MotionMeasure measure, BakedClipReport& report) {
  report.peak = measure.peak;
  report.peak_time = measure.peak_time;
  report.peak_part = std::move(measure.peak_part);
  report.rms = measure.rms;
  report.parts = std::move(measure.parts);
}

BakedClipReport report_clip(const FramedClip& framed, const RawCharacter& character, double rate, double height) {
  const ClipRunReport run = framed.run->report();
  BakedClipReport report;
  report.name = framed.clip->name;
  report.duration = framed.times.back() - framed.times.front();
  report.frames = static_cast<Index>(framed.times.size());
  report.rate = rate;
  report.energy = run.energy;
  report.loop = run.loop;
  report.rounds = run.rounds;
  report.gap = run.gap / height;
  report.cuts = run.cuts;
  report.recovered = run.recovered;
  report.violent = run.violent;
  report.violence = run.violence;
  report.restraint = run.restraint;
  report.tone = framed.tone;
  report.solved_frames = run.solved_frames;
  report.penetration = run.penetration;
  report.contact_depth = run.contact_depth;
  report.residual = run.residual;
  const std::vector<double> seen = times_of(framed.times, seen_frames(framed.times));
  const auto displace = [&](std::size_t k, std::span<Vec3> moved) { framed.run->in_world(seen[k], moved); };
  take_measure(measure_motion(character, seen, displace), report);
  report.simulated_peak = report.peak;
  report.simulated_rms = report.rms;
  return report;
}

double deepest_in_motion(const SoftCharacter& soft, const FramedClip& framed) {
  const std::vector<double> seen = times_of(framed.times, seen_frames(framed.times));
  const std::vector<double> depths = depths_in_motion(soft, *framed.clip, *framed.run, seen);
  return *std::max_element(depths.begin(), depths.end());
}

/// Clips know nothing of each other, so they run side by side; each comes out the same whoever runs beside it.
Result<std::vector<FramedClip>> run_clips(const SoftCharacter& soft, const std::vector<Index>& chosen,
                                          const BakeSettings& settings, Progress& progress) {
  std::vector<FramedClip> clips(chosen.size());
  std::vector<Status> done(chosen.size(), failure("stopped"));
  SharedProgress shared(progress, chosen.size());
  parallel_for(std::ssize(chosen), 1, [&](std::int64_t k) {
    const auto at = to_size(k);
    clips[at].clip = &soft.character().clips[to_size(chosen[at])];
    SharedProgress::Part part(shared, at);
    if (part.cancelled()) return;
    const Result<SimulateSettings> simulate = clip_settings(soft.rig(), *clips[at].clip, settings);
    if (!simulate.ok()) {
      done[at] = simulate.error();
      return;
    }
    if (settings.frames) clips[at].times = *chosen_times(*clips[at].clip, settings);
    Result<TonedRun> run = simulate_in_range(soft, *clips[at].clip, *simulate, part);
    if (run.ok()) clips[at].run = std::move(run->run), clips[at].tone = run->tone, clips[at].peak = run->peak;
    done[at] = run.ok() ? Status() : Status(run.error());
  });
  for (const Status& status : done) SUPPLE_RETURN_IF_ERROR(status);
  return clips;
}

Result<std::vector<FramedClip>> simulate_once(const SoftCharacter& soft, const std::vector<Index>& chosen,
                                              const BakeSettings& settings, double tolerance, BakeReport& report,
                                              Progress& progress) {
  progress.stage("simulating");
  Result<std::vector<FramedClip>> clips = run_clips(soft, chosen, settings, progress);
  SUPPLE_RETURN_IF_ERROR(clips);
  for (FramedClip& framed : *clips) {
    const Clip& clip = *framed.clip;
    const double allowed = std::max(tolerance, settings.share_of_motion * framed.peak);
    const bool loop = framed.run->report().loop;
    const double start = framed.run->start();
    const double to = loop ? clip.duration : std::min(settings.simulate.to.value_or(clip.duration), clip.duration);
    const double from = loop ? start : std::max(start, settings.simulate.from);
    double rate = settings.rate > 0 ? settings.rate : 30;
    if (!settings.frames)
      framed.times = choose_times(*framed.run, soft.vertex_count(), from, to, settings.rate, allowed, rate);
    report.clips.push_back(report_clip(framed, soft.character(), rate, report.height));
    if (soft.source().contacts) report.clips.back().skin_depth = deepest_in_motion(soft, framed);
  }
  return clips;
}

double liveliest(const BakeReport& report) {
  double most = 0;
  for (const BakedClipReport& clip : report.clips) most = std::max(most, clip.peak);
  return most;
}

/// With as much drive as the recipe says or, where it says how far the skin shall move, as that takes. Flesh that
/// stiffens as it stretches doesn't move twice as far with twice the drive, so what was found is tried.
Result<std::vector<FramedClip>> simulate_all(const SoftCharacter& soft, const std::vector<Index>& chosen,
                                             BakeSettings settings, double tolerance, BakeReport& report,
                                             Progress& progress) {
  constexpr int most_tries = 5;
  constexpr double near = 0.03, most_gain = 100;
  const RecipeFlesh& flesh = soft.source().recipe.flesh;
  settings.simulate.gain *= flesh.amount;
  settings.simulate.exaggeration *= soft.exaggeration();
  settings.simulate.limit = settings.simulate.limit && flesh.limit;
  for (int tries = 1;; ++tries) {
    report.clips.clear();
    report.gain = settings.simulate.gain * settings.simulate.exaggeration;
    Result<std::vector<FramedClip>> clips = simulate_once(soft, chosen, settings, tolerance, report, progress);
    SUPPLE_RETURN_IF_ERROR(clips);
    const double wanted = flesh.share * report.height, peak = liveliest(report);
    if (!(wanted > 0) || !(peak > 0) || tries == most_tries || std::abs(peak / wanted - 1) < near) return clips;
    settings.simulate.gain = std::min(most_gain, settings.simulate.gain * wanted / peak);
  }
}

// ---- writing --------------------------------------------------------------------------------------------------------

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

/// How far what is played is from what was simulated, in the file's units.
struct PlayedError {
  double largest = 0, squares = 0, motion = 0, count = 0;

  void add(std::span<const Vec3> played, std::span<const Vec3> simulated) {
    for (std::size_t v = 0; v < played.size(); ++v) {
      const double squared = (played[v] - simulated[v]).squaredNorm();
      largest = std::max(largest, std::sqrt(squared));
      squares += squared;
      motion += simulated[v].squaredNorm();
      ++count;
    }
  }
  double rms(double sum) const { return std::sqrt(sum / std::max(1.0, count)); }
};

/// What viewers of the file will see of each clip, in place of what was simulated, and how far it is off.
Status measure_written(const CharacterSource& source, const SoftMotion& motion, BakeReport& report) {
  Result<PlayedFrames> played = PlayedFrames::create(motion, report.glb.written, report.glb.written_clips);
  SUPPLE_RETURN_IF_ERROR(played);
  const double metres_per_unit = source.recipe.scale;
  PlayedError error;
  std::vector<Vec3> simulated;
  Index first = 0;
  for (std::size_t c = 0; c < motion.clips.size(); ++c) {
    const std::vector<double>& times = motion.clips[c].times;
    const std::vector<std::size_t> seen = seen_frames(times);
    std::size_t next = 0;  // errors count at every frame, seen or not
    const auto displace = [&](std::size_t k, std::span<Vec3> moved) {
      simulated.resize(moved.size());
      for (; next <= seen[k]; ++next) {
        played->frame(first + static_cast<Index>(next), moved);
        motion.frames->frame(first + static_cast<Index>(next), simulated);
        error.add(moved, simulated);
      }
      for (Vec3& u : moved) u *= metres_per_unit;
    };
    take_measure(measure_motion(source.character, times_of(times, seen), displace), report.clips[c]);
    first += static_cast<Index>(times.size());
  }
  report.glb.compression.largest_error = report.glb.bones.largest_error = error.largest;
  report.glb.compression.rms_error = report.glb.bones.rms_error = error.rms(error.squares);
  report.glb.bones.rms_displacement = error.rms(error.motion);
  return {};
}

Status write(const CharacterSource& source, const SoftMotion& motion, const std::filesystem::path& output,
             const BakeSettings& settings, BakeReport& report, Progress& progress) {
  if (settings.format == BakeFormat::glb) {
    Result<SoftGlbReport> written = write_soft_glb(output, source.file.document, motion, settings.output, progress);
    SUPPLE_RETURN_IF_ERROR(written);
    report.glb = *written;
    report.files = {output};
    return measure_written(source, motion, report);
  }
  const double rate = report.clips.empty() ? 30 : report.clips.front().rate;
  Result<std::vector<std::filesystem::path>> written =
      write_point_caches(output, motion, {cache_format(settings.format), rate}, progress);
  SUPPLE_RETURN_IF_ERROR(written);
  report.files = std::move(*written);
  return {};
}

}  // namespace

Result<SimulateSettings> clip_settings(const CharacterRig& rig, const Clip& clip, const BakeSettings& settings) {
  SimulateSettings simulate = settings.simulate;
  simulate.loop = loops(rig, clip, settings.loops);
  if (simulate.loop) {
    simulate.from = 0;
    simulate.to.reset();
  }
  if (settings.frames) {
    const Result<std::vector<double>> times = chosen_times(clip, settings);
    SUPPLE_RETURN_IF_ERROR(times);
    simulate.from = times->front();
    simulate.to = times->back();
  }
  return simulate;
}

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

Result<BakeReport> bake_character(const SoftCharacter& soft, const std::filesystem::path& output,
                                  const BakeSettings& settings, Progress& progress) {
  const CharacterSource& source = soft.source();
  BakeReport report;
  report.height = height_of(source);
  BakeSettings own = settings;
  CompressionSettings& compression = own.output.compression;
  if (!(compression.tolerance > 0))
    compression.tolerance = compression.share_of_height * report.height;
  else
    compression.tolerance *= source.recipe.scale;
  auto start = Clock::now();
  const Result<std::vector<Index>> chosen = chosen_clips(soft.character(), settings.clips);
  SUPPLE_RETURN_IF_ERROR(chosen);
  const Result<std::vector<FramedClip>> clips =
      simulate_all(soft, *chosen, own, compression.tolerance, report, progress);
  SUPPLE_RETURN_IF_ERROR(clips);
  compression.tolerance =
      std::max(compression.tolerance, settings.share_of_motion * liveliest(report)) / source.recipe.scale;
  report.simulate_seconds = seconds_since(start);

  start = Clock::now();
  const WrittenCharacter file = written_character(source);
  Result<ClipFrames> frames = ClipFrames::create(source, *clips);
  SUPPLE_RETURN_IF_ERROR(frames);
  SoftMotion motion{&file.character, file.meshes, {}, &*frames};
  for (std::size_t k = 0; k < clips->size(); ++k)
    motion.clips.push_back({file.clips[to_size((*chosen)[k])], (*clips)[k].times});
  SUPPLE_RETURN_IF_ERROR(write(source, motion, output, own, report, progress));
  report.write_seconds = seconds_since(start);
  return report;
}

}  // namespace supple
