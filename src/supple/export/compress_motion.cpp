// SPDX-License-Identifier: Apache-2.0
#include "supple/export/compress_motion.h"

#include "supple/base/parallel.h"
#include "supple/export/mesh_fit.h"
#include "supple/export/normal_error.h"
#include "supple/export/posed_meshes.h"
#include "supple/export/soft_samples.h"
#include "supple/export/unit_weights.h"
#include "supple/mesh/normal_turn.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace supple {
namespace {

// Shares of the tolerance: what directions are worth learning, and what their sum may leave out. The rest is for
// leaving out keys.
constexpr double learned_share = 0.02, directions_share = 0.9;
constexpr int most_rounds = 6;
constexpr std::size_t learned_at_once = 256;  // frames whose directions join those known
constexpr Index counted_frames = 24;          // so many say how many directions are needed, before all are measured
constexpr Index worth_evening = 16;           // fewer targets than this aren't worth making fewer
constexpr Index normal_frames = 32;           // about so many are looked at for the angles of normals
constexpr std::size_t frames_at_once = 16;

std::vector<Vec3> column_vectors(const Eigen::VectorXf& column) {
  const Eigen::Index n = column.size() / 3;
  std::vector<Vec3> vectors(to_size(n));
  for (Eigen::Index v = 0; v < n; ++v) vectors[to_size(v)] = Vec3(column[v], column[n + v], column[2 * n + v]);
  return vectors;
}

/// ω of every target: 3 n × k.
Eigen::MatrixXf turns_of(const Surface& surface, const Eigen::MatrixXf& targets) {
  Eigen::MatrixXf turns(targets.rows(), targets.cols());
  const Eigen::Index n = targets.rows() / 3;
  parallel_for(static_cast<std::int64_t>(targets.cols()), 1, [&](std::int64_t t) {
    const std::vector<Vec3> rates =
        normal_turn_rates(surface.triangles, surface.vertices, column_vectors(targets.col(t)));
    for (Eigen::Index v = 0; v < n; ++v)
      for (Eigen::Index i = 0; i < 3; ++i) turns(i * n + v, t) = static_cast<float>(rates[to_size(v)][i]);
  });
  return turns;
}

/// At most `most` of `count` things, evenly spread.
std::vector<Index> spread(Index count, Index most) {
  std::vector<Index> chosen;
  const Index parts = std::min(count, most);
  for (Index k = 0; k < parts; ++k)
    chosen.push_back(parts == 1 ? 0 : static_cast<Index>(static_cast<std::int64_t>(k) * (count - 1) / (parts - 1)));
  return chosen;
}

std::span<const float> column(const Eigen::MatrixXf& matrix, std::size_t k) {
  return {matrix.col(static_cast<Eigen::Index>(k)).data(), to_size(matrix.rows())};
}

Error stopped() { return failure("Compressing the soft motion was stopped."); }

class Compressor {
 public:
  Compressor(const SoftMotion& motion, const CompressionSettings& settings, Progress& progress)
      : player_(motion), settings_(settings), progress_(progress) {
    report_.height = character_height(player_.meshes());
    report_.tolerance = settings.tolerance > 0 ? settings.tolerance : settings.share_of_height * report_.height;
    report_.frames = player_.frame_count();
  }

  Result<CompressedMotion> run() {
    make_fits();
    SUPPLE_RETURN_IF_ERROR(learn());
    for (int round = 0; round < most_rounds && unfinished(); ++round) {
      SUPPLE_RETURN_IF_ERROR(measure("fitting soft shapes", all_frames(), [](MeshWork& work, const Block& block) {
        const Eigen::MatrixXf weights = work.fit.weights(block.samples, work.targets);
        for (std::size_t i = 0; i < block.frames.size(); ++i)
          work.weights[to_size(block.frames[i])] = weights.col(static_cast<Eigen::Index>(i)).cast<double>();
        return weights;
      }));
      SUPPLE_RETURN_IF_ERROR(conclude(round + 1 < most_rounds));
    }
    SUPPLE_RETURN_IF_ERROR(check_curves());
    return result();
  }

 private:
  struct MeshWork {
    MeshFit fit;
    const CharacterMesh& mesh;
    std::size_t first = 0;      ///< vertex
    Index targets = 0;          ///< directions taken
    std::vector<VecX> weights;  ///< of each frame
    std::vector<FrameError> errors;
    std::vector<WeightCurve> curves;
    Eigen::MatrixXf displacements, turns;
    NormalError normals;
    bool done = false;
  };

  struct Block {
    std::span<const Index> frames;
    const Eigen::MatrixXf& samples;
  };

  void make_fits() {
    PosedMeshes& meshes = player_.meshes();
    if (player_.frame_count() > 0) player_.pose(0);
    const MeshFitSettings fit{settings_.most_targets + settings_.most_targets / 4, learned_share * report_.tolerance};
    const auto frames = to_size(player_.frame_count());
    std::vector<MeshFit*> fits;
    meshes_.reserve(meshes.meshes().size());
    for (std::size_t m = 0; m < meshes.meshes().size(); ++m) {
      const auto first = to_size(meshes.first_vertex()[m]);
      const auto count = to_size(meshes.first_vertex()[m + 1]) - first;
      const CharacterMesh& mesh = meshes.mesh(m);
      meshes_.push_back({MeshFit(std::span(meshes.matrices()).subspan(first, count), fit),
                         mesh,
                         first,
                         0,
                         std::vector<VecX>(frames),
                         std::vector<FrameError>(frames),
                         {},
                         {},
                         {},
                         NormalError(mesh.surface)});
      fits.push_back(&meshes_.back().fit);
    }
    samples_.emplace(player_, fits, settings_.memory);
  }

  std::vector<Index> all_frames() const { return spread(player_.frame_count(), player_.frame_count()); }

  std::span<const Affine> matrices(const MeshWork& work) const {
    return std::span(player_.meshes().matrices()).subspan(work.first, to_size(work.fit.vertex_count()));
  }

  /// One target is for the sum of the lowest weights (unit_weights.h).
  Index most_directions(const MeshWork& work) const {
    return std::clamp<Index>(settings_.most_targets - 1, 0, work.fit.direction_count());
  }

  /// Directions come from every frame: a motion of many clips has no frame that stands for its neighbours.
  Status learn() {
    progress_.stage("learning soft shapes");
    const std::vector<Index> frames = all_frames();
    std::vector<Eigen::MatrixXf> samples;
    for (std::size_t begin = 0; begin < frames.size(); begin += learned_at_once) {
      if (progress_.cancelled()) return stopped();
      const auto block = std::span(frames).subspan(begin, std::min(learned_at_once, frames.size() - begin));
      SUPPLE_RETURN_IF_ERROR(samples_->gather(block, samples));
      for (std::size_t m = 0; m < meshes_.size(); ++m) meshes_[m].fit.learn(samples[m]);
      progress_.update(static_cast<double>(begin + block.size()) / static_cast<double>(frames.size()));
    }
    const std::vector<Index> counted = spread(player_.frame_count(), counted_frames);
    SUPPLE_RETURN_IF_ERROR(samples_->gather(counted, samples));
    for (std::size_t m = 0; m < meshes_.size(); ++m) {
      count_targets(meshes_[m], counted, samples[m]);
      even_out(meshes_[m], counted, samples[m]);
    }
    return {};
  }

  /// Makes vertices count more that fewer targets would leave beyond the tolerance, as long as that saves targets.
  void even_out(MeshWork& work, std::span<const Index> frames, const Eigen::MatrixXf& samples) {
    constexpr int most_tries = 3;
    const double limit = std::pow(directions_share * report_.tolerance, 2);
    for (int tries = 0; tries < most_tries && work.targets > worth_evening; ++tries) {
      const MeshFit before = work.fit;
      const Index targets = work.targets;
      Eigen::VectorXf worst = Eigen::VectorXf::Zero(work.fit.vertex_count());
      for (std::size_t i = 0; i < frames.size(); ++i) {
        player_.pose(frames[i]);
        work.fit.find_worst(column(samples, i), matrices(work), targets * 4 / 5, worst);
      }
      work.fit.reweight((worst / static_cast<float>(limit)).cwiseMax(0.5f).cwiseMin(16.0f));
      work.targets = 0;
      count_targets(work, frames, samples);
      if (work.targets < targets) continue;
      work.fit = before;
      work.targets = targets;
      return;
    }
  }

  /// As many targets as the frames need, and no fewer than before.
  void count_targets(MeshWork& work, std::span<const Index> frames, const Eigen::MatrixXf& samples) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      player_.pose(frames[i]);
      work.targets = std::max(
          work.targets, work.fit.sufficient(column(samples, i), matrices(work), directions_share * report_.tolerance));
    }
    work.targets = std::min(work.targets, most_directions(work));
  }

  /// The errors of frames with what `played` gives for their weights, of every mesh that isn't done.
  Status measure(std::string_view stage, const std::vector<Index>& frames,
                 const std::function<Eigen::MatrixXf(MeshWork&, const Block&)>& played) {
    progress_.stage(stage);
    std::vector<Eigen::MatrixXf> samples, residuals(meshes_.size());
    for (std::size_t begin = 0; begin < frames.size(); begin += frames_at_once) {
      if (progress_.cancelled()) return stopped();
      const auto block = std::span(frames).subspan(begin, std::min(frames_at_once, frames.size() - begin));
      SUPPLE_RETURN_IF_ERROR(samples_->gather(block, samples));
      for (std::size_t m = 0; m < meshes_.size(); ++m)
        if (!meshes_[m].done)
          residuals[m] = meshes_[m].fit.residuals(samples[m], played(meshes_[m], {block, samples[m]}));
      for (std::size_t i = 0; i < block.size(); ++i) {
        player_.pose(block[i]);
        for (std::size_t m = 0; m < meshes_.size(); ++m)
          if (!meshes_[m].done)
            meshes_[m].errors[to_size(block[i])] = meshes_[m].fit.error(column(residuals[m], i), matrices(meshes_[m]));
      }
      progress_.update(static_cast<double>(begin + block.size()) / static_cast<double>(frames.size()));
    }
    return {};
  }

  /// Frames beyond the tolerance, the worst of each part of the motion.
  std::vector<Index> hard_frames(const MeshWork& work) const {
    std::vector<Index> hard;
    const Index count = player_.frame_count(), length = (count + counted_frames - 1) / counted_frames;
    for (Index begin = 0; begin < count; begin += length) {
      const auto first = work.errors.begin() + begin, last = work.errors.begin() + std::min(count, begin + length);
      const auto worst =
          std::max_element(first, last, [](const FrameError& a, const FrameError& b) { return a.largest < b.largest; });
      if (worst->largest > report_.tolerance) hard.push_back(static_cast<Index>(worst - work.errors.begin()));
    }
    return hard;
  }

  /// More targets for meshes that aren't within the tolerance.
  Status conclude(bool may_go_on) {
    for (std::size_t m = 0; m < meshes_.size(); ++m) {
      MeshWork& work = meshes_[m];
      if (work.done) continue;
      const std::vector<Index> hard = hard_frames(work);
      work.done = hard.empty() || !may_go_on || work.targets >= most_directions(work);
      if (work.done) continue;
      std::vector<Eigen::MatrixXf> samples;
      SUPPLE_RETURN_IF_ERROR(samples_->gather(hard, samples));
      work.targets = std::min(work.targets + 1, most_directions(work));
      count_targets(work, hard, samples[m]);
    }
    return {};
  }

  bool unfinished() const {
    return std::any_of(meshes_.begin(), meshes_.end(), [](const MeshWork& work) { return !work.done; });
  }

  WeightCurve curve_of(const MeshWork& work, Index c) const {
    const SoftClip& clip = player_.clips()[to_size(c)];
    const auto first = to_size(player_.first_frame(c));
    std::vector<double> slack;
    std::vector<std::size_t> candidates;
    for (std::size_t f = 0; f < clip.times.size(); ++f) {
      slack.push_back(settings_.keep_all_keys ? -1.0 : report_.tolerance - work.errors[first + f].largest);
      if (clip.is_written(f)) candidates.push_back(f);
    }
    WeightCurve curve = thin_keys(clip.times, std::span(work.weights).subspan(first, clip.times.size()), candidates,
                                  work.fit.reach(work.targets), slack);
    curve.clip = c;
    return curve;
  }

  /// The weights that players will have at a frame.
  VecX played_weights(const MeshWork& work, Index f) const {
    const auto c = to_size(player_.clip_of(f));
    VecX weights(work.targets);
    work.curves[c].sample(player_.clips()[c].times[to_size(f - player_.first_frame(static_cast<Index>(c)))],
                          {weights.data(), to_size(weights.size())});
    return weights;
  }

  /// Makes the curves, measures the frames that aren't keys again, and some normals.
  Status check_curves() {
    std::vector<bool> changed(to_size(player_.frame_count()), false);
    const Index stride = std::max<Index>(1, player_.frame_count() / normal_frames);
    for (MeshWork& work : meshes_) {
      for (Index c = 0; c < static_cast<Index>(player_.clips().size()); ++c) work.curves.push_back(curve_of(work, c));
      work.displacements = work.fit.targets(work.targets);
      work.turns = turns_of(work.mesh.surface, work.displacements);
      work.done = false;
      for (Index f = 0; f < player_.frame_count(); ++f)
        if (f % stride == 0 || played_weights(work, f) != work.weights[to_size(f)]) changed[to_size(f)] = true;
    }
    std::vector<Index> frames;
    for (Index f = 0; f < player_.frame_count(); ++f)
      if (changed[to_size(f)]) frames.push_back(f);
    return measure("checking soft shapes", frames, [&](MeshWork& work, const Block& block) {
      Eigen::MatrixXf weights(work.targets, block.samples.cols());
      for (std::size_t i = 0; i < block.frames.size(); ++i) {
        const Eigen::VectorXf played = played_weights(work, block.frames[i]).cast<float>();
        weights.col(static_cast<Eigen::Index>(i)) = played;
        if (block.frames[i] % stride == 0)
          work.normals.add(work.fit.bind_displacements(column(block.samples, i)), column_vectors(work.turns * played));
      }
      return weights;
    });
  }

  void describe_errors(const MeshWork& work, double& squares) {
    for (const FrameError& error : work.errors) {
      squares += error.squares;
      report_.largest_error = std::max(report_.largest_error, error.largest);
    }
    report_.unreachable = std::max(report_.unreachable, work.fit.unreachable_error());
    report_.normal_99 = std::max(report_.normal_99, work.normals.percentile_degrees(0.99));
    report_.normal_largest = std::max(report_.normal_largest, work.normals.largest_degrees());
  }

  CompressedMotion result() {
    CompressedMotion out;
    double squares = 0, vertices = 0, angles = 0;
    for (std::size_t m = 0; m < meshes_.size(); ++m) {
      MeshWork& work = meshes_[m];
      describe_errors(work, squares);
      vertices += work.fit.vertex_count();
      angles += std::pow(work.normals.rms_degrees(), 2) * work.fit.vertex_count();
      MeshTargets& targets =
          out.meshes.emplace_back(MeshTargets{player_.meshes().meshes()[m], std::move(work.displacements),
                                              std::move(work.turns), work.fit.usual_scale(), std::move(work.curves)});
      for (const WeightCurve& curve : targets.curves)
        if (work.targets > 0) report_.keys += static_cast<Index>(curve.times.size());
      bring_into_unit_range(targets);
      report_.targets += targets.target_count();
    }
    report_.peak_displacement = samples_->peak_displacement();
    report_.rms_error = std::sqrt(squares / std::max(1.0, vertices * report_.frames));
    report_.normal_rms = std::sqrt(angles / std::max(1.0, vertices));
    out.report = report_;
    return out;
  }

  SoftPlayer player_;
  CompressionSettings settings_;
  Progress& progress_;
  CompressionReport report_;
  std::vector<MeshWork> meshes_;
  std::optional<SoftSamples> samples_;
};

}  // namespace

Result<CompressedMotion> compress_motion(const SoftMotion& motion, const CompressionSettings& settings,
                                         Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  return Compressor(motion, settings, progress).run();
}

}  // namespace supple
