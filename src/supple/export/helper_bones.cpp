// SPDX-License-Identifier: Apache-2.0
#include "supple/export/helper_bones.h"

#include "supple/export/bone_fit.h"
#include "supple/export/posed_meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr Index fitted_frames = 60;  // about so many are looked at until the end
constexpr int sweeps = 3, last_sweeps = 8;
constexpr double least_progress = 0.99;  // of the squared error; a round that leaves more was the last

class Fitter {
 public:
  Fitter(const SoftMotion& motion, const HelperBoneSettings& settings, Progress& progress)
      : player_(motion), settings_(settings), progress_(progress) {
    report_.height = character_height(player_.meshes());
    report_.tolerance = settings.tolerance > 0 ? settings.tolerance : settings.share_of_height * report_.height;
    for (Index f = 0; f < player_.frame_count(); ++f)
      if (player_.is_written(f)) written_.push_back(f);
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
      const BoneFit fit(player_.character(), meshes.mesh(m), std::span(rest).subspan(first, count),
                        player_.frame_count());
      work_.push_back({fit, m, first, count, fit});
    }
  }

  Result<FittedBones> run() {
    const Index stride = std::max<Index>(1, static_cast<Index>(written_.size()) / fitted_frames);
    SUPPLE_RETURN_IF_ERROR(round(stride, 1));
    for (Index batch = std::min<Index>(4, settings_.most_bones); add_bones(batch); batch *= 2) {
      SUPPLE_RETURN_IF_ERROR(alternate(stride));
      keep_the_better();
    }
    for (Work& work : work_) work.resting = false;
    SUPPLE_RETURN_IF_ERROR(round(1, last_sweeps));
    return result();
  }

 private:
  struct Work {
    BoneFit fit;
    std::size_t mesh, first, count;
    BoneFit best;          ///< before the last helpers came
    bool resting = false;  ///< no more helpers
  };

  /// More helpers for each mesh that isn't close enough; false when none can have more.
  bool add_bones(Index batch) {
    bool added = false;
    for (Work& work : work_) {
      const Index before = work.fit.bone_count(), count = std::min(batch, settings_.most_bones - before);
      work.resting = work.resting || work.fit.largest_error() <= report_.tolerance || count <= 0;
      if (work.resting) continue;
      work.best = work.fit;
      work.fit.add_bones(count, 0.3 * report_.height / std::sqrt(1.0 + before));
      work.resting = work.fit.bone_count() == before;
      added = added || !work.resting;
    }
    return added;
  }

  /// Motions and weights in turn, while it helps.
  Status alternate(Index stride) {
    double before = 1e300;
    for (int k = 0; k < settings_.rounds; ++k) {
      SUPPLE_RETURN_IF_ERROR(round(stride, sweeps));
      double now = 0;
      for (const Work& work : work_) now += work.fit.squared_error();
      if (k + 1 == settings_.rounds || now > least_progress * before) break;
      before = now;
      for (Work& work : work_)
        if (!work.resting) work.fit.fit_weights();
    }
    return {};
  }

  void keep_the_better() {
    for (Work& work : work_) {
      if (work.resting || work.fit.squared_error() < work.best.squared_error()) continue;
      work.fit = work.best;
      work.resting = true;
    }
  }

  Status round(Index stride, int times) {
    progress_.stage("fitting helper bones");
    squares_ = 0;
    for (Work& work : work_)
      if (!work.resting) work.fit.begin_round();
    for (std::size_t k = 0; k < written_.size(); k += to_size(stride)) {
      const Index f = written_[k];
      if (progress_.cancelled()) return failure("Fitting helper bones was stopped.");
      const std::span<const Vec3> displacement = player_.play(f);
      for (const Vec3& u : displacement) {
        if (!u.allFinite())
          return failure(fmt::format("The soft motion of {} isn't finite at frame {}; bake it with a smaller step.",
                                     player_.character().name, f));
        report_.peak_displacement = std::max(report_.peak_displacement, u.norm());
      }
      for (const Work& work : work_)
        for (const Vec3& u : displacement.subspan(work.first, work.count)) squares_ += u.squaredNorm();
      for (Work& work : work_)
        if (!work.resting)
          work.fit.fit_frame(f, player_.meshes().joints(), displacement.subspan(work.first, work.count), times);
      progress_.update(static_cast<double>(f + 1) / player_.frame_count());
    }
    return {};
  }

  FittedBones result() {
    FittedBones fitted;
    double squares = 0, vertices = 0;
    for (const Work& work : work_) {
      fitted.meshes.push_back(work.fit.result());
      fitted.meshes.back().mesh = player_.meshes().meshes()[work.mesh];
      report_.largest_error = std::max(report_.largest_error, work.fit.largest_error());
      report_.bones += work.fit.bone_count();
      squares += work.fit.squared_error();
      vertices += static_cast<double>(work.count);
    }
    const double all = std::max(1.0, vertices * static_cast<double>(written_.size()));
    report_.rms_error = std::sqrt(squares / all);
    report_.rms_displacement = std::sqrt(squares_ / all);
    fitted.report = report_;
    return fitted;
  }

  SoftPlayer player_;
  HelperBoneSettings settings_;
  Progress& progress_;
  HelperBoneReport report_;
  std::vector<Work> work_;
  std::vector<Index> written_;  ///< frames
  double squares_ = 0;          ///< of what the last round was shown
};

}  // namespace

Result<FittedBones> fit_helper_bones(const SoftMotion& motion, const HelperBoneSettings& settings, Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  return Fitter(motion, settings, progress).run();
}

}  // namespace supple
