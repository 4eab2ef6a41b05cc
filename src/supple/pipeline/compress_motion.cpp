// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/compress_motion.h"

#include "supple/mesh/normal_turn.h"
#include "supple/pipeline/mesh_fit.h"
#include "supple/pipeline/normal_error.h"
#include "supple/pipeline/posed_meshes.h"
#include "supple/pipeline/unit_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace supple {
namespace {

// Shares of the tolerance: what directions are worth learning, and what their sum may leave out. The rest is for
// fitting weights and leaving out keys.
constexpr double learned_share = 0.02, directions_share = 0.9;
constexpr int most_rounds = 6;
constexpr Index normal_frames = 64;  // about so many are looked at for the angles of normals

std::vector<Vec3> column_vectors(const Eigen::VectorXf& column) {
  const Eigen::Index n = column.size() / 3;
  std::vector<Vec3> vectors(static_cast<std::size_t>(n));
  for (Eigen::Index v = 0; v < n; ++v)
    vectors[static_cast<std::size_t>(v)] = Vec3(column[v], column[n + v], column[2 * n + v]);
  return vectors;
}

/// ω of every target: 3 n × k.
Eigen::MatrixXf turns_of(const Surface& surface, const Eigen::MatrixXf& targets) {
  Eigen::MatrixXf turns(targets.rows(), targets.cols());
  const Eigen::Index n = targets.rows() / 3;
  for (Eigen::Index t = 0; t < targets.cols(); ++t) {
    const std::vector<Vec3> rates =
        normal_turn_rates(surface.triangles, surface.vertices, column_vectors(targets.col(t)));
    for (Eigen::Index v = 0; v < n; ++v)
      for (Eigen::Index i = 0; i < 3; ++i)
        turns(i * n + v, t) = static_cast<float>(rates[static_cast<std::size_t>(v)][i]);
  }
  return turns;
}

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
    SUPPLE_RETURN_IF_ERROR(each_frame("learning soft shapes", [&](MeshWork& work, Index) { work.fit.learn(); }));
    for (MeshWork& work : meshes_) work.fit.finish_learning();
    SUPPLE_RETURN_IF_ERROR(each_frame("counting soft shapes", [&](MeshWork& work, Index) { work.fit.profile(); }));
    for (MeshWork& work : meshes_) take(work, work.fit.sufficient(directions_share * report_.tolerance));
    for (int round = 0; round < most_rounds && unfinished(); ++round) {
      SUPPLE_RETURN_IF_ERROR(each_frame("fitting soft shapes", [&](MeshWork& work, Index f) { fit_frame(work, f); }));
      for (MeshWork& work : meshes_) conclude(work, round + 1 < most_rounds);
    }
    return result();
  }

 private:
  struct MeshWork {
    MeshFit fit;
    const CharacterMesh& mesh;
    Index first = 0;
    Eigen::MatrixXf turns;
    std::vector<FrameFit> frames;
    NormalError normals;
    bool done = false;
  };

  void make_fits() {
    PosedMeshes& meshes = player_.meshes();
    if (player_.frame_count() > 0) player_.pose(0);
    const std::size_t most = static_cast<std::size_t>(settings_.most_targets + settings_.most_targets / 4);
    const std::size_t column = 3 * sizeof(float) * static_cast<std::size_t>(std::max(1, meshes.vertex_count()));
    const std::size_t columns = settings_.memory / column, frames = static_cast<std::size_t>(player_.frame_count());
    const std::size_t block = std::clamp<std::size_t>(columns > most ? columns - most : 0, 16, 1024);
    MeshFitSettings fit;
    fit.most_directions = static_cast<Index>(std::min(most, std::max<std::size_t>(frames, 1)));
    fit.block = static_cast<Index>(std::min(block, std::max<std::size_t>(frames, 1)));
    fit.cutoff = learned_share * report_.tolerance;
    for (std::size_t m = 0; m < meshes.meshes().size(); ++m) {
      const Index first = meshes.first_vertex()[m];
      const auto count = static_cast<std::size_t>(meshes.first_vertex()[m + 1] - first);
      const auto matrices = std::span(meshes.matrices()).subspan(static_cast<std::size_t>(first), count);
      meshes_.push_back({MeshFit(meshes.mesh(m), matrices, fit), meshes.mesh(m), first, {}, {}, {}, false});
    }
  }

  /// Shows every frame to every mesh that isn't done.
  Status each_frame(std::string_view stage, const std::function<void(MeshWork&, Index)>& visit) {
    progress_.stage(stage);
    for (Index f = 0; f < player_.frame_count(); ++f) {
      if (progress_.cancelled()) return failure("Compressing the soft motion was stopped.");
      const std::span<const Vec3> displacement = player_.play(f);
      SUPPLE_RETURN_IF_ERROR(check(displacement, f));
      for (MeshWork& work : meshes_) {
        if (work.done) continue;
        const auto first = static_cast<std::size_t>(work.first);
        const auto count = static_cast<std::size_t>(work.fit.vertex_count());
        work.fit.load(std::span(player_.meshes().matrices()).subspan(first, count), displacement.subspan(first, count));
        visit(work, f);
      }
      progress_.update(static_cast<double>(f + 1) / player_.frame_count());
    }
    return {};
  }

  Status check(std::span<const Vec3> displacement, Index f) {
    for (const Vec3& u : displacement) {
      const double length = u.norm();
      if (!std::isfinite(length))
        return failure(fmt::format("The soft motion of {} isn't finite at frame {}; bake it with a smaller step.",
                                   player_.character().name, f));
      report_.peak_displacement = std::max(report_.peak_displacement, length);
    }
    return {};
  }

  /// One target is for the sum of the lowest weights (unit_weights.h).
  Index most_directions() const { return std::max<Index>(0, settings_.most_targets - 1); }

  void take(MeshWork& work, Index targets) const {
    work.fit.take(std::min(targets, most_directions()));
    work.turns = turns_of(work.mesh.surface, work.fit.targets());
    work.frames.assign(static_cast<std::size_t>(player_.frame_count()), {});
    work.normals = {};
  }

  void fit_frame(MeshWork& work, Index f) const {
    FrameFit& frame = work.frames[static_cast<std::size_t>(f)];
    frame = work.fit.fit();
    if (f % std::max<Index>(1, player_.frame_count() / normal_frames) != 0) return;
    const Eigen::VectorXf turned = work.turns * frame.weights.cast<float>();
    work.normals.add(work.mesh.surface, work.fit.bind_displacements(), column_vectors(turned));
  }

  /// Another round with more targets, where the tolerance wasn't met and there are more.
  void conclude(MeshWork& work, bool may_go_on) const {
    if (work.done) return;
    double largest = 0;
    for (const FrameFit& frame : work.frames) largest = std::max(largest, frame.largest_error);
    const Index now = work.fit.target_count(), most = std::min(work.fit.direction_count(), most_directions());
    work.done = largest <= report_.tolerance || now >= most || !may_go_on;
    if (!work.done) take(work, std::min(most, now + std::max<Index>(1, now / 8)));
  }

  bool unfinished() const {
    return std::any_of(meshes_.begin(), meshes_.end(), [](const MeshWork& work) { return !work.done; });
  }

  WeightCurve curve_of(const MeshWork& work, Index c, double& largest) const {
    const SoftClip& clip = player_.clips()[static_cast<std::size_t>(c)];
    const auto first = static_cast<std::size_t>(player_.first_frame(c));
    std::vector<VecX> weights;
    std::vector<double> slack, spent(clip.times.size());
    for (std::size_t f = 0; f < clip.times.size(); ++f) {
      weights.push_back(work.frames[first + f].weights);
      slack.push_back(settings_.keep_all_keys ? -1.0 : report_.tolerance - work.frames[first + f].largest_error);
    }
    WeightCurve curve = thin_keys(clip.times, weights, work.fit.reach(), slack, spent);
    curve.clip = c;
    for (std::size_t f = 0; f < spent.size(); ++f)
      largest = std::max(largest, work.frames[first + f].largest_error + spent[f]);
    return curve;
  }

  CompressedMotion result() {
    CompressedMotion out;
    double squares = 0, vertices = 0, angles = 0;
    for (std::size_t m = 0; m < meshes_.size(); ++m) {
      MeshWork& work = meshes_[m];
      MeshTargets& targets = out.meshes.emplace_back();
      targets.mesh = player_.meshes().meshes()[m];
      for (Index c = 0; c < static_cast<Index>(player_.clips().size()); ++c) {
        targets.curves.push_back(curve_of(work, c, report_.largest_error));
        if (work.fit.target_count() > 0) report_.keys += static_cast<Index>(targets.curves.back().times.size());
      }
      for (const FrameFit& frame : work.frames) {
        squares += frame.squared_error;
        report_.unreachable = std::max(report_.unreachable, frame.largest_reachless);
      }
      vertices += work.fit.vertex_count();
      angles += std::pow(work.normals.rms_degrees(), 2) * work.fit.vertex_count();
      report_.normal_99 = std::max(report_.normal_99, work.normals.percentile_degrees(0.99));
      report_.normal_largest = std::max(report_.normal_largest, work.normals.largest_degrees());
      targets.displacements = work.fit.take_targets();
      targets.turns = std::move(work.turns);
      bring_into_unit_range(targets);
      report_.targets += targets.target_count();
    }
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
};

}  // namespace

Result<CompressedMotion> compress_motion(const SoftMotion& motion, const CompressionSettings& settings,
                                         Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  return Compressor(motion, settings, progress).run();
}

}  // namespace supple
