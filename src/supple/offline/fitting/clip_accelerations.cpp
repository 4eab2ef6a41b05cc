// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/clip_accelerations.h"

#include "supple/base/parallel.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/fitting/own_axes.h"
#include "supple/rig/motion/clip_motion.h"

#include <algorithm>

namespace supple {

std::vector<ClipMoment> typical_moments(const RawCharacter& character, std::size_t most) {
  std::vector<ClipMoment> moments;
  const std::size_t clips = std::min(character.clips.size(), most / 2);
  for (std::size_t c = 0; c < clips; ++c) {
    const Clip& clip = character.clips[c * character.clips.size() / clips];
    const std::size_t count = std::max<std::size_t>(2, most / clips);
    for (std::size_t k = 0; k < count; ++k)
      moments.push_back({&clip, clip.duration * (static_cast<double>(k) + 0.5) / static_cast<double>(count)});
  }
  return moments;
}

VecX local_acceleration(const CharacterRig& rig, const Rig& rest, const TetMesh& mesh, const ClipMoment& moment) {
  constexpr double step = acceleration_step;
  CharacterPose pose = rig.neutral();
  VecX a = VecX::Zero(3 * rest.vertex_count());
  const double time = std::clamp(moment.time, step, std::max(step, moment.clip->duration - step));
  for (const double k : {-1.0, 1.0, 0.0}) {
    rig.sample(*moment.clip, time + k * step, ClipWrap::hold, pose);
    const std::vector<Vec3> x = evaluate_all(rest, pose.p);
    for (std::size_t v = 0; v < x.size(); ++v)
      a.segment<3>(3 * static_cast<Eigen::Index>(v)) += (k == 0 ? -2 : 1) * (pose.placement * x[v]) / (step * step);
  }
  const std::vector<Eigen::Vector4d> turns = vertex_rotations(mesh, evaluate_all(rest, pose.p));
  for (std::size_t v = 0; v < turns.size(); ++v) {
    auto at = a.segment<3>(3 * static_cast<Eigen::Index>(v));
    at = (pose.placement.rotation * unit_quaternion(turns[v].data())).conjugate() * Vec3(at);
  }
  return a;
}

std::vector<ClipMoment> without_cuts(std::vector<ClipMoment> moments, const CharacterRig& rig, double extent) {
  std::erase_if(moments, [&](const ClipMoment& moment) {
    return ClipMotion(rig, *moment.clip, false, extent)
        .is_cut(moment.time - 1.5 * acceleration_step, moment.time + 1.5 * acceleration_step);
  });
  return moments;
}

ClipAccelerations clip_accelerations(const RawCharacter& character, const CharacterRig& rig, const Rig& rest,
                                     const TetMesh& mesh) {
  const double extent = extent_along(own_axes(rig), mesh.vertices);
  ClipAccelerations result{without_cuts(typical_moments(character, 48), rig, extent), {}};
  result.accelerations.resize(3 * rest.vertex_count(), std::ssize(result.moments));
  parallel_for(std::ssize(result.moments), 1, [&](std::int64_t k) {
    result.accelerations.col(k) = local_acceleration(rig, rest, mesh, result.moments[to_size(k)]);
  });
  return result;
}

}  // namespace supple
