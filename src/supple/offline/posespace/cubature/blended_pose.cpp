// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/cubature/blended_pose.h"

#include "supple/offline/modes/mass_pca.h"

#include <algorithm>
#include <limits>

namespace supple {

BlendedPose::BlendedPose(const KnownPoses& known, const PoseSpaceWeights& weights, std::vector<double> p)
    : known_(known) {
  std::vector<double> w(known.poses.size()), scratch = w;
  weights.evaluate(p, w, scratch);
  weights_ = Eigen::Map<const VecX>(w.data(), std::ssize(w));
  pose_.positions = evaluate_all(known.rest, p);
  pose_.p = std::move(p);
  pose_.basis = MatX::Zero(known.poses.front().basis.rows(), known.poses.front().basis.cols());
  for (std::size_t i = 0; i < w.size(); ++i) pose_.basis += w[i] * known.poses[i].basis;
  scale_ = mass_norms(known.body.consistent_mass(), pose_.basis).cwiseMax(0.01).cwiseInverse();
  pose_.basis = pose_.basis * scale_.asDiagonal();
  blend_materials();
}

void BlendedPose::blend_materials() {
  const auto has_own = [](const PoseBasis& pose) { return !pose.materials.empty(); };
  if (std::none_of(known_.poses.begin(), known_.poses.end(), has_own)) return;
  for (std::size_t e = 0; e < known_.mesh.elements.size(); ++e) {
    ElasticMaterial mean = known_.mesh.material_of(e);
    double mu = 0, lambda = 0;
    for (std::size_t i = 0; i < known_.poses.size(); ++i) {
      const PoseBasis& pose = known_.poses[i];
      const ElasticMaterial& own = has_own(pose) ? pose.materials[e] : known_.mesh.material_of(e);
      const Lame<double> lame = lame_from(own.young, own.poisson);
      mu += weights_[static_cast<Eigen::Index>(i)] * lame.mu;
      lambda += weights_[static_cast<Eigen::Index>(i)] * lame.lambda;
    }
    mean.young = mu * (3 * lambda + 2 * mu) / (lambda + mu);
    mean.poisson = lambda / (2 * (lambda + mu));
    pose_.materials.push_back(mean);
  }
}

MatX BlendedPose::gradient(std::size_t element) const {
  MatX result;
  for (std::size_t i = 0; i < known_.poses.size(); ++i) {
    const double weight = weights_[static_cast<Eigen::Index>(i)];
    if (weight == 0) continue;
    MatX own = element_gradient(known_.mesh, element, known_.poses, i, known_.directions);
    if (result.size() == 0)
      result = std::move(own) * weight;
    else
      result += weight * own;
  }
  return result * scale_.asDiagonal();
}

MatX BlendedPose::blended(std::span<const MatX> matrices, std::span<const double> weights) const {
  MatX sum = MatX::Zero(scale_.size(), scale_.size());
  double total = 0;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const double share = std::max(0.0, weights[i]);
    sum += share * matrices[i];
    total += share;
  }
  return scale_.asDiagonal() * (sum / total) * scale_.asDiagonal();
}

MatX BlendedPose::unscaled(const MatX& matrix) const {
  const VecX back = scale_.cwiseInverse();
  return back.asDiagonal() * matrix * back.asDiagonal();
}

std::vector<std::vector<double>> far_poses(const PoseLayout& layout, std::span<const PoseBasis> known,
                                           std::span<const std::vector<double>> candidates, std::size_t count) {
  constexpr double same = 0.01;
  std::vector<double> distance(candidates.size(), std::numeric_limits<double>::infinity());
  const auto take = [&](std::span<const double> p) {
    for (std::size_t c = 0; c < candidates.size(); ++c)
      distance[c] = std::min(distance[c], pose_distance(layout, p, candidates[c]));
  };
  for (const PoseBasis& pose : known) take(pose.p);
  std::vector<std::vector<double>> result;
  while (result.size() < count && !candidates.empty()) {
    const auto farthest = std::max_element(distance.begin(), distance.end());
    if (*farthest < same) break;
    result.push_back(candidates[to_size(farthest - distance.begin())]);
    take(result.back());
  }
  return result;
}

}  // namespace supple
