// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/liveliest_clips.h"

#include "supple/base/parallel.h"
#include "supple/rig/motion/clip_motion.h"
#include "supple/runtime/flesh_drive.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

constexpr double step = 1.0 / 60, most_seconds = 4;
constexpr std::size_t most_vertices = 300;

std::vector<Index> spread_vertices(Index all) {
  const std::size_t count = std::min(most_vertices, to_size(all));
  std::vector<Index> some;
  for (std::size_t k = 0; k < count; ++k) some.push_back(static_cast<Index>(k * to_size(all) / count));
  return some;
}

struct ShakenVertex {
  Vec3 last = Vec3::Zero(), before = Vec3::Zero();
  SpringMass sway;
};

/// The mean square of how far the masses sway [m²].
double liveliness(const CharacterRig& rig, const Clip& clip, double frequency, double height) {
  const ClipMotion motion(rig, clip, closes(rig, clip), height);
  const std::vector<Index> vertices = spread_vertices(rig.rig()->vertex_count());
  const auto workspace = rig.rig()->make_workspace(static_cast<Index>(vertices.size()));
  std::vector<ShakenVertex> shaken(vertices.size());
  std::vector<Vec3> x(vertices.size());
  CharacterPose pose = rig.neutral();
  constexpr double damping = 0.2;
  const double omega = 2 * std::numbers::pi * frequency;
  const double end =
      motion.loops() ? motion.start() + most_seconds : std::min(clip.duration, motion.start() + most_seconds);
  double squares = 0;
  int known = 0, count = 0;
  for (double time = motion.start(); time <= end + 1e-9; time += step, ++count) {
    if (count > 0 && motion.is_cut(time - step, time)) known = 0;
    motion.sample(time, pose);
    rig.rig()->evaluate(pose.p, vertices, x, *workspace);
    for (std::size_t k = 0; k < x.size(); ++k) {
      ShakenVertex& at = shaken[k];
      const Vec3 place = pose.placement * x[k];
      if (known == 0) at = {};
      if (known >= 2) at.sway.step((place - 2 * at.last + at.before) / (step * step), omega, damping, step);
      at.before = at.last, at.last = place;
      squares += at.sway.place.squaredNorm();
    }
    known = std::min(known + 1, 2);
  }
  return squares / std::max(1.0, static_cast<double>(count) * static_cast<double>(x.size()));
}

}  // namespace

std::vector<Index> liveliest_clips(const RawCharacter& character, const CharacterRig& rig, double frequency,
                                   double height, std::size_t most) {
  std::vector<double> lively(character.clips.size());
  parallel_for(std::ssize(lively), 1, [&](std::int64_t c) {
    lively[to_size(c)] = liveliness(rig, character.clips[to_size(c)], frequency, height);
  });
  std::vector<Index> order(lively.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return lively[to_size(a)] > lively[to_size(b)]; });
  order.resize(std::min(order.size(), most));
  return order;
}

}  // namespace supple
