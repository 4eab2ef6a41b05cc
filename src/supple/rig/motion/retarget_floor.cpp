// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/retarget_floor.h"

#include "supple/rig/character_rig.h"

#include <Eigen/LU>

#include <algorithm>
#include <limits>

namespace supple {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double quantile(std::span<const double> values, double part) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto k = static_cast<std::ptrdiff_t>(part * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + k, sorted.end());
  return sorted[to_size(k)];
}

/// What `pick` makes of the values within `reach` of each time.
template <class Pick>
std::vector<double> over_windows(std::span<const double> times, std::span<const double> values, double reach,
                                 Pick pick) {
  std::vector<double> result(values.size());
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    while (times[first] < times[k] - reach) ++first;
    while (last < values.size() && times[last] <= times[k] + reach) ++last;
    result[k] = pick(values.subspan(first, last - first));
  }
  return result;
}

double lowest(std::span<const double> values) { return *std::min_element(values.begin(), values.end()); }
double highest(std::span<const double> values) { return *std::max_element(values.begin(), values.end()); }

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// The joint that has most say over each vertex of a mesh.
Index leading_joint(const RawCharacter& character, const CharacterMesh& mesh, std::size_t vertex) {
  if (mesh.skin < 0) return mesh.node;
  const auto first = to_size(mesh.weights.first[vertex]);
  const auto last = to_size(mesh.weights.first[vertex + 1]);
  const auto begin = mesh.weights.weight.begin();
  const auto most =
      std::max_element(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last));
  if (first == last) return mesh.node;
  const Index bone = mesh.weights.joint[to_size(most - begin)];
  return character.skins[to_size(mesh.skin)].joints[to_size(bone)];
}

SolePoint attach(Index joint, const Vec3& x, const std::vector<Affine>& world) {
  return {joint, world[to_size(joint)].inverse() * x};
}

/// The lower half of a foot will do; the rest never touches the floor first.
void drop_instep(std::vector<SolePoint>& sole, const std::vector<Affine>& world, const Vec3& up) {
  const auto height = [&](const SolePoint& point) { return lowest_point({&point, 1}, world, up); };
  double low = infinity;
  double high = -infinity;
  for (const SolePoint& point : sole) {
    low = std::min(low, height(point));
    high = std::max(high, height(point));
  }
  std::erase_if(sole, [&](const SolePoint& point) { return height(point) > (low + high) / 2; });
}

}  // namespace

Soles soles_of(const Skeleton& skeleton, const BodyJoints& body, const std::vector<Affine>& standing, const Vec3& up) {
  const auto place = [&](Index joint) -> Vec3 { return standing[to_size(joint)].translation(); };
  std::array<std::vector<Index>, 2> feet;
  double floor = infinity;
  for (std::size_t side = 0; side < 2; ++side) {
    for (Index j = 0; j < skeleton.size(); ++j) {
      if (!is_ancestor(skeleton, body.legs[side].third, j)) continue;
      feet[side].push_back(j);
      floor = std::min(floor, place(j).dot(up));
    }
  }
  Soles soles;
  for (std::size_t side = 0; side < 2; ++side) {
    for (const Index j : feet[side]) {
      const Vec3 under = place(j) + (floor - place(j).dot(up)) * up;
      // The ball of the foot stays down when the heel comes up, and the toes when they bend: it belongs to both bones.
      soles[side].push_back(attach(j, under, standing));
      if (j != body.legs[side].third)
        soles[side].push_back(attach(skeleton.joints[to_size(j)].parent, under, standing));
    }
  }
  return soles;
}

Soles soles_of(const RawCharacter& character) {
  const Skeleton& skeleton = character.skeleton;
  const BodyJoints body = find_body(joint_roles(skeleton));
  const Result<CharacterRig> rig = CharacterRig::create(character);
  if (!body.stands() || !rig.ok()) return {};
  const CharacterPose neutral = rig->neutral();
  const std::vector<Vec3> skin = evaluate_all(*rig->rig(), neutral.p);
  const std::vector<Affine> world = world_matrices(skeleton, rest_pose(skeleton));
  Soles soles;
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    const CharacterMesh& mesh = character.meshes[m];
    for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
      const Index joint = leading_joint(character, mesh, v);
      for (std::size_t side = 0; side < 2; ++side) {
        if (!is_ancestor(skeleton, body.legs[side].third, joint)) continue;
        const Vec3 x = neutral.placement * skin[to_size(rig->first_vertex()[m]) + v];
        soles[side].push_back(attach(joint, x, world));
      }
    }
  }
  for (std::vector<SolePoint>& sole : soles) drop_instep(sole, world, body_axes(body, world).up());
  return soles;
}

double lowest_point(std::span<const SolePoint> sole, const std::vector<Affine>& world, const Vec3& up) {
  double low = infinity;
  for (const SolePoint& point : sole) low = std::min(low, (world[to_size(point.joint)] * point.local).dot(up));
  return low;
}

double low_height(std::span<const double> heights) { return quantile(heights, 0.05); }

std::vector<double> find_floor(std::span<const double> times, std::span<const double> heights, double leg,
                               const FloorSettings& settings) {
  const double level = low_height(heights);
  const double reach = settings.window / 2;
  const std::vector<double> eroded = over_windows(times, heights, reach, lowest);
  std::vector<double> floor = over_windows(times, eroded, reach, highest);
  const double drift = quantile(floor, 0.95) - quantile(floor, 0.05);
  if (!settings.level || drift < 0.08 * leg || drift > 0.5 * leg) return std::vector<double>(heights.size(), level);
  // Two means in a row make it smooth enough not to jerk who stands on it.
  for (int pass = 0; pass < 2; ++pass) floor = over_windows(times, floor, reach / 4, mean);
  return floor;
}

}  // namespace supple
