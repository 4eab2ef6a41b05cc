// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/patches/patches.h"

#include <fmt/format.h>

#include "supple/fem/element.h"
#include "supple/mesh/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Segment = std::array<Vec3, 2>;

std::vector<Segment> segments_of(const PatchHandle& handle) {
  std::vector<Segment> segments = handle.segments;
  for (const Vec3& point : handle.points) segments.push_back({point, point});
  return segments;
}

double distance_to(const Vec3& x, const Segment& segment) {
  const Vec3 d = segment[1] - segment[0];
  const double length2 = d.squaredNorm();
  const double t = length2 > 0 ? std::clamp((x - segment[0]).dot(d) / length2, 0.0, 1.0) : 0.0;
  return (x - segment[0] - t * d).norm();
}

bool apart(const std::array<Vec3, 4>& tet, const Segment& segment) {
  Bounds a, b;
  for (const Vec3& x : tet) a.add(x);
  for (const Vec3& x : segment) b.add(x);
  return (a.min.array() > b.max.array()).any() || (b.min.array() > a.max.array()).any();
}

/// Vertices that one segment takes hold of.
std::vector<Index> touched_vertices(const TetMesh& mesh, const Segment& segment) {
  std::vector<Index> touched;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const std::array<Vec3, 4> corners = element_nodes(mesh, e);
    if (apart(corners, segment) || !crosses(corners, segment[0], segment[1])) continue;
    touched.insert(touched.end(), mesh.elements[e].begin(), mesh.elements[e].end());
  }
  if (!touched.empty()) return touched;
  const auto nearer = [&](const Vec3& a, const Vec3& b) { return distance_to(a, segment) < distance_to(b, segment); };
  const auto nearest = std::min_element(mesh.vertices.begin(), mesh.vertices.end(), nearer);
  return {static_cast<Index>(nearest - mesh.vertices.begin())};
}

VecX remapped(const VecX& weight, double threshold, double decay) {
  VecX result = VecX::Zero(weight.size());
  for (Eigen::Index v = 0; v < weight.size(); ++v)
    if (weight[v] > threshold) result[v] = std::pow(std::min(1.0, (weight[v] - threshold) / (1 - threshold)), decay);
  return result;
}

Status check_handles(std::span<const PatchHandle> handles, std::span<const Index> held) {
  for (std::size_t h = 0; h < handles.size(); ++h) {
    if (handles[h].points.empty() && handles[h].segments.empty())
      return input_error(fmt::format("the patch \"{}\" has nowhere to be; give it joints with skin, points or segments",
                                     handles[h].name));
    if (std::find(held.begin(), held.end(), static_cast<Index>(h)) == held.end())
      return input_error(fmt::format("the patch \"{}\" lies where others are already; move its handle, or leave it out",
                                     handles[h].name));
  }
  return {};
}

}  // namespace

std::vector<Index> handle_vertices(const TetMesh& mesh, std::span<const PatchHandle> handles) {
  std::vector<Index> holder(mesh.vertices.size(), -1);
  std::vector<double> distance(mesh.vertices.size(), infinity);
  for (std::size_t h = 0; h < handles.size(); ++h) {
    for (const Segment& segment : segments_of(handles[h])) {
      for (const Index v : touched_vertices(mesh, segment)) {
        const auto vertex = to_size(v);
        const double own = distance_to(mesh.vertices[vertex], segment);
        if (own >= distance[vertex]) continue;
        distance[vertex] = own;
        holder[vertex] = static_cast<Index>(h);
      }
    }
  }
  return holder;
}

Result<Patches> make_patches(const TetMesh& mesh, std::span<const PatchHandle> handles, const PatchSettings& settings) {
  if (handles.empty() || mesh.vertices.empty()) return failure("a body needs vertices and a handle to have patches");
  const auto count = static_cast<Index>(handles.size());
  Patches result;
  MatX weights = MatX::Ones(std::ssize(mesh.vertices), 1);
  if (count > 1) {
    const std::vector<Index> held = handle_vertices(mesh, handles);
    SUPPLE_RETURN_IF_ERROR(check_handles(handles, held));
    BiharmonicWeights found = bounded_biharmonic_weights(mesh, held, count, settings.solver);
    weights = std::move(found.weights);
    result.report = std::move(found.report);
  }
  const double threshold = std::min(settings.threshold, 0.9 / count);
  for (Index h = 0; h < count; ++h) {
    Patch& patch = result.patches.emplace_back();
    patch.handle = handles[to_size(h)];
    patch.name = patch.handle.name;
    patch.weights = remapped(weights.col(h), threshold, settings.decay);
    for (Eigen::Index v = 0; v < patch.weights.size(); ++v)
      if (patch.weights[v] > 0) patch.vertices.push_back(static_cast<Index>(v));
  }
  return result;
}

// ---- how many modes -------------------------------------------------------------------------------------------------

std::vector<double> patch_importance(const TetMesh& mesh, std::span<const Index> fixed, std::span<const Patch> patches,
                                     const VecX& compliance) {
  VecX volume = tet_laplacian(mesh).volume;
  for (const Index v : fixed) volume[v] = 0;
  if (compliance.size() > 0) volume = volume.cwiseProduct(compliance).eval();
  std::vector<double> importance;
  for (const Patch& patch : patches) importance.push_back(volume.dot(patch.weights));
  std::vector<double> even = importance;
  for (std::size_t k = 0; k < patches.size(); ++k) {
    const std::string other = mirrored_name(patches[k].name);
    for (std::size_t twin = 0; twin < patches.size() && !other.empty(); ++twin)
      if (patches[twin].name == other) even[k] = 0.5 * (importance[k] + importance[twin]);
    even[k] = std::sqrt(even[k]);
  }
  return even;
}

std::vector<int> share_modes(std::span<const double> importance, int total, int least) {
  const auto count = static_cast<int>(importance.size());
  std::vector<int> modes(importance.size(), 0);
  if (count == 0) return modes;
  least = std::min(least, total / count);
  // Classes of what is equally important, the most important first.
  std::vector<std::size_t> order(importance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return importance[a] > importance[b]; });
  std::vector<double> even(importance.begin(), importance.end());
  for (std::size_t k = 1; k < order.size(); ++k)
    if (even[order[k]] >= 0.97 * even[order[k - 1]]) even[order[k]] = even[order[k - 1]];
  const double sum = std::accumulate(even.begin(), even.end(), 0.0);
  const auto wanted = [&](std::size_t k) {
    return sum > 0 ? total * even[k] / sum : static_cast<double>(total) / count;
  };
  // One mode at a time to whoever lacks most; classes of several take one each, or none.
  for (int& m : modes) m = least;
  int left = total - least * count;
  while (left > 0) {
    double most = -infinity;
    std::vector<std::size_t> lucky;
    for (const std::size_t k : order) {
      std::vector<std::size_t> alike;
      for (const std::size_t other : order)
        if (even[other] == even[k]) alike.push_back(other);
      // Sainte-Laguë's rule: seats in proportion, rounded to the nearest.
      const double lack = wanted(k) / (modes[k] + 0.5);
      if (static_cast<int>(alike.size()) > left || lack <= most) continue;
      most = lack;
      lucky = std::move(alike);
    }
    if (lucky.empty()) lucky = {order[0]};
    for (const std::size_t k : lucky) ++modes[k];
    left -= static_cast<int>(lucky.size());
  }
  return modes;
}

}  // namespace supple
