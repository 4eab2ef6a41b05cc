// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/align_bases.h"

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/math/procrustes.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Cholesky>
#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple {
namespace {

/// Poses in the order in which they find their parents.
std::vector<std::pair<std::size_t, int>> tree_of(const PoseLayout& layout, std::span<const PoseBasis> poses) {
  std::vector<std::pair<std::size_t, int>> order = {{0, -1}};
  std::vector<char> connected(poses.size(), 0);
  connected[0] = 1;
  while (order.size() < poses.size()) {
    double nearest = std::numeric_limits<double>::infinity();
    std::pair<std::size_t, int> next{0, -1};
    for (std::size_t i = 0; i < poses.size(); ++i) {
      for (std::size_t j = 0; j < poses.size(); ++j) {
        if (!connected[i] || connected[j]) continue;
        const double distance = pose_distance(layout, poses[i].p, poses[j].p);
        if (distance < nearest) nearest = distance, next = {j, static_cast<int>(i)};
      }
    }
    connected[next.first] = 1;
    order.push_back(next);
  }
  return order;
}

VecX angles_of(const VecX& cosines) { return cosines.cwiseMax(-1.0).cwiseMin(1.0).array().acos(); }

/// Columns of a region.
struct Columns {
  Eigen::Index first = 0, count = 0;
};

std::vector<Columns> region_columns(std::span<const int> sizes, Eigen::Index all) {
  std::vector<Columns> result;
  Eigen::Index first = 0;
  for (const int size : sizes) result.push_back({first, size}), first += size;
  if (result.empty()) result.push_back({0, all});
  return result;
}

class Aligner {
 public:
  Aligner(const BlockMatrix& mass, std::span<const int> region_sizes, std::span<PoseBasis> poses,
          std::span<MatX> stiffness, const SharingRule& sharing)
      : mass_(mass),
        regions_(region_columns(region_sizes, poses.front().basis.cols())),
        poses_(poses),
        stiffness_(stiffness),
        sharing_(sharing),
        weighed_(poses.size()) {}

  /// Returns the angles to the parent's directions.
  VecX align(std::size_t pose, std::size_t parent) {
    VecX angles(poses_[pose].basis.cols());
    for (const Columns& region : regions_) {
      const MatX met = overlap(pose, parent, region);
      angles.segment(region.first, region.count) = angles_of(align_subspaces(met).cosines);
      if (!take_over(pose, region)) turn(pose, parent, region, met);
    }
    std::sort(angles.begin(), angles.end());
    finish(pose);
    return angles;
  }
  /// The pose is as it stays.
  void finish(std::size_t pose) {
    weighed_[pose] = multiply_columns(mass_, poses_[pose].basis);
    placed_.push_back(pose);
  }

 private:
  auto part(MatX& matrix, const Columns& region) const {
    return matrix.block(region.first, region.first, region.count, region.count);
  }
  auto basis(std::size_t pose, const Columns& region) const {
    return poses_[pose].basis.middleCols(region.first, region.count);
  }
  MatX overlap(std::size_t pose, std::size_t other, const Columns& region) const {
    return basis(pose, region).transpose() * weighed_[other].middleCols(region.first, region.count);
  }
  MatX compliance(std::size_t pose, const Columns& region) const {
    return part(stiffness_[pose], region).llt().solve(MatX::Identity(region.count, region.count));
  }

  void turn(std::size_t pose, std::size_t parent, const Columns& region, const MatX& met) {
    const bool weighted = !stiffness_.empty();
    const MatX Q =
        align_subspaces(weighted ? MatX(compliance(pose, region) * met * compliance(parent, region)) : met).rotation;
    basis(pose, region) = (basis(pose, region) * Q).eval();
    if (!weighted) return;
    auto rows = stiffness_[pose].middleRows(region.first, region.count);
    rows = (Q.transpose() * rows).eval();
    auto columns = stiffness_[pose].middleCols(region.first, region.count);
    columns = (columns * Q).eval();
  }

  bool touches(std::size_t pose, const Columns& region) const {
    if (pose >= sharing_.contacts.size()) return false;
    const SparseConstraints& contacts = sharing_.contacts[pose];
    for (Eigen::Index row = 0; row < contacts.outerSize(); ++row)
      for (SparseConstraints::InnerIterator entry(contacts, row); entry; ++entry)
        if ((basis(pose, region).middleRows(entry.col() / 3 * 3, 3).array() != 0).any()) return true;
    return false;
  }

  /// The nearest of the bases that the poses so far have there, if it is near enough.
  bool take_over(std::size_t pose, const Columns& region) {
    if (sharing_.angle <= 0 || touches(pose, region)) return false;
    double nearest = sharing_.angle;
    std::size_t source = pose;
    for (const std::size_t other : placed_) {
      if (!poses_[other].sources.empty() &&
          poses_[other].sources[static_cast<std::size_t>(region.first)] != static_cast<Index>(other))
        continue;
      const double angle = subspace_angle(angles_of(align_subspaces(overlap(pose, other, region)).cosines));
      if (angle < nearest) nearest = angle, source = other;
    }
    if (source == pose) return false;
    basis(pose, region) = basis(source, region);
    if (!stiffness_.empty()) part(stiffness_[pose], region) = part(stiffness_[source], region);
    std::vector<Index>& sources = poses_[pose].sources;
    sources.resize(static_cast<std::size_t>(poses_[pose].basis.cols()), static_cast<Index>(pose));
    std::fill_n(sources.begin() + region.first, region.count, static_cast<Index>(source));
    return true;
  }

  const BlockMatrix& mass_;
  std::vector<Columns> regions_;
  std::span<PoseBasis> poses_;
  std::span<MatX> stiffness_;
  const SharingRule& sharing_;
  std::vector<MatX> weighed_;        ///< M Û of poses that have their place …
  std::vector<std::size_t> placed_;  ///< … which are these
};

}  // namespace

double subspace_angle(const VecX& angles) {
  return angles.size() > 0 ? std::acos(std::sqrt(angles.array().cos().square().mean())) : 0;
}

BasisAlignment align_bases(const BlockMatrix& mass, const PoseLayout& layout, std::span<const int> region_sizes,
                           std::span<PoseBasis> poses, std::span<MatX> stiffness, const SharingRule& sharing) {
  BasisAlignment result{std::vector<int>(poses.size(), -1), std::vector<VecX>(poses.size())};
  Aligner aligner(mass, region_sizes, poses, stiffness, sharing);
  for (const auto& [pose, parent] : tree_of(layout, poses)) {
    result.parent[pose] = parent;
    if (parent < 0)
      aligner.finish(pose);
    else
      result.angles[pose] = aligner.align(pose, static_cast<std::size_t>(parent));
  }
  return result;
}

void share_gradients(const TetMesh& mesh, BasisDirections directions, std::span<const int> region_sizes,
                     std::span<const MatX> stiffness, double difference, std::span<PoseBasis> poses) {
  const std::vector<Columns> regions = region_columns(region_sizes, poses.front().basis.cols());
  const auto all = static_cast<std::size_t>(poses.front().basis.cols());
  const VecX reach = stiffness.front().diagonal().cwiseSqrt().cwiseInverse();
  parallel_for(std::ssize(poses), 1, [&](std::int64_t number) {
    const auto i = static_cast<std::size_t>(number);
    PoseBasis& pose = poses[i];
    if (pose.sources.empty()) return;
    pose.gradient_sources.assign(all, static_cast<Index>(i));
    VecX different = VecX::Zero(std::ssize(regions)), size = different;
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
      const double volume = element_shape(element_nodes(mesh, e)).volume();
      const MatX own = element_gradient(mesh, e, pose, directions) * reach.asDiagonal();
      for (std::size_t k = 0; k < regions.size(); ++k) {
        const auto source = static_cast<std::size_t>(pose.sources[static_cast<std::size_t>(regions[k].first)]);
        if (source == i) continue;
        const auto part = own.middleCols(regions[k].first, regions[k].count);
        const MatX other = column_gradient(mesh, e, poses[source], directions, regions[k].first, regions[k].count) *
                           reach.segment(regions[k].first, regions[k].count).asDiagonal();
        different[static_cast<Eigen::Index>(k)] += volume * (part - other).squaredNorm();
        size[static_cast<Eigen::Index>(k)] += volume * other.squaredNorm();
      }
    }
    for (std::size_t k = 0; k < regions.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      if (different[at] < difference * difference * size[at])
        std::copy_n(pose.sources.begin() + regions[k].first, regions[k].count,
                    pose.gradient_sources.begin() + regions[k].first);
    }
  });
}

}  // namespace supple
