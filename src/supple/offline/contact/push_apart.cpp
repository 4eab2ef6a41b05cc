// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/contact/push_apart.h"

#include "supple/base/parallel.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/edges.h"
#include "supple/mesh/normals.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/winding_number.h"
#include "supple/offline/contact/near_triangles.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr int most_rounds = 64;
constexpr int rounds_between_looks = 8;
constexpr int smoothing_rounds = 3;
constexpr double push_share = 0.6;  ///< of the depth, from either side; smoothing takes some of it away

struct PosedSkin {
  const Surface* surface;
  TriangleTree tree;
  std::vector<Vec3> normals, faces;

  explicit PosedSkin(const Surface& posed)
      : surface(&posed),
        tree(posed),
        normals(vertex_normals(posed.triangles, posed.vertices)),
        faces(triangle_normals(posed)) {}
};

/// The distance from x to the nearest skin that looks towards it from behind: x is under that skin.
double facing_distance(const PosedSkin& skin, const Vec3& x, const Vec3& normal) {
  double best = std::numeric_limits<double>::infinity();
  visit_near_triangles(skin.tree, x, best, [&](std::size_t place, double& reach) {
    const Vec3& face = skin.faces[to_size(skin.tree.triangle(place))];
    if (face.dot(normal) > -0.2) return;
    const auto& [a, b, c] = skin.tree.corners()[place];
    const Vec3 offset = x - nearest_point_of_triangle(x, a, b, c);
    if (offset.dot(face) < 0) reach = best = std::min(best, offset.norm());
  });
  return best;
}

std::vector<Vec3> neighbour_means(std::span<const EdgeUse> uses, const std::vector<Vec3>& values) {
  std::vector<Vec3> sum(values.size(), Vec3::Zero());
  std::vector<int> count(values.size(), 0);
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    const auto a = to_size(edge[0].low), b = to_size(edge[0].high);
    sum[a] += values[b];
    sum[b] += values[a];
    ++count[a];
    ++count[b];
  });
  for (std::size_t v = 0; v < values.size(); ++v) sum[v] = count[v] > 0 ? Vec3(sum[v] / count[v]) : values[v];
  return sum;
}

void smooth_over_edges(std::span<const EdgeUse> uses, std::vector<Vec3>& values) {
  for (int round = 0; round < smoothing_rounds; ++round) {
    const std::vector<Vec3> means = neighbour_means(uses, values);
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = 0.5 * (values[v] + means[v]);
  }
}

/// How much of each vertex is to be drawn taut: those in the bottom of a fold face nowhere, so pushing them along
/// their normals doesn't help.
std::vector<Vec3> taut(std::span<const EdgeUse> uses, const std::vector<double>& depths, const std::vector<Vec3>& x) {
  std::vector<Vec3> share(x.size(), Vec3::Zero());
  for (std::size_t v = 0; v < x.size(); ++v)
    if (depths[v] > 0) share[v].setOnes();
  smooth_over_edges(uses, share);
  std::vector<Vec3> pull = neighbour_means(uses, x);
  for (std::size_t v = 0; v < x.size(); ++v) pull[v] = 0.5 * share[v].cwiseProduct(pull[v] - x[v]);
  return pull;
}

template <class Wanted>
std::vector<double> depths_of(const Surface& posed, double slack, const Wanted& wanted) {
  const PosedSkin skin(posed);
  const WindingNumber winding(skin.tree);
  std::vector<double> depths(posed.vertices.size(), 0.0);
  parallel_for(static_cast<std::int64_t>(depths.size()), 256, [&](std::int64_t i) {
    const auto v = to_size(i);
    const Vec3& x = posed.vertices[v];
    if (!wanted(v) || winding(x + slack * skin.normals[v]) < 0.5) return;
    const double distance = facing_distance(skin, x, skin.normals[v]);
    if (std::isfinite(distance) && distance > slack) depths[v] = distance;
  });
  return depths;
}

}  // namespace

std::vector<double> buried_depths(const Surface& posed, double slack) {
  return depths_of(posed, slack, [](std::size_t) { return true; });
}

std::vector<Vec3> pushed_apart(const Surface& posed, double slack, std::span<const char> ignored) {
  Surface moved = posed;
  const std::vector<EdgeUse> uses = sorted_edge_uses(posed.triangles);
  std::vector<char> touched(posed.vertices.size(), 0);
  for (int round = 0; round < most_rounds; ++round) {
    // Contact spreads slowly, so most rounds look only where there was some.
    const bool everywhere = round % rounds_between_looks == 0;
    const std::vector<double> depths = depths_of(
        moved, slack, [&](std::size_t v) { return (everywhere || touched[v]) && (ignored.empty() || !ignored[v]); });
    const bool apart = *std::max_element(depths.begin(), depths.end()) == 0;
    if (apart && everywhere) break;
    if (apart) {
      round += rounds_between_looks - 1 - round % rounds_between_looks;
      continue;
    }
    const std::vector<Vec3> normals = vertex_normals(moved.triangles, moved.vertices);
    std::vector<Vec3> push(depths.size(), Vec3::Zero());
    for (std::size_t v = 0; v < push.size(); ++v) push[v] = -push_share * depths[v] * normals[v];
    smooth_over_edges(uses, push);
    const std::vector<Vec3> pull = taut(uses, depths, moved.vertices);
    for (std::size_t v = 0; v < push.size(); ++v) {
      moved.vertices[v] += push[v] + pull[v];
      touched[v] = touched[v] || !push[v].isZero(0);
    }
  }
  for (std::size_t v = 0; v < posed.vertices.size(); ++v) moved.vertices[v] -= posed.vertices[v];
  return std::move(moved.vertices);
}

PoseCorrection contact_correction(const Rig& rig, const Surface& neutral, std::vector<double> p, double slack) {
  const double depth = slack * bounds_of(neutral.vertices).size().maxCoeff();
  const WeldedSurface welded = weld(neutral);
  const std::vector<double> buried = buried_depths(welded.surface, depth);
  std::vector<char> ignored(buried.size());
  std::transform(buried.begin(), buried.end(), ignored.begin(), [](double d) { return d > 0 ? 1 : 0; });
  Surface posed = welded.surface;
  const std::vector<Vec3> x = evaluate_all(rig, p);
  for (std::size_t v = 0; v < x.size(); ++v) posed.vertices[to_size(welded.welded_vertex[v])] = x[v];
  const std::vector<Vec3> pushes = pushed_apart(posed, depth, ignored);
  PoseCorrection correction{std::move(p), {}};
  for (const Index v : welded.welded_vertex) correction.displacements.push_back(pushes[to_size(v)]);
  return correction;
}

}  // namespace supple
