// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/handle_weights.h"

#include <fmt/format.h>

#include "supple/mesh/embedding.h"
#include "supple/mesh/triangle_tree.h"
#include "supple/offline/patches/patches.h"

#include <algorithm>

namespace supple {
namespace {

/// Weights below this are left out: a thousandth of a joint's motion is less than bakes keep.
constexpr double least_weight = 1e-3;

/// Barycentric coordinates of a point of the triangle; thirds where it is flat.
Vec3 corner_shares(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 normal = (b - a).cross(c - a);
  const double area2 = normal.squaredNorm();
  if (!(area2 > 0)) return Vec3::Constant(1.0 / 3);
  const Vec3 shares((b - x).cross(c - x).dot(normal), (c - x).cross(a - x).dot(normal),
                    (a - x).cross(b - x).dot(normal));
  const Vec3 inside = (shares / area2).cwiseMax(0.0);
  return inside / inside.sum();
}

double distance_to(const Handle& handle, const Vec3& x) {
  const Vec3 d = handle.tail - handle.head;
  const double length2 = d.squaredNorm();
  const double t = length2 > 0 ? std::clamp((x - handle.head).dot(d) / length2, 0.0, 1.0) : 0.0;
  return (x - handle.head - t * d).norm();
}

Index nearest_handle(const HandleRig& rig, const Vec3& x) {
  const auto nearer = [&](const Handle& a, const Handle& b) { return distance_to(a, x) < distance_to(b, x); };
  return static_cast<Index>(std::min_element(rig.handles.begin(), rig.handles.end(), nearer) - rig.handles.begin());
}

}  // namespace

Result<MatX> weights_from_tets(const TetMesh& mesh, const MatX& weights, std::span<const Vec3> points) {
  const Result<Embedding> embedding = embed(mesh, points);
  SUPPLE_RETURN_IF_ERROR(embedding);
  MatX result = MatX::Zero(static_cast<Eigen::Index>(points.size()), weights.cols());
  for (std::size_t v = 0; v < points.size(); ++v) {
    for (std::size_t k = 0; k < 4; ++k) {
      // Outside of all elements a share may be negative; weights never are.
      const double share = std::max(embedding->weights[4 * v + k], 0.0);
      result.row(static_cast<Eigen::Index>(v)) += share * weights.row(embedding->vertices[4 * v + k]);
    }
  }
  return result;
}

MatX weights_from_surface(const Surface& surface, const MatX& weights, std::span<const Vec3> points) {
  const TriangleTree tree(surface);
  MatX result(static_cast<Eigen::Index>(points.size()), weights.cols());
  for (std::size_t v = 0; v < points.size(); ++v) {
    const TriangleTree::Nearest near = tree.nearest(points[v]);
    const Triangle& t = surface.triangles[to_size(near.triangle)];
    const auto at = [&](std::size_t k) -> const Vec3& { return surface.vertices[to_size(t[k])]; };
    const Vec3 shares = corner_shares(near.point, at(0), at(1), at(2));
    result.row(static_cast<Eigen::Index>(v)) =
        shares[0] * weights.row(t[0]) + shares[1] * weights.row(t[1]) + shares[2] * weights.row(t[2]);
  }
  return result;
}

Result<MatX> biharmonic_weights(const TetMesh& mesh, const HandleRig& rig, const std::string& name) {
  std::vector<PatchHandle> handles;
  for (const Handle& handle : rig.handles) {
    PatchHandle& made = handles.emplace_back();
    made.name = handle.name;
    if (handle.bone)
      made.segments.push_back({handle.head, handle.tail});
    else
      made.points.push_back(handle.head);
  }
  const std::vector<Index> held = handle_vertices(mesh, handles);
  for (std::size_t h = 0; h < handles.size(); ++h) {
    if (std::find(held.begin(), held.end(), static_cast<Index>(h)) != held.end()) continue;
    return input_error(
        fmt::format("{}: \"{}\" is so near to other handles that no vertex of the body is its own, so it "
                    "can't be given weights; give \"weights\", or a finer body",
                    name, handles[h].name));
  }
  return bounded_biharmonic_weights(mesh, held, rig.size()).weights;
}

SkinWeights skin_weights(const MatX& weights, std::span<const Vec3> points, const HandleRig& rig, std::size_t& lost) {
  SkinWeights skin;
  skin.first.push_back(0);
  lost = 0;
  for (std::size_t v = 0; v < points.size(); ++v) {
    const VecX row = weights.row(static_cast<Eigen::Index>(v)).cwiseMax(0.0).transpose();
    const double least = least_weight * row.sum();
    double sum = 0;
    for (Index h = 0; h < rig.size(); ++h) sum += row[h] > least ? row[h] : 0.0;
    if (sum > 0) {
      for (Index h = 0; h < rig.size(); ++h) {
        if (!(row[h] > least)) continue;
        skin.joint.push_back(h);
        skin.weight.push_back(row[h] / sum);
      }
    } else {
      skin.joint.push_back(nearest_handle(rig, points[v]));
      skin.weight.push_back(1);
      ++lost;
    }
    skin.first.push_back(static_cast<Index>(skin.joint.size()));
  }
  return skin;
}

}  // namespace supple
