// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/choose_poses.h"

#include "supple/base/parallel.h"
#include "supple/fem/modes.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <optional>

namespace supple {
namespace {

/// Linear modes of a pose, turned back, and the same times the mass matrix; none where a rig crushes the flesh so much
/// that it has none.
struct PoseModes {
  MatX shapes, weighed;
};

PoseModes modes_of(const ChoosePosesInput& input, std::span<const double> p, int count) {
  const std::vector<Vec3> x = evaluate_all(input.rest, p);
  const ElasticBody posed = input.body.posed(Eigen::Map<const VecX>(x.front().data(), input.body.dof_count()));
  const Result<Modes> modes = compute_modes(posed, input.fixed, {.count = count});
  if (!modes.ok()) return {};
  MatX shapes = modes->shapes;
  const std::vector<Eigen::Vector4d> turns = vertex_rotations(input.mesh, x);
  for (std::size_t v = 0; v < turns.size(); ++v) {
    auto rows = shapes.middleRows<3>(3 * static_cast<Eigen::Index>(v));
    rows = (unit_quaternion(turns[v].data()).conjugate().toRotationMatrix() * rows).eval();
  }
  MatX weighed = multiply_columns(input.body.consistent_mass(), shapes);
  return {std::move(shapes), std::move(weighed)};
}

/// [rad]; 0 where one of them has no modes.
double angle_between(const PoseModes& a, const PoseModes& b) {
  if (a.shapes.cols() == 0 || b.shapes.cols() == 0) return 0;
  const auto lowest = a.shapes.leftCols((a.shapes.cols() + 1) / 2);
  const double share = (b.weighed.transpose() * lowest).squaredNorm() / static_cast<double>(lowest.cols());
  return std::acos(std::sqrt(std::clamp(share, 0.0, 1.0)));
}

class Choice {
 public:
  Choice(const ChoosePosesInput& input, std::span<const std::vector<double>> poses, const ChoosePosesSettings& settings)
      : input_(input), poses_(poses), settings_(settings) {}

  std::vector<std::size_t> run() {
    const auto count = to_size(std::max(0, settings_.most));
    if (settings_.angle <= 0) return farthest(count, settings_.apart);
    candidates_ = farthest(std::max(count, to_size(settings_.candidates)), settings_.nearest);
    if (candidates_.empty() || count == 0) return {};
    find_modes();
    largest_distance_ = largest_angle_ = 1e-9;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      largest_distance_ = std::max(largest_distance_, distance(c, neutral));
      largest_angle_ = std::max(largest_angle_, angle_between(modes_[c + 1], modes_[0]));
    }
    std::vector<std::size_t> chosen, result;
    while (chosen.size() < count) {
      const std::optional<std::size_t> next = most_deserving(chosen);
      if (!next) break;
      chosen.push_back(*next);
    }
    for (const std::size_t c : chosen) result.push_back(candidates_[c]);
    return result;
  }

 private:
  /// Stands before the first candidate; so do its modes.
  static constexpr std::size_t neutral = to_size(-1);

  const PoseLayout& layout() const { return input_.rest.layout(); }
  const std::vector<double>& pose(std::size_t candidate) const {
    return candidate == neutral ? layout().neutral : poses_[candidates_[candidate]];
  }
  double distance(std::size_t a, std::size_t b) const { return pose_distance(layout(), pose(a), pose(b)); }

  /// Poses that are farthest from the neutral one and from each other.
  std::vector<std::size_t> farthest(std::size_t most, double apart) const {
    std::vector<double> nearest;
    for (const auto& p : poses_) nearest.push_back(pose_distance(layout(), p, layout().neutral));
    std::vector<std::size_t> result;
    while (result.size() < most && !nearest.empty()) {
      const auto next = to_size(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
      if (nearest[next] <= apart) break;
      result.push_back(next);
      for (std::size_t i = 0; i < nearest.size(); ++i)
        nearest[i] = std::min(nearest[i], pose_distance(layout(), poses_[i], poses_[next]));
    }
    return result;
  }

  void find_modes() {
    modes_.resize(candidates_.size() + 1);
    parallel_for(std::ssize(modes_), 1, [&](std::int64_t k) {
      const auto c = to_size(k);
      modes_[c] = modes_of(input_, pose(c - 1), 2 * settings_.modes);
    });
  }

  std::optional<std::size_t> most_deserving(const std::vector<std::size_t>& chosen) const {
    std::optional<std::size_t> best;
    double best_score = 0;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      std::size_t neighbour = neutral;
      for (const std::size_t other : chosen)
        if (distance(c, other) < distance(c, neighbour)) neighbour = other;
      const double far = distance(c, neighbour), angle = angle_between(modes_[c + 1], modes_[neighbour + 1]);
      if (far < settings_.nearest || (far <= settings_.apart && angle <= settings_.angle)) continue;
      const double score = far / largest_distance_ + angle / largest_angle_;
      if (score > best_score) best_score = score, best = c;
    }
    return best;
  }

  const ChoosePosesInput& input_;
  std::span<const std::vector<double>> poses_;
  const ChoosePosesSettings& settings_;
  std::vector<std::size_t> candidates_;
  std::vector<PoseModes> modes_;  ///< of the neutral pose, then of the candidates
  double largest_distance_ = 1, largest_angle_ = 1;
};

}  // namespace

std::vector<double> pose_between(const PoseLayout& layout, std::span<const double> a, std::span<const double> b,
                                 double share) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = (1 - share) * a[i] + share * b[i];
  for (const ParameterGroup& group : layout.groups) {
    if (group.kind != ParameterKind::rotation) continue;
    const Quat q = unit_quaternion(a.data() + group.first).slerp(share, unit_quaternion(b.data() + group.first));
    std::copy_n(q.coeffs().data(), 4, result.begin() + group.first);
  }
  return result;
}

std::vector<std::size_t> choose_poses(const ChoosePosesInput& input, std::span<const std::vector<double>> candidates,
                                      const ChoosePosesSettings& settings) {
  return Choice(input, candidates, settings).run();
}

}  // namespace supple
