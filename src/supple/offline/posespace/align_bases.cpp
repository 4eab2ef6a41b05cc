// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/align_bases.h"

#include "supple/math/procrustes.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Cholesky>

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

}  // namespace

double subspace_angle(const VecX& angles) {
  return angles.size() > 0 ? std::acos(std::sqrt(angles.array().cos().square().mean())) : 0;
}

BasisAlignment align_bases(const BlockMatrix& mass, const PoseLayout& layout, std::span<const int> region_sizes,
                           std::span<PoseBasis> poses, std::span<MatX> stiffness) {
  BasisAlignment result{std::vector<int>(poses.size(), -1), std::vector<VecX>(poses.size())};
  const Eigen::Index all = poses.front().basis.cols();
  std::vector<int> sizes(region_sizes.begin(), region_sizes.end());
  if (sizes.empty()) sizes.push_back(static_cast<int>(all));
  const auto compliance = [&](std::size_t pose, Eigen::Index first, Eigen::Index size) -> MatX {
    return stiffness[pose].block(first, first, size, size).llt().solve(MatX::Identity(size, size));
  };
  for (const auto& [pose, parent] : tree_of(layout, poses)) {
    result.parent[pose] = parent;
    if (parent < 0) continue;
    const MatX target = multiply_columns(mass, poses[static_cast<std::size_t>(parent)].basis);
    MatX turn = MatX::Zero(all, all);
    VecX& angles = result.angles[pose];
    angles.resize(all);
    Eigen::Index first = 0;
    for (const int size : sizes) {
      const MatX overlap = poses[pose].basis.middleCols(first, size).transpose() * target.middleCols(first, size);
      Procrustes fit = align_subspaces(overlap);
      angles.segment(first, size) = angles_of(fit.cosines);
      if (!stiffness.empty())
        fit = align_subspaces(compliance(pose, first, size) * overlap *
                              compliance(static_cast<std::size_t>(parent), first, size));
      turn.block(first, first, size, size) = fit.rotation;
      first += size;
    }
    poses[pose].basis = (poses[pose].basis * turn).eval();
    if (!stiffness.empty()) stiffness[pose] = (turn.transpose() * stiffness[pose] * turn).eval();
    std::sort(angles.begin(), angles.end());
  }
  return result;
}

}  // namespace supple
