// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/bake.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/nearest_name.h"
#include "supple/base/parallel.h"
#include "supple/io/gltf/read_character.h"
#include "supple/pipeline/character/baked_frames.h"

#include <algorithm>
#include <cmath>
#include <mutex>

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

bool loops(const SoftCharacter& soft, const Clip& clip, LoopChoice choice) {
  return choice == LoopChoice::all || (choice == LoopChoice::closing && closes(soft.rig, clip));
}

/// Frames at a rate, and one at the very end.
std::vector<double> frame_times(double from, double to, double rate) {
  std::vector<double> times;
  const auto count = static_cast<std::int64_t>(std::floor((to - from) * rate + 1e-6));
  for (std::int64_t k = 0; k <= count; ++k) times.push_back(from + static_cast<double>(k) / rate);
  if (to - times.back() > 1e-4 / rate) times.push_back(to);
  return times;
}

/// The largest displacement of a vertex for each column of coordinates [m].
Eigen::VectorXf largest_lengths(const Eigen::MatrixXf& basis, const Eigen::MatrixXf& coordinates) {
  constexpr std::int64_t rows_at_once = 3 * 512;  // so that the product stays in the cache
  const std::int64_t chunks = (basis.rows() + rows_at_once - 1) / rows_at_once;
  Eigen::MatrixXf squares = Eigen::MatrixXf::Zero(coordinates.cols(), chunks);
  parallel_ranges(basis.rows(), rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    const Eigen::MatrixXf u = basis.middleRows(begin, end - begin) * coordinates;
    for (Eigen::Index c = 0; c < u.cols(); ++c)
      squares(c, begin / rows_at_once) = u.col(c).reshaped(3, u.rows() / 3).colwise().squaredNorm().maxCoeff();
  });
  if (chunks == 0) return Eigen::VectorXf::Zero(coordinates.cols());
  return squares.rowwise().maxCoeff().cwiseSqrt();
}

/// How far linear interpolation between frames strays from the simulation [m].
double interpolation_error(const Eigen::MatrixXf& basis, const SimulatedClip& clip, const std::vector<double>& times) {
  if (times.size() < 2) return 0;
  Eigen::MatrixXf strayed(basis.cols(), std::ssize(times) - 1);
  VecX before = clip.at(times[0]);
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    const VecX after = clip.at(times[k + 1]);
    const VecX middle = clip.at(0.5 * (times[k] + times[k + 1]));
    strayed.col(static_cast<Eigen::Index>(k)) = (middle - 0.5 * (before + after)).cast<float>();
    before = after;
  }
  return largest_lengths(basis, strayed).maxCoeff();
}

std::vector<double> choose_times(const Eigen::MatrixXf& basis, const SimulatedClip& clip, double from, double to,
                                 double rate, double tolerance, double& used) {
  used = rate > 0 ? rate : 30;
  std::vector<double> times = frame_times(from, to, used);
  if (rate > 0) return times;
  while (used < 120 && interpolation_error(basis, clip, times) > 0.5 * tolerance) {
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

Result<FileCharacter> load_file(const SoftCharacter& soft, const Recipe& recipe, const std::filesystem::path& folder) {
  Result<GltfDocument> document = load_gltf(folder / recipe.input);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<RawCharacter> character = read_character(*document);
  SUPPLE_RETURN_IF_ERROR(character);
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
  for (std::size_t c = file.clips.size(); c < soft.character().clips.size(); ++c) {
    file.clips.push_back(static_cast<Index>(file.character.clips.size()));
    add_foreign_clip(soft.character().clips[c], 1 / recipe.scale, file.character);
  }
  return file;
}

bool plays_otherwise(const Recipe& recipe) { return recipe.dual_quaternions || !recipe.wires.empty(); }

// ---- report ---------------------------------------------------------------------------------------------------------

BakedClipReport report_clip(const Eigen::MatrixXf& basis, const Clip& clip, const SimulatedClip& simulated,
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
  Eigen::MatrixXf coordinates(basis.cols(), std::ssize(times));
  for (std::size_t k = 0; k < times.size(); ++k)
    coordinates.col(static_cast<Eigen::Index>(k)) = simulated.at(times[k]).cast<float>();
  Eigen::Index at = 0;
  report.peak = largest_lengths(basis, coordinates).maxCoeff(&at);
  report.peak_time = times[to_size(at)];
  return report;
}

struct SimulatedClips {
  std::vector<SimulatedClip> clips;
  std::vector<std::vector<double>> times;
};

/// Progress of clips that are simulated side by side.
class SharedProgress {
 public:
  SharedProgress(Progress& progress, std::size_t count) : progress_(progress), count_(count) {}
  bool cancelled() {
    const std::lock_guard lock(mutex_);
    return progress_.cancelled();
  }
  void one_done() {
    const std::lock_guard lock(mutex_);
    progress_.update(static_cast<double>(++done_) / static_cast<double>(count_));
  }

 private:
  std::mutex mutex_;
  Progress& progress_;
  std::size_t count_, done_ = 0;
};

/// Clips know nothing of each other, so they run side by side; each comes out the same whoever runs beside it.
std::vector<Result<SimulatedClip>> run_clips(const SoftCharacter& soft, const std::vector<Index>& chosen,
                                             const BakeSettings& settings, Progress& progress) {
  std::vector<Result<SimulatedClip>> results(chosen.size(), failure("stopped"));
  SharedProgress shared(progress, chosen.size());
  parallel_for(std::ssize(chosen), 1, [&](std::int64_t k) {
    if (shared.cancelled()) return;
    const auto at = to_size(k);
    const Clip& clip = soft.character().clips[to_size(chosen[at])];
    SimulateSettings simulate = settings.simulate;
    simulate.loop = loops(soft, clip, settings.loops);
    results[at] = simulate_clip(soft.asset.model, soft.asset.flesh_frequency, soft.rig, clip, simulate);
    if (results[at].ok()) results[at]->clip = chosen[at];
    shared.one_done();
  });
  return results;
}

/// Of a body whose basis changes with its pose: as it is shown.
Status find_peak(const SoftCharacter& soft, const Clip& clip, const SimulatedClip& simulated,
                 const std::vector<double>& times, BakedClipReport& report) {
  Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(soft.asset.model, {});
  SUPPLE_RETURN_IF_ERROR(dynamics);
  const ClipMotion motion(soft.rig, clip, simulated.loop, soft.asset.model->height);
  CharacterPose pose = soft.rig.neutral();
  std::vector<Vec3> shown(to_size(soft.asset.model->surface.vertex_count()));
  report.peak = 0;
  for (const double time : times) {
    motion.sample(time, pose);
    const Eigen::VectorXf q = simulated.at(time).cast<float>();
    dynamics->surface_displacements({}, pose.p, {q.data(), to_size(q.size())}, shown);
    for (const Vec3& u : shown) {
      if (u.norm() <= report.peak) continue;
      report.peak = u.norm();
      report.peak_time = time;
    }
  }
  return {};
}

Result<SimulatedClips> simulate_all(const SoftCharacter& soft, const BakeSettings& settings, double tolerance,
                                    BakeReport& report, Progress& progress) {
  const Result<std::vector<Index>> chosen = chosen_clips(soft.character(), settings.clips);
  SUPPLE_RETURN_IF_ERROR(chosen);
  progress.stage("simulating");
  std::vector<Result<SimulatedClip>> simulated = run_clips(soft, *chosen, settings, progress);
  const PoseSpaceModel& model = *soft.asset.model;
  const Eigen::MatrixXf basis = surface_shape(model, 0, MatX::Identity(model.size(), model.size())).cast<float>();
  SimulatedClips result;
  for (Result<SimulatedClip>& one : simulated) {
    SUPPLE_RETURN_IF_ERROR(one);
    const Clip& clip = soft.character().clips[to_size(one->clip)];
    const double to = one->loop ? clip.duration : std::min(settings.simulate.to.value_or(clip.duration), clip.duration);
    const double from = one->loop ? one->start : std::max(one->start, settings.simulate.from);
    double rate = 0;
    result.times.push_back(choose_times(basis, *one, from, to, settings.rate, tolerance, rate));
    report.clips.push_back(report_clip(basis, clip, *one, result.times.back(), rate));
    if (model.pose_count() > 1)
      SUPPLE_RETURN_IF_ERROR(find_peak(soft, clip, *one, result.times.back(), report.clips.back()));
    result.clips.push_back(std::move(*one));
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

Result<BakeReport> bake_character(const SoftCharacter& soft, const Recipe& recipe, const std::filesystem::path& folder,
                                  const std::filesystem::path& output, const BakeSettings& settings,
                                  Progress& progress) {
  BakeReport report;
  report.height = soft.asset.model->height;
  const CompressionSettings& compression = settings.output.compression;
  const double tolerance =
      compression.tolerance > 0 ? compression.tolerance * recipe.scale : compression.share_of_height * report.height;
  auto start = Clock::now();
  Result<SimulatedClips> simulated = simulate_all(soft, settings, tolerance, report, progress);
  SUPPLE_RETURN_IF_ERROR(simulated);
  report.simulate_seconds = seconds_since(start);

  start = Clock::now();
  Result<FileCharacter> file = load_file(soft, recipe, folder);
  SUPPLE_RETURN_IF_ERROR(file);
  SoftMotion motion;
  motion.character = &file->character;
  motion.meshes = file->meshes;
  for (std::size_t k = 0; k < simulated->clips.size(); ++k)
    motion.clips.push_back({file->clips[to_size(simulated->clips[k].clip)], simulated->times[k]});
  std::optional<CharacterRig> linear;
  if (plays_otherwise(recipe)) {
    Result<CharacterRig> played = CharacterRig::create(soft.character());
    SUPPLE_RETURN_IF_ERROR(played);
    linear = std::move(*played);
  }
  Result<BakedFrames> frames = BakedFrames::create(soft, std::move(simulated->clips), std::move(simulated->times),
                                                   1 / recipe.scale, std::move(linear));
  SUPPLE_RETURN_IF_ERROR(frames);
  motion.frames = &*frames;
  if (settings.format == BakeFormat::glb) {
    Result<SoftGlbReport> written = write_soft_glb(output, file->document, motion, settings.output, progress);
    SUPPLE_RETURN_IF_ERROR(written);
    report.glb = *written;
    report.files = {output};
  } else {
    const double rate = report.clips.empty() ? 30 : report.clips.front().rate;
    Result<std::vector<std::filesystem::path>> written =
        write_point_caches(output, motion, {cache_format(settings.format), rate}, progress);
    SUPPLE_RETURN_IF_ERROR(written);
    report.files = std::move(*written);
  }
  report.write_seconds = seconds_since(start);
  return report;
}

}  // namespace supple
