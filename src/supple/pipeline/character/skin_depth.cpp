// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/skin_depth.h"

#include "supple/offline/contact/push_apart.h"

#include <algorithm>

namespace supple {
namespace {

Surface joined_surface(const RawCharacter& character, std::span<const Vec3> positions) {
  Surface joined;
  joined.vertices.assign(positions.begin(), positions.end());
  Index first = 0;
  for (const CharacterMesh& mesh : character.meshes) {
    for (const Triangle& t : mesh.surface.triangles)
      joined.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    first += static_cast<Index>(mesh.surface.vertices.size());
  }
  return joined;
}

}  // namespace

SkinDepth::SkinDepth(const RawCharacter& character, std::span<const Vec3> rest, double slack)
    : welded_(weld(joined_surface(character, rest))), slack_(slack) {
  for (const double depth : buried_depths(welded_.surface, slack)) built_in_.push_back(depth > 0 ? 1 : 0);
}

Surface SkinDepth::posed(std::span<const Vec3> positions) const {
  Surface surface = welded_.surface;
  for (std::size_t v = 0; v < positions.size(); ++v) surface.vertices[to_size(welded_.welded_vertex[v])] = positions[v];
  return surface;
}

std::vector<double> SkinDepth::depths(std::span<const Vec3> positions) const {
  std::vector<double> depths = buried_depths(posed(positions), slack_);
  for (std::size_t v = 0; v < depths.size(); ++v)
    if (built_in_[v] != 0) depths[v] = 0;
  return depths;
}

double SkinDepth::deepest(std::span<const Vec3> positions) const {
  const std::vector<double> all = depths(positions);
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

/// Vertices that are inside, as near to each other as the deepest is deep or on a common edge.
std::vector<char> SkinDepth::around_deepest(const Surface& posed, std::span<const double> depths) const {
  constexpr double near = 1.5;
  const auto most = std::max_element(depths.begin(), depths.end());
  std::vector<std::size_t> inside;
  for (std::size_t v = 0; v < depths.size(); ++v)
    if (depths[v] > 0) inside.push_back(v);
  double edge = 0;  // mean, of the skin
  for (const Triangle& t : posed.triangles)
    edge += (posed.vertices[to_size(t[0])] - posed.vertices[to_size(t[1])]).norm();
  edge /= static_cast<double>(std::max<std::size_t>(1, posed.triangles.size()));
  const double reach = near * std::max(*most, edge);
  std::vector<char> taken(depths.size(), 0);
  std::vector<std::size_t> open = {static_cast<std::size_t>(most - depths.begin())};
  taken[open.front()] = 1;
  while (!open.empty()) {
    const Vec3 x = posed.vertices[open.back()];
    open.pop_back();
    for (const std::size_t v : inside) {
      if (taken[v] != 0 || (posed.vertices[v] - x).norm() > reach) continue;
      taken[v] = 1;
      open.push_back(v);
    }
  }
  return taken;
}

SkinDepth::Place SkinDepth::deepest_place(std::span<const Vec3> positions) const {
  const Surface surface = posed(positions);
  const std::vector<double> all = depths(positions);
  Place place{around_deepest(surface, all), {}};
  std::vector<char> elsewhere = built_in_;
  for (std::size_t v = 0; v < all.size(); ++v)
    if (all[v] > 0 && place.region[v] == 0) elsewhere[v] = 1;
  const std::vector<Vec3> pushes = pushed_apart(surface, slack_, elsewhere);
  for (std::size_t v = 0; v < pushes.size(); ++v)
    if (!pushes[v].isZero(0)) place.region[v] = 1;
  for (const Index v : welded_.welded_vertex) place.pushes.push_back(pushes[to_size(v)]);
  return place;
}

std::vector<double> depths_in_motion(const SoftCharacter& soft, const Clip& clip, ClipRun& run,
                                     std::span<const double> times) {
  const CharacterRig& rig = soft.rig();
  CharacterPose pose = rig.neutral();
  const SkinDepth skin(soft.character(), evaluate_all(*rig.rig(), pose.p), touching_share * height_of(soft.source()));
  std::vector<Vec3> moved(to_size(soft.vertex_count()));
  std::vector<double> depths;
  for (const double time : times) {
    rig.sample(clip, time, ClipWrap::hold, pose);
    std::vector<Vec3> x = evaluate_all(*rig.rig(), pose.p);
    run.in_world(time, moved);
    for (std::size_t v = 0; v < x.size(); ++v) x[v] = pose.placement * x[v] + moved[v];
    depths.push_back(skin.deepest(x));
  }
  return depths;
}

}  // namespace supple
