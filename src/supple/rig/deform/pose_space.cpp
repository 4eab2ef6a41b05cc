// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/pose_space.h"

#include "supple/math/dense/decompositions.h"
#include "supple/rig/deform/shape_blocks.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr double same_pose = 1e-9;

struct PoseSpaceWorkspace final : RigWorkspace {
  std::unique_ptr<RigWorkspace> base;
  std::vector<double> weights;
  std::vector<double> scratch;
  ShapeBlocks corrections;

  explicit PoseSpaceWorkspace(ShapeBlocks blocks) : corrections(std::move(blocks)) {}
};

Status check_poses(const PoseLayout& layout, const std::vector<std::vector<double>>& poses) {
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const std::string name = "Example pose " + std::to_string(i + 1);
    if (static_cast<Index>(poses[i].size()) != layout.size())
      return input_error(name + " has " + std::to_string(poses[i].size()) + " numbers but the rig has " +
                         std::to_string(layout.size()) + " parameters; give one number for each.");
    for (const double value : poses[i]) {
      if (!std::isfinite(value)) return input_error(name + " holds a value that isn't a number; correct it.");
    }
  }
  return {};
}

}  // namespace

Result<PoseSpaceWeights> PoseSpaceWeights::create(PoseLayout layout, std::vector<std::vector<double>> poses) {
  if (poses.empty()) return input_error("Pose-space interpolation needs at least one example pose; give one.");
  SUPPLE_RETURN_IF_ERROR(check_poses(layout, poses));
  const auto count = static_cast<Eigen::Index>(poses.size());
  MatX kernel = MatX::Zero(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double distance = pose_distance(layout, poses[to_size(i)], poses[to_size(j)]);
      if (!(distance > same_pose))
        return input_error("Example poses " + std::to_string(j + 1) + " and " + std::to_string(i + 1) +
                           " are the same pose; leave one out.");
      kernel(i, j) = kernel(j, i) = distance;
    }
  }
  PoseSpaceWeights result;
  if (count == 1) {
    result.trained_ = MatX::Ones(1, 1);
  } else {
    std::optional<MatX> inverse = pivoted_inverse(kernel, 1e-12);
    if (!inverse)
      return input_error("The example poses leave the interpolation between them undecided; move or leave out one.");
    result.trained_ = *std::move(inverse);
  }
  result.metric_ = PoseMetric(layout);
  result.layout_ = std::move(layout);
  result.poses_ = std::move(poses);
  return result;
}

void PoseSpaceWeights::evaluate(std::span<const double> p, std::span<double> weights, std::span<double> scratch) const {
  const auto count = static_cast<Eigen::Index>(poses_.size());
  SUPPLE_ASSERT(weights.size() == poses_.size() && scratch.size() == poses_.size());
  if (count == 1) {
    weights[0] = 1;
    return;
  }
  for (std::size_t j = 0; j < poses_.size(); ++j) scratch[j] = metric_.distance(p, poses_[j]);
  Eigen::Map<VecX> w(weights.data(), count);
  w.noalias() = trained_.lazyProduct(Eigen::Map<const VecX>(scratch.data(), count));
  const double sum = w.sum();
  if (sum > 1e-6) {  // one at the examples, and growing away from them: a small sum needs poses of a strange metric
    w /= sum;
    return;
  }
  w.setZero();
  w[std::min_element(scratch.begin(), scratch.end()) - scratch.begin()] = 1;
}

PoseSpaceRig::PoseSpaceRig(std::shared_ptr<const Rig> base, PoseSpaceWeights weights, ShapeTable corrections)
    : base_(std::move(base)), weights_(std::move(weights)), corrections_(std::move(corrections)) {}

Result<std::shared_ptr<const PoseSpaceRig>> PoseSpaceRig::create(std::shared_ptr<const Rig> base,
                                                                 std::vector<PoseCorrection> corrections) {
  std::vector<std::vector<double>> poses;
  std::vector<MorphTarget> shapes;
  for (PoseCorrection& correction : corrections) {
    if (static_cast<Index>(correction.displacements.size()) != base->vertex_count())
      return input_error("Correction " + std::to_string(poses.size() + 1) + " has " +
                         std::to_string(correction.displacements.size()) + " vertices but the rig has " +
                         std::to_string(base->vertex_count()) + "; sculpt it on the same mesh.");
    poses.push_back(std::move(correction.p));
    shapes.push_back({"", std::move(correction.displacements)});
  }
  SUPPLE_RETURN_IF_ERROR(check_poses(base->layout(), poses));
  const bool has_neutral = std::any_of(poses.begin(), poses.end(), [&](const std::vector<double>& p) {
    return pose_distance(base->layout(), p, base->layout().neutral) <= same_pose;
  });
  if (!has_neutral) poses.push_back(base->layout().neutral);
  Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(base->layout(), std::move(poses));
  SUPPLE_RETURN_IF_ERROR(weights);
  ShapeTable table(shapes, base->vertex_count());
  return std::shared_ptr<const PoseSpaceRig>(new PoseSpaceRig(std::move(base), *std::move(weights), std::move(table)));
}

std::shared_ptr<const PoseSpaceRig> PoseSpaceRig::with(std::shared_ptr<const Rig> base, ShapeTable corrections) const {
  return std::shared_ptr<const PoseSpaceRig>(new PoseSpaceRig(std::move(base), weights_, std::move(corrections)));
}

std::unique_ptr<RigWorkspace> PoseSpaceRig::make_workspace(Index most_vertices) const {
  const auto poses = to_size(weights_.pose_count());
  auto workspace = std::make_unique<PoseSpaceWorkspace>(ShapeBlocks(corrections_, poses, most_vertices));
  workspace->base = base_->make_workspace(most_vertices);
  workspace->weights.resize(poses);
  workspace->scratch.resize(workspace->weights.size());
  return workspace;
}

void PoseSpaceRig::evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                            RigWorkspace& workspace) const {
  auto& scratch = static_cast<PoseSpaceWorkspace&>(workspace);
  base_->evaluate(p, vertices, positions, *scratch.base);
  weights_.evaluate(p, scratch.weights, scratch.scratch);
  scratch.corrections.choose(vertices);
  scratch.corrections.add(scratch.weights, positions);
}

PoseCorrection correction_towards(const Rig& rig, std::vector<double> p, std::span<const Vec3> sculpted) {
  std::vector<Vec3> displacements = evaluate_all(rig, p);
  SUPPLE_ASSERT(displacements.size() == sculpted.size());
  for (std::size_t v = 0; v < sculpted.size(); ++v) displacements[v] = sculpted[v] - displacements[v];
  return {std::move(p), std::move(displacements)};
}

}  // namespace supple
