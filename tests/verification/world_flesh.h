// SPDX-License-Identifier: Apache-2.0
// Flesh on a moving rig as a textbook would simulate it: absolute positions x(t) of all vertices in the world, boundary
// vertices moved along their paths, and no frame of reference but the world's. The rest shape y(t) follows the rig,
//
//   M ẍ = −f(x − y; y) − D (ẋ − ẏ − ω × (x − y)) + M g,   D = α M + β K
//
// with f of the body whose shape without stress is y, and ω how the elements around a vertex turn. Velocities and
// accelerations of the rig are differences of its path over a time so short that their error doesn't count.
//
// The implicit midpoint rule, converged, with direct solves. Of the library it takes materials, assembly and the
// factorisation, which CalculiX and closed forms have checked; it shares nothing with FullPoseDynamics.
#pragma once

#include "supple/fem/linear_solver.h"
#include "supple/rig/pose.h"
#include "supple/rig/rig.h"

#include "support/bodies.h"

#include <Eigen/SVD>

#include <functional>

namespace supple {

class WorldFlesh {
 public:
  enum class Damping { rest_stiffness, tangent_stiffness };
  struct Spec {
    double mass_damping = 0;       ///< α [1/s]
    double stiffness_damping = 0;  ///< β [s]
    Damping damping = Damping::rest_stiffness;
    Vec3 gravity = Vec3::Zero();
  };
  using Motion = std::function<CharacterPose(double time)>;

  WorldFlesh(const TetMesh& mesh, MaterialModel material, std::span<const Index> fixed, std::shared_ptr<const Rig> rest,
             Motion motion, const Spec& spec)
      : mesh_(mesh),
        body_(must(ElasticBody::create(mesh, material))),
        rest_(std::move(rest)),
        motion_(std::move(motion)),
        spec_(spec),
        solver_(must(FreeVertices::create(body_, fixed)), {.method = LinearMethod::direct}) {
    x_ = at(0);
    v_ = (at(short_) - at(-short_)) / (2 * short_);
  }

  void step(double h) {
    const Moment rig = moment(time_ + h / 2);
    const BlockMatrix& M = body_.consistent_mass();
    const ElasticBody posed = body_.posed(rig.y);
    BlockMatrix K = body_.make_matrix(), K_rest = K;
    VecX f(x_.size()), none(x_.size());
    posed.internal_force_and_stiffness(VecX::Zero(x_.size()), none, K_rest);
    VecX middle = x_ + h / 2 * v_;
    hold(rig, middle);
    for (int iteration = 0;; ++iteration) {
      ASSERT_LT(iteration, 30) << "the midpoint rule doesn't converge";
      const VecX u = middle - rig.y, velocity = 2 / h * (middle - x_);
      posed.internal_force_and_stiffness(u, f, K);
      VecX acceleration = 2 / h * (velocity - v_);
      for (Index v = 0; v < body_.vertex_count(); ++v)
        if (!solver_.free().is_free(v)) acceleration.segment<3>(3 * v) = rig.acceleration.segment<3>(3 * v);
      VecX relative = velocity - rig.velocity;
      for (std::size_t v = 0; v < rig.spin.size(); ++v) {
        const auto row = 3 * static_cast<Eigen::Index>(v);
        relative.segment<3>(row) -= rig.spin[v] * u.segment<3>(row);
        acceleration.segment<3>(row) -= spec_.gravity;
      }
      solver_.free().clear_fixed(relative);
      const BlockMatrix& damping = spec_.damping == Damping::rest_stiffness ? K_rest : K;
      VecX residual =
          M * VecX(acceleration + spec_.mass_damping * relative) + spec_.stiffness_damping * (damping * relative) + f;
      solver_.free().clear_fixed(residual);
      K.combine(1, 2 / h * spec_.stiffness_damping, BlockMatrix(damping));
      K.combine(1, 4 / (h * h) + 2 / h * spec_.mass_damping, M);
      VecX change;
      ASSERT_TRUE(solver_.solve(K, residual, change).solved());
      middle -= change;
      if (change.lpNorm<Eigen::Infinity>() < 1e-11) break;
    }
    const VecX velocity = 2 / h * (middle - x_);
    x_ = 2 * middle - x_;
    v_ = 2 * velocity - v_;
    time_ += h;
    hold(moment(time_), x_);
  }

  /// Gives displacements in the frame of the character's root.
  VecX displacements() const {
    const Mat3 back = motion_(time_).placement.rotation.toRotationMatrix().transpose();
    VecX u = x_ - at(time_);
    for (Eigen::Index v = 0; v < u.size(); v += 3) u.segment<3>(v) = (back * u.segment<3>(v)).eval();
    return u;
  }

 private:
  struct Moment {
    VecX y, velocity, acceleration;
    std::vector<Mat3> spin;  ///< ω ×
  };

  /// Where the rig holds the rest shape in the world.
  VecX at(double time) const {
    const CharacterPose pose = motion_(time);
    const std::vector<Vec3> positions = evaluate_all(*rest_, pose.p);
    VecX y(3 * std::ssize(positions));
    for (std::size_t v = 0; v < positions.size(); ++v)
      y.segment<3>(3 * static_cast<Eigen::Index>(v)) =
          pose.placement.rotation * positions[v] + pose.placement.translation;
    return y;
  }
  Moment moment(double time) const {
    const VecX before = at(time - short_), after = at(time + short_);
    Moment moment;
    moment.y = at(time);
    moment.velocity = (after - before) / (2 * short_);
    moment.acceleration = (after - 2 * moment.y + before) / (short_ * short_);
    const std::vector<Mat3> R = turns(moment.y), R_before = turns(before), R_after = turns(after);
    for (std::size_t v = 0; v < R.size(); ++v)
      moment.spin.push_back((R_after[v] - R_before[v]) / (2 * short_) * R[v].transpose());
    return moment;
  }
  /// The mean rotation of the elements around each vertex, by volume.
  std::vector<Mat3> turns(const VecX& y) const {
    std::vector<Eigen::Vector4d> sums(mesh_.vertices.size(), Eigen::Vector4d::Zero());
    for (const auto& tet : mesh_.elements) {
      Mat3 X, Y;
      for (int k = 0; k < 3; ++k) {
        X.col(k) = mesh_.vertices[to_size(tet[to_size(k) + 1])] - mesh_.vertices[to_size(tet[0])];
        Y.col(k) = y.segment<3>(3 * tet[to_size(k) + 1]) - y.segment<3>(3 * tet[0]);
      }
      const Eigen::JacobiSVD<Mat3> svd(Y * X.inverse(), Eigen::ComputeFullU | Eigen::ComputeFullV);
      const Eigen::Vector4d q = Quat(Mat3(svd.matrixU() * svd.matrixV().transpose())).coeffs();
      for (const Index v : tet) {
        Eigen::Vector4d& sum = sums[to_size(v)];
        sum += X.determinant() * (sum.dot(q) < 0 ? Eigen::Vector4d(-q) : q);
      }
    }
    std::vector<Mat3> result;
    for (const Eigen::Vector4d& sum : sums) result.push_back(Quat(sum.normalized()).toRotationMatrix());
    return result;
  }
  void hold(const Moment& rig, VecX& x) const {
    for (Index v = 0; v < body_.vertex_count(); ++v)
      if (!solver_.free().is_free(v)) x.segment<3>(3 * v) = rig.y.segment<3>(3 * v);
  }

  static constexpr double short_ = 1e-4;  ///< [s]
  TetMesh mesh_;
  ElasticBody body_;
  std::shared_ptr<const Rig> rest_;
  Motion motion_;
  Spec spec_;
  LinearSolver solver_;
  VecX x_, v_;
  double time_ = 0;
};

}  // namespace supple
