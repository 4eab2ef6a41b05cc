// SPDX-License-Identifier: Apache-2.0
#include "supple/export/helper_bones.h"

#include "supple/export/bone_fit.h"
#include "supple/export/posed_meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace supple {
namespace {

constexpr Index fitted_frames = 160;  // at most so many are fitted to until the end
constexpr std::size_t fitted_bytes = std::size_t{256} << 20;
constexpr double least_progress = 0.9995, last_progress = 0.9999;  // of the squared error

/// How helpers begin: few at a time over much of the flesh, or many over little of it.
struct Seeding {
  Index first_batch;
  double radius;  ///< that the first ones follow, as a share of the height
};
constexpr Seeding seedings[] = {{2, 0.8}, {2, 0.4}, {4, 0.6}, {8, 0.4}};
constexpr std::size_t tried_places = 1600000;  // vertices by frames, of all beginnings together

class Fitter {
 public:
  Fitter(const SoftMotion& motion, const HelperBoneSettings& settings, Progress& progress)
      : player_(motion), settings_(settings), progress_(progress) {
    report_.height = character_height(player_.meshes());
    report_.tolerance = settings.tolerance > 0 ? settings.tolerance : settings.share_of_height * report_.height;
    PosedMeshes& meshes = player_.meshes();
    std::vector<Vec3> rest(to_size(meshes.vertex_count()));
    meshes.positions(rest);  // character_height has posed them at rest
    for (std::size_t m = 0; m < meshes.meshes().size(); ++m) {
      if (meshes.mesh(m).skin < 0) {
        ++report_.rigid_meshes;
        continue;
      }
      const auto first = to_size(meshes.first_vertex()[m]);
      const std::size_t count = meshes.mesh(m).surface.vertices.size();
      work_.push_back(
          {BoneFit(player_.character(), meshes.mesh(m), std::span(rest).subspan(first, count)), m, first, count});
    }
  }

  Result<FittedBones> run() {
    progress_.stage("fitting helper bones");
    SUPPLE_RETURN_IF_ERROR(keep_frames());
    for (std::size_t w = 0; w < work_.size(); ++w) {
      SUPPLE_RETURN_IF_ERROR(fit(work_[w]));
      progress_.update(0.8 * static_cast<double>(w + 1) / static_cast<double>(work_.size()));
    }
    SUPPLE_RETURN_IF_ERROR(play_all());
    return result();
  }

 private:
  struct Work {
    BoneFit fit;
    std::size_t mesh, first, count;
  };

  static Error stopped() { return failure("Fitting helper bones was stopped."); }

  Result<std::span<const Vec3>> play(Index f) {
    const std::span<const Vec3> displacement = player_.play(f);
    for (const Vec3& u : displacement)
      if (!u.allFinite())
        return failure(fmt::format("The soft motion of {} isn't finite at frame {}; bake it with a smaller step.",
                                   player_.character().name, f));
    return displacement;
  }

  Status keep_frames() {
    const auto bytes = sizeof(Vec3) * std::max<std::size_t>(1, to_size(player_.meshes().vertex_count()));
    const auto most = std::clamp<Index>(static_cast<Index>(fitted_bytes / bytes), 8, fitted_frames);
    const Index stride = std::max<Index>(1, (player_.frame_count() + most - 1) / most);
    for (Index f = 0; f < player_.frame_count(); f += stride) {
      if (progress_.cancelled()) return stopped();
      const Result<std::span<const Vec3>> displacement = play(f);
      SUPPLE_RETURN_IF_ERROR(displacement);
      for (Work& work : work_) work.fit.keep(player_.meshes().joints(), displacement->subspan(work.first, work.count));
    }
    return {};
  }

  /// From several beginnings, since each ends in a minimum of its own; the best of them is what is refined. Large
  /// meshes have fewer, for the time that each takes.
  Status fit(Work& work) {
    const BoneFit::Found none = work.fit.found();
    BoneFit::Found best = none;
    const std::size_t places = std::max<std::size_t>(1, work.count * work.fit.frame_count());
    const std::size_t tries = std::clamp<std::size_t>(tried_places / places, 1, std::size(seedings));
    for (const Seeding& seeding : std::span(seedings).first(tries)) {
      work.fit.go_back(none);
      SUPPLE_RETURN_IF_ERROR(add_helpers(work.fit, seeding));
      if (work.fit.squared_error() < best.squared_error) best = work.fit.found();
    }
    work.fit.go_back(std::move(best));
    return refine(work.fit, 2 * settings_.rounds, last_progress);
  }

  /// Helpers in batches, each followed by motions and weights in turn; until a batch doesn't help.
  Status add_helpers(BoneFit& fit, const Seeding& seeding) {
    for (Index batch = seeding.first_batch; fit.bone_count() < settings_.most_bones; batch *= 2) {
      const BoneFit::Found last = fit.found();
      const Index before = fit.bone_count();
      if (!(fit.squared_error() > 0)) return {};
      fit.add_bones(std::min(batch, settings_.most_bones - before),
                    seeding.radius * report_.height / std::sqrt(1.0 + before));
      if (fit.bone_count() == before) return {};
      fit.fit_weights();
      SUPPLE_RETURN_IF_ERROR(refine(fit, settings_.rounds, least_progress));
      if (fit.squared_error() < last.squared_error) continue;
      fit.go_back(last);
      return {};
    }
    return {};
  }

  /// Motions and weights in turn, until a round leaves more than `progress` of the squared error.
  Status refine(BoneFit& fit, int rounds, double progress) {
    for (int k = 0; k < rounds && fit.bone_count() > 0; ++k) {
      if (progress_.cancelled()) return stopped();
      const double last = fit.squared_error();
      fit.fit_motions();
      fit.fit_weights();
      if (fit.squared_error() > progress * last) break;
    }
    return {};
  }

  /// The motions of every frame, and what they leave.
  Status play_all() {
    std::vector<Vec3> left;
    for (Index f = 0; f < player_.frame_count(); ++f) {
      if (progress_.cancelled()) return stopped();
      const Result<std::span<const Vec3>> displacement = play(f);
      SUPPLE_RETURN_IF_ERROR(displacement);
      const bool written = player_.is_written(f);
      for (Work& work : work_) {
        const std::span<const Vec3> own = displacement->subspan(work.first, work.count);
        left.resize(work.count);
        work.fit.add_frame(player_.meshes().joints(), own, left);
        for (std::size_t v = 0; written && v < left.size(); ++v) {
          report_.peak_displacement = std::max(report_.peak_displacement, own[v].norm());
          report_.largest_error = std::max(report_.largest_error, left[v].norm());
          squares_ += own[v].squaredNorm();
          squared_error_ += left[v].squaredNorm();
          ++count_;
        }
      }
      progress_.update(0.8 + 0.2 * static_cast<double>(f + 1) / player_.frame_count());
    }
    return {};
  }

  FittedBones result() {
    FittedBones fitted;
    for (const Work& work : work_) {
      fitted.meshes.push_back(work.fit.result());
      fitted.meshes.back().mesh = player_.meshes().meshes()[work.mesh];
      report_.bones += work.fit.bone_count();
    }
    const double all = std::max(1.0, count_);
    report_.rms_error = std::sqrt(squared_error_ / all);
    report_.rms_displacement = std::sqrt(squares_ / all);
    fitted.report = report_;
    return fitted;
  }

  SoftPlayer player_;
  HelperBoneSettings settings_;
  Progress& progress_;
  HelperBoneReport report_;
  std::vector<Work> work_;
  double squares_ = 0, squared_error_ = 0, count_ = 0;  ///< sums over written frames and vertices
};

}  // namespace

Result<FittedBones> fit_helper_bones(const SoftMotion& motion, const HelperBoneSettings& settings, Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  return Fitter(motion, settings, progress).run();
}

}  // namespace supple
