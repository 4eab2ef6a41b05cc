// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/tune_frequencies.h"

#include "supple/fem/material.h"
#include "supple/math/dense/decompositions.h"
#include "supple/mesh/bounds.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

Mat3 cross_matrix(const Vec3& v) {
  Mat3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

/// Mass of a subtree in the world: ∫ρ, ∫ρ x and ∫ρ x xᵀ.
struct TreeMass {
  double mass = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();

  void add(const TreeMass& other) {
    mass += other.mass;
    first += other.first;
    second += other.second;
  }
  /// What a wrench at `x` makes of accelerations there, as if rigid: force and torque beside velocity and turn.
  Eigen::Matrix<double, 6, 6> about(const Vec3& x) const {
    const Vec3 h = first - mass * x;
    const Mat3 S = second - first * x.transpose() - x * first.transpose() + mass * x * x.transpose();
    Eigen::Matrix<double, 6, 6> I;
    I.topLeftCorner<3, 3>() = mass * Mat3::Identity();
    I.topRightCorner<3, 3>() = -cross_matrix(h);
    I.bottomLeftCorner<3, 3>() = cross_matrix(h);
    I.bottomRightCorner<3, 3>() = S.trace() * Mat3::Identity() - S;
    return I;
  }
};

class TreeTuner {
 public:
  explicit TreeTuner(DomainModel& model) : model_(model) {
    for (const SubspaceModel& part : model.parts) {
      stiffness_.push_back(rest_stiffness(part));
      moments_.push_back(mass_moments(part));
      Bounds box = bounds_of(part.rest_positions);
      boxes_.push_back(box);
    }
    const std::size_t count = model.domains.size();
    subtree_.resize(count);
    reach_.resize(count);
    children_.resize(count);
    for (std::size_t d = count; d-- > 0;) {
      const Domain& domain = model.domains[d];
      subtree_[d].add(own_mass(domain));
      add_box(domain, reach_[d]);
      if (domain.parent < 0) continue;
      const auto above = to_size(domain.parent);
      children_[above].push_back(static_cast<Index>(d));
      subtree_[above].add(subtree_[d]);
      reach_[above].add(reach_[d].min);
      reach_[above].add(reach_[d].max);
    }
  }

  /// Gives each domain the frequency that its length wants, carrying its subtree as if rigid.
  void share(double lowest, double height) {
    for (std::size_t d = 0; d < model_.domains.size(); ++d) {
      Domain& domain = model_.domains[d];
      const SubspaceModel& part = model_.parts[to_size(domain.part)];
      if (part.size() == 0) continue;
      MatX M = std::pow(domain.scale, 5) * moments_[to_size(domain.part)].reduced_mass();
      for (const Index child : children_[d]) {
        const MatX J = jacobian(child);
        M += J.transpose() * subtree_[to_size(child)].about(model_.domains[to_size(child)].position) * J;
      }
      const double slowest = generalized_eigenvalues(stiffness(d), M)[0];
      if (!(slowest > 0)) continue;
      const double length = farthest(reach_[d], domain.position);
      const double wanted =
          2 * std::numbers::pi * lowest * std::clamp(std::sqrt(height / std::max(length, 1e-12)), 1.0, 4.0);
      domain.stiffness *= wanted * wanted / slowest;
    }
  }

  /// What a static pull does: its work ∫ρ g·u, and ∫ρ |u|².
  struct Answer {
    double work = 0, motion = 0;
  };
  Answer pulled(const Vec3& pull) const {
    Answer sum;
    std::vector<Vec3> move(model_.domains.size(), Vec3::Zero()), turn = move;
    for (std::size_t d = 0; d < model_.domains.size(); ++d) {
      const Domain& domain = model_.domains[d];
      const Eigen::Index r = model_.parts[to_size(domain.part)].size();
      VecX q = VecX::Zero(r);
      if (r > 0) {
        const VecX load = load_on(d, pull);
        q = PositiveFactor(stiffness(d)).solve(load);
        sum.work += load.dot(q);
      }
      sum.motion += squared_motion(domain, q, move[d], turn[d]);
      for (const Index child : children_[d]) {
        const Vec3 arm = model_.domains[to_size(child)].position - domain.position;
        const VecX twist = r > 0 ? VecX(jacobian(child) * q) : VecX(VecX::Zero(6));
        move[to_size(child)] = move[d] + turn[d].cross(arm) + twist.head<3>();
        turn[to_size(child)] = turn[d] + twist.tail<3>();
      }
    }
    return sum;
  }

 private:
  MatX stiffness(std::size_t d) const {
    const Domain& domain = model_.domains[d];
    return domain.stiffness * std::pow(domain.scale, 3) * stiffness_[to_size(domain.part)];
  }

  TreeMass own_mass(const Domain& domain) const {
    const MassMoments& m = moments_[to_size(domain.part)];
    const double s = domain.scale, s3 = s * s * s;
    const Vec3 S = s * domain.rotation * m.first.col(0), c = domain.position;
    const Mat3 SS = s * s * domain.rotation * m.second.topLeftCorner<3, 3>() * domain.rotation.transpose();
    TreeMass own;
    own.mass = s3 * m.volume;
    own.first = s3 * (m.volume * c + S);
    own.second = s3 * (m.volume * c * c.transpose() + c * S.transpose() + S * c.transpose() + SS);
    return own;
  }

  void add_box(const Domain& domain, Bounds& reach) const {
    const Bounds& box = boxes_[to_size(domain.part)];
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 X((corner & 1) != 0 ? box.max.x() : box.min.x(), (corner & 2) != 0 ? box.max.y() : box.min.y(),
                   (corner & 4) != 0 ? box.max.z() : box.min.z());
      reach.add(domain.position + domain.scale * (domain.rotation * X));
    }
  }

  static double farthest(const Bounds& box, const Vec3& from) {
    return (box.max - from).cwiseAbs().cwiseMax((box.min - from).cwiseAbs()).norm();
  }

  /// Velocity and turn of a child's frame, in the world, for each coordinate of its parent.
  MatX jacobian(Index child) const {
    const Domain& domain = model_.domains[to_size(child)];
    const Domain& parent = model_.domains[to_size(domain.parent)];
    const MatX& turn = domain.interface.turn;
    MatX J(6, turn.cols());
    J.topRows<3>() = parent.scale * parent.rotation * domain.interface.move;
    for (Eigen::Index l = 0; l < turn.cols(); ++l) {
      const Vec3 axis = 0.5 * Vec3(turn(7, l) - turn(5, l), turn(2, l) - turn(6, l), turn(3, l) - turn(1, l));
      J.col(l).tail<3>() = parent.rotation * axis;
    }
    return J;
  }

  VecX load_on(std::size_t d, const Vec3& pull) const {
    const Domain& domain = model_.domains[d];
    const MassMoments& m = moments_[to_size(domain.part)];
    VecX load =
        std::pow(domain.scale, 4) * m.first.rightCols(m.size()).transpose() * (domain.rotation.transpose() * pull);
    for (const Index child : children_[d]) {
      const TreeMass& below = subtree_[to_size(child)];
      Eigen::Matrix<double, 6, 1> wrench;
      wrench.head<3>() = below.mass * pull;
      wrench.tail<3>() = (below.first - below.mass * model_.domains[to_size(child)].position).cross(pull);
      load += jacobian(child).transpose() * wrench;
    }
    return load;
  }

  /// ∫ρ |u|² of u = move + T X + s R w(X), with T = s [turn]ₓ R and w = U q.
  double squared_motion(const Domain& domain, const VecX& q, const Vec3& move, const Vec3& turn) const {
    const MassMoments& m = moments_[to_size(domain.part)];
    Vec3 w = Vec3::Zero();                      // ∫ρ w
    Mat3 wX = Mat3::Zero(), ww = Mat3::Zero();  // ∫ρ w Xᵀ and ∫ρ w wᵀ
    for (Eigen::Index l = 0; l < q.size(); ++l) {
      w += q[l] * m.first.col(l + 1);
      wX += q[l] * m.second.block<3, 3>(3 * (l + 1), 0);
      for (Eigen::Index k = 0; k < q.size(); ++k) ww += q[l] * q[k] * m.second.block<3, 3>(3 * (l + 1), 3 * (k + 1));
    }
    const Mat3 R = domain.scale * domain.rotation, T = cross_matrix(turn) * R;
    const double squares = (T.transpose() * T * m.second.topLeftCorner<3, 3>()).trace() +
                           2 * (T.transpose() * R * wX).trace() + domain.scale * domain.scale * ww.trace();
    return std::pow(domain.scale, 3) *
           (m.volume * move.squaredNorm() + 2 * move.dot(T * m.first.col(0) + R * w) + squares);
  }

  DomainModel& model_;
  std::vector<MatX> stiffness_;
  std::vector<MassMoments> moments_;
  std::vector<Bounds> boxes_, reach_;
  std::vector<TreeMass> subtree_;
  std::vector<std::vector<Index>> children_;
};

/// [Hz], of the best combination of the shapes under two pulls: plants aren't aligned with the axes.
double lowest_of(const TreeTuner& tuner) {
  const TreeTuner::Answer x = tuner.pulled(Vec3::UnitX()), z = tuner.pulled(Vec3::UnitZ()),
                          both = tuner.pulled(Vec3(1, 0, 1));
  const double K_xz = 0.5 * (both.work - x.work - z.work), M_xz = 0.5 * (both.motion - x.motion - z.motion);
  if (!(x.motion > 0) || !(z.motion > 0)) return 0;
  MatX K(2, 2), M(2, 2);
  K << x.work, K_xz, K_xz, z.work;
  M << x.motion, M_xz, M_xz, z.motion;
  const double lowest = generalized_eigenvalues(K, M)[0];
  return lowest > 0 ? std::sqrt(lowest) / (2 * std::numbers::pi) : 0;
}

}  // namespace

MatX rest_stiffness(const SubspaceModel& part) {
  const Index r = part.size();
  MatX K = MatX::Zero(r, r);
  for (const MaterialGroup& group : part.groups) {
    const Lame<double> lame = lame_from(group.material.young, group.material.poisson);
    for (Index b = 0; b < r; ++b)
      for (Index a = 0; a <= b; ++a) {
        const Index p = pair_index(a, b);
        K(a, b) += lame.lambda * group.lambda.constant[p] + lame.mu * group.mu.constant[p];
        K(b, a) = K(a, b);
      }
  }
  return K;
}

void tune_frequencies(DomainModel& model, double lowest, double height) {
  TreeTuner tuner(model);
  tuner.share(lowest, height);
  const double now = lowest_of(tuner);
  if (!(now > 0)) return;
  for (Domain& domain : model.domains) domain.stiffness *= std::pow(lowest / now, 2);
}

double rayleigh_frequency(const DomainModel& model) {
  DomainModel copy = model;
  return lowest_of(TreeTuner(copy));
}

}  // namespace supple
