// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/align_bases.h"

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/math/dense/decompositions.h"
#include "supple/offline/modes/mass_pca.h"

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

/// Columns of a patch.
struct Columns {
  Eigen::Index first = 0, count = 0;
};

std::vector<Columns> patch_columns(std::span<const int> sizes, Eigen::Index all) {
  std::vector<Columns> result;
  Eigen::Index first = 0;
  for (const int size : sizes) result.push_back({first, size}), first += size;
  if (result.empty()) result.push_back({0, all});
  return result;
}

class Aligner {
 public:
  Aligner(const BlockMatrix& mass, std::span<const int> patch_sizes, std::span<PoseBasis> poses,
          std::span<MatX> stiffness, const SharingRule& sharing)
      : mass_(mass),
        patches_(patch_columns(patch_sizes, poses.front().basis.cols())),
        poses_(poses),
        stiffness_(stiffness),
        sharing_(sharing),
        weighed_(poses.size()) {}

  /// Returns the angles to the parent's directions.
  VecX align(std::size_t pose, std::size_t parent) {
    VecX angles(poses_[pose].basis.cols());
    for (const Columns& patch : patches_) {
      const MatX met = overlap(pose, parent, patch);
      angles.segment(patch.first, patch.count) = angles_of(align_subspaces(met).cosines);
      if (!take_over(pose, patch)) turn(pose, parent, patch, met);
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
  auto part(MatX& matrix, const Columns& patch) const {
    return matrix.block(patch.first, patch.first, patch.count, patch.count);
  }
  auto basis(std::size_t pose, const Columns& patch) const {
    return poses_[pose].basis.middleCols(patch.first, patch.count);
  }
  MatX overlap(std::size_t pose, std::size_t other, const Columns& patch) const {
    return basis(pose, patch).transpose() * weighed_[other].middleCols(patch.first, patch.count);
  }
  MatX compliance(std::size_t pose, const Columns& patch) const {
    return PositiveFactor(part(stiffness_[pose], patch)).solve(MatX(MatX::Identity(patch.count, patch.count)));
  }

  void turn(std::size_t pose, std::size_t parent, const Columns& patch, const MatX& met) {
    const bool weighted = !stiffness_.empty();
    const MatX Q =
        align_subspaces(weighted ? MatX(compliance(pose, patch) * met * compliance(parent, patch)) : met).rotation;
    basis(pose, patch) = (basis(pose, patch) * Q).eval();
    if (!weighted) return;
    auto rows = stiffness_[pose].middleRows(patch.first, patch.count);
    rows = (Q.transpose() * rows).eval();
    auto columns = stiffness_[pose].middleCols(patch.first, patch.count);
    columns = (columns * Q).eval();
  }

  bool touches(std::size_t pose, const Columns& patch) const {
    if (pose >= sharing_.contacts.size()) return false;
    const SparseConstraints& contacts = sharing_.contacts[pose];
    for (Eigen::Index row = 0; row < contacts.outerSize(); ++row)
      for (SparseConstraints::InnerIterator entry(contacts, row); entry; ++entry)
        if ((basis(pose, patch).middleRows(entry.col() / 3 * 3, 3).array() != 0).any()) return true;
    return false;
  }

  /// The nearest of the bases that the poses so far have there, if it is near enough.
  bool take_over(std::size_t pose, const Columns& patch) {
    if (sharing_.angle <= 0 || touches(pose, patch)) return false;
    double nearest = sharing_.angle;
    std::size_t source = pose;
    for (const std::size_t other : placed_) {
      if (!poses_[other].sources.empty() && poses_[other].sources[to_size(patch.first)] != static_cast<Index>(other))
        continue;
      const double angle = subspace_angle(angles_of(align_subspaces(overlap(pose, other, patch)).cosines));
      if (angle < nearest) nearest = angle, source = other;
    }
    if (source == pose) return false;
    basis(pose, patch) = basis(source, patch);
    if (!stiffness_.empty()) part(stiffness_[pose], patch) = part(stiffness_[source], patch);
    std::vector<Index>& sources = poses_[pose].sources;
    sources.resize(to_size(poses_[pose].basis.cols()), static_cast<Index>(pose));
    std::fill_n(sources.begin() + patch.first, patch.count, static_cast<Index>(source));
    return true;
  }

  const BlockMatrix& mass_;
  std::vector<Columns> patches_;
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

BasisAlignment align_bases(const BlockMatrix& mass, const PoseLayout& layout, std::span<const int> patch_sizes,
                           std::span<PoseBasis> poses, std::span<MatX> stiffness, const SharingRule& sharing) {
  BasisAlignment result{std::vector<int>(poses.size(), -1), std::vector<VecX>(poses.size())};
  Aligner aligner(mass, patch_sizes, poses, stiffness, sharing);
  for (const auto& [pose, parent] : tree_of(layout, poses)) {
    result.parent[pose] = parent;
    if (parent < 0)
      aligner.finish(pose);
    else
      result.angles[pose] = aligner.align(pose, to_size(parent));
  }
  return result;
}

void share_gradients(const TetMesh& mesh, BasisDirections directions, std::span<const int> patch_sizes,
                     std::span<const MatX> stiffness, double difference, std::span<PoseBasis> poses) {
  const std::vector<Columns> patches = patch_columns(patch_sizes, poses.front().basis.cols());
  const auto all = to_size(poses.front().basis.cols());
  const VecX reach = stiffness.front().diagonal().cwiseSqrt().cwiseInverse();
  parallel_for(std::ssize(poses), 1, [&](std::int64_t number) {
    const auto i = to_size(number);
    PoseBasis& pose = poses[i];
    if (pose.sources.empty()) return;
    pose.gradient_sources.assign(all, static_cast<Index>(i));
    VecX different = VecX::Zero(std::ssize(patches)), size = different;
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
      const double volume = element_shape(element_nodes(mesh, e)).volume();
      const MatX own = element_gradient(mesh, e, pose, directions) * reach.asDiagonal();
      for (std::size_t k = 0; k < patches.size(); ++k) {
        const auto source = to_size(pose.sources[to_size(patches[k].first)]);
        if (source == i) continue;
        const auto part = own.middleCols(patches[k].first, patches[k].count);
        const MatX other = column_gradient(mesh, e, poses[source], directions, patches[k].first, patches[k].count) *
                           reach.segment(patches[k].first, patches[k].count).asDiagonal();
        different[static_cast<Eigen::Index>(k)] += volume * (part - other).squaredNorm();
        size[static_cast<Eigen::Index>(k)] += volume * other.squaredNorm();
      }
    }
    for (std::size_t k = 0; k < patches.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      if (different[at] < difference * difference * size[at])
        std::copy_n(pose.sources.begin() + patches[k].first, patches[k].count,
                    pose.gradient_sources.begin() + patches[k].first);
    }
  });
}

}  // namespace supple
