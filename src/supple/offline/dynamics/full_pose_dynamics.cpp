// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/dynamics/full_pose_dynamics.h"

#include "supple/math/dense/decompositions.h"
#include "supple/mesh/quality.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <limits>

namespace supple {
namespace {

constexpr int more_iterations = 8;  ///< of Newton's method, where the first went too far

/// Every vertex's three numbers turned by one rotation.
VecX turned(const Mat3& R, const VecX& x) {
  VecX result(x.size());
  for (Eigen::Index v = 0; v < x.size(); v += 3) result.segment<3>(v) = R * x.segment<3>(v);
  return result;
}

}  // namespace

Result<FullPoseDynamics> FullPoseDynamics::create(const TetMesh& mesh, MaterialModel material,
                                                  std::span<const Index> fixed, std::shared_ptr<const Rig> rest,
                                                  const SoftStepSettings& settings, const FrameSites* frames) {
  Result<ElasticBody> body = ElasticBody::create(mesh, material);
  SUPPLE_RETURN_IF_ERROR(body);
  Result<FreeVertices> free = FreeVertices::create(*body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  FullPoseDynamics dynamics(mesh, *body, *free, std::move(rest), settings);
  if (frames != nullptr) dynamics.frames_ = *frames;
  return dynamics;
}

FullPoseDynamics::FullPoseDynamics(const TetMesh& mesh, ElasticBody body, FreeVertices free,
                                   std::shared_ptr<const Rig> rest, const SoftStepSettings& settings)
    : mesh_(mesh),
      neutral_(body),
      body_(std::move(body)),
      rest_(std::move(rest)),
      settings_(settings),
      solver_(std::make_shared<LinearSolver>(
          std::move(free),
          LinearSettings{.method = LinearMethod::conjugate_gradients, .cg_tolerance = settings.solver_tolerance})),
      K_(neutral_.make_matrix()),
      K_rest_(K_) {
  u_ = v_ = a_ = past_u_ = VecX::Zero(neutral_.dof_count());
  // Energies are differences of numbers of the size of the moduli.
  const std::vector<double> volumes = element_volumes(mesh_);
  for (std::size_t e = 0; e < volumes.size(); ++e) {
    const Lame<double> lame = lame_from(mesh_.material_of(e).young, mesh_.material_of(e).poisson);
    energy_noise_ += 64 * std::numeric_limits<double>::epsilon() * volumes[e] * (lame.mu + lame.lambda);
  }
}

Status FullPoseDynamics::set_materials(PoseSpaceWeights weights,
                                       std::span<const std::vector<ElasticMaterial>> of_poses) {
  PoseMaterials materials{std::move(weights), {}};
  for (const std::vector<ElasticMaterial>& own : of_poses) {
    TetMesh mesh = mesh_;
    if (!own.empty()) set_element_materials(mesh, own);
    Result<ElasticBody> body = ElasticBody::create(mesh, neutral_.material());
    SUPPLE_RETURN_IF_ERROR(body);
    materials.bodies.push_back(std::move(*body));
  }
  material_weights_.assign(materials.bodies.size(), 0.0);
  material_scratch_ = material_weights_;
  materials_ = std::move(materials);
  return {};
}

void FullPoseDynamics::lump_mass() {
  lumped_ = neutral_.make_matrix();
  lumped_->set_zero();
  for (Index v = 0; v < static_cast<Index>(mesh_.vertices.size()); ++v)
    lumped_->block_at(v, v) = neutral_.lumped_mass()[3 * Eigen::Index{v}] * Mat3::Identity();
}

void FullPoseDynamics::pose(std::span<const double> p) {
  const std::vector<Vec3> positions = evaluate_all(*rest_, p);
  x_ = Eigen::Map<const VecX>(positions.front().data(), u_.size());
  body_ = neutral_.posed(x_);
  if (materials_) {
    materials_->weights.evaluate(p, material_weights_, material_scratch_);
    body_ = body_.with_blended_materials(materials_->bodies, material_weights_);
  }
  if (settings_.stiffness_damping > 0) find_rest_stiffness();
  std::vector<Mat3> before = std::move(rotations_);
  if (frames_.sites.empty()) {
    rotations_.clear();
    for (const Eigen::Vector4d& q : vertex_rotations(mesh_, positions))
      rotations_.push_back(unit_quaternion(q.data()).toRotationMatrix());
  } else {
    rotations_ = blended_rotations(mesh_, frames_, positions);
  }
  if (before.empty()) return;
  for (std::size_t v = 0; v < rotations_.size(); ++v) {
    const Mat3 R = rotations_[v] * before[v].transpose();
    for (VecX* state : {&u_, &v_, &a_, &past_u_}) {
      auto x = state->segment<3>(3 * static_cast<Eigen::Index>(v));
      x = (R * x).eval();
    }
  }
}

void FullPoseDynamics::find_rest_stiffness() {
  VecX none(u_.size());
  body_.internal_force_and_stiffness(VecX::Zero(u_.size()), none, K_rest_);
}

VecX FullPoseDynamics::acceleration(const RigidTransform& placement) {
  if (known_ < 2) return VecX::Zero(u_.size());
  const bool newmark = settings_.integrator == SoftIntegrator::newmark, first = known_ < 3;
  const double hh = settings_.time_step * settings_.time_step;
  const Mat3 W = placement.rotation.toRotationMatrix();
  const Vec3 shift = placement.translation - 2 * last_.translation + before_last_.translation;
  VecX rest = turned(W, x_) - 2 * last_.rest + before_last_.rest;
  VecX carried = before_last_.displacement - turned(W, past_u_) - 2 * (last_.displacement - turned(W, u_));
  if (newmark) carried += hh * (turned(W, a_) - last_.acceleration);
  driven_.resize(rotations_.size());
  carried_.resize(rotations_.size());
  points_.resize(rotations_.size());
  VecX result(u_.size());
  for (std::size_t v = 0; v < points_.size(); ++v) {
    const Eigen::Index at = 3 * static_cast<Eigen::Index>(v);
    Vec3 a = (rest.segment<3>(at) + shift) / hh, with_it = carried.segment<3>(at) / hh;
    if (newmark) {
      a = driven_[v].follow(a, first);
      with_it = carried_[v].follow(with_it, first);
    }
    result.segment<3>(at) = W.transpose() * (drive_(a, points_[v], first) + with_it);
  }
  return result;
}

void FullPoseDynamics::add_air(const RigidTransform& placement, const SoftForces& forces, VecX& a) const {
  if (!(forces.drag > 0) || known_ < 1) return;
  const Mat3 W = placement.rotation.toRotationMatrix();
  const Vec3 moved = placement.translation - last_.translation;
  for (Eigen::Index v = 0; v < a.size(); v += 3) {
    const Vec3 velocity = (W * x_.segment<3>(v) - last_.rest.segment<3>(v) + moved) / settings_.time_step;
    a.segment<3>(v) += forces.drag * (W.transpose() * (velocity - forces.wind));
  }
}

bool FullPoseDynamics::solve_linear(const BlockMatrix& A, const VecX& residual, VecX& delta) const {
  if (basis_.size() == 0) {
    delta.resize(0);
    return solver_->solve(A, residual, delta).outcome != LinearReport::Outcome::indefinite;
  }
  MatX U = basis_;
  for (std::size_t v = 0; v < rotations_.size(); ++v) {
    auto rows = U.middleRows<3>(3 * static_cast<Eigen::Index>(v));
    rows = (rotations_[v] * rows).eval();
  }
  const PositiveFactor factor(U.transpose() * multiply_columns(A, U));
  if (!factor.ok()) return false;
  delta = U * factor.solve(VecX(U.transpose() * residual));
  return true;
}

/// A step minimises φ(x) = ½ Δᵀ B Δ + bᵀ Δ + W(x), Δ = x − u, B = (c_a + α c_v) M + β c_v K_rest: Newton's method looks
/// whether φ falls as it expects, shortens its way where it grows and goes on where it is surprised. It starts where
/// flesh goes on as it did, if φ is lower there.
bool FullPoseDynamics::solve(const VecX& force, double mass_damping, SoftStepReport& report) {
  const bool newmark = settings_.integrator == SoftIntegrator::newmark;
  const double h = settings_.time_step, beta = settings_.stiffness_damping;
  const double c_v = (newmark ? 2 : 1) / h;
  const double c_a = (newmark ? 4 : 1) / (h * h);
  const BlockMatrix& M = mass();
  VecX next = u_, next_a, next_v, f(u_.size()), delta;
  const auto update = [&] {
    next_a = c_a * (next - u_ - h * v_) - (newmark ? a_ : VecX::Zero(a_.size()));
    next_v = newmark ? VecX(v_ + h / 2 * (a_ + next_a)) : VecX((next - u_) / h);
  };
  const auto inertial_force = [&]() -> VecX {
    update();
    return M * VecX(next_a + mass_damping * next_v) + beta * (K_rest_ * next_v) - force;
  };
  const auto curvature_along = [&](const VecX& x) {
    return (c_a + mass_damping * c_v) * x.dot(M * x) + beta * c_v * x.dot(K_rest_ * x);
  };
  double first = 0, energy = body_.energy(next);
  const VecX ahead = h * v_;
  const double energy_ahead = body_.energy(u_ + ahead);
  if (inertial_force().dot(ahead) + 0.5 * curvature_along(ahead) + energy_ahead < energy) {
    next += ahead;
    energy = energy_ahead;
  }
  int planned = settings_.iterations;
  for (int iteration = 0; iteration < planned; ++iteration) {
    body_.internal_force_and_stiffness(next, f, K_);
    const VecX inertial = inertial_force();
    VecX residual = inertial + f;
    solver_->free().clear_fixed(residual);
    if (iteration == 0) first = residual.norm();
    report.residual = first > 0 ? residual.norm() / first : 0;
    const auto solve_with = [&] {
      K_.combine(1, beta * c_v, K_rest_);
      K_.combine(1, c_a + mass_damping * c_v, M);
      return solve_linear(K_, residual, delta);
    };
    if (!solve_with()) {
      // Flesh that buckles: the nearest stiffness that is positive still points downhill.
      body_.internal_force_and_stiffness(next, f, K_, HessianProjection::positive_semidefinite);
      if (!solve_with()) return false;
    }
    const double expected = -0.5 * residual.dot(delta), slope = -inertial.dot(delta);
    const double curvature = curvature_along(delta);
    const double noise = 1e-13 * (std::abs(energy) + std::abs(slope) + curvature) + energy_noise_;
    const std::optional<Descent> descent = descend(next, delta, {slope, curvature, expected, noise}, energy);
    if (!descent) {
      if (iteration == 0) return false;
      break;
    }
    next -= descent->length * delta;
    energy = descent->energy;
    if (descent->surprising)
      planned = std::min(std::max(planned, iteration + 2), settings_.iterations + more_iterations);
    if (-expected <= noise) break;
  }
  update();
  if (!next.allFinite() || !next_v.allFinite()) return false;
  u_ = std::move(next), v_ = std::move(next_v), a_ = std::move(next_a);
  return true;
}

std::optional<FullPoseDynamics::Descent> FullPoseDynamics::descend(const VecX& from, const VecX& delta,
                                                                   const Quadratic& known, double energy) const {
  if (-known.expected <= known.noise) return Descent{1, body_.energy(from - delta), false};
  for (double length = 1; length > 1e-6; length *= 0.5) {
    const double there = body_.energy(from - length * delta);
    const double change = length * known.slope + 0.5 * length * length * known.curvature + there - energy;
    if (!(change <= known.noise)) continue;
    return Descent{length, there, std::abs(change - known.expected) > surprise_ * std::abs(known.expected)};
  }
  return {};
}

SoftStepReport FullPoseDynamics::push(const VecX& force) {
  if (known_ == 0) find_rest_stiffness();
  known_ = 1;
  SoftStepReport report;
  if (solve(force, settings_.mass_damping, report)) return report;
  report.recovered = true;
  u_.setZero(), v_.setZero(), a_.setZero();
  return report;
}

SoftStepReport FullPoseDynamics::step(const RigidTransform& placement, std::span<const double> p,
                                      const SoftForces& forces) {
  pose(p);
  drive_ = FleshDrive(settings_);
  VecX a = acceleration(placement);
  const VecX before = u_;
  const Vec3 g = placement.rotation.conjugate() * forces.gravity;
  for (Eigen::Index v = 0; v < a.size(); v += 3) a.segment<3>(v) -= g;
  add_air(placement, forces, a);
  SoftStepReport report;
  report.violence = drive_.violence;
  // Air that all mass feels alike is damping by mass: stable however strong.
  const double mass_damping = settings_.mass_damping + std::max(0.0, forces.drag);
  if (!solve(mass() * VecX(-a), mass_damping, report)) {
    report.recovered = true;
    u_.setZero(), v_.setZero(), a_.setZero();
    known_ = 0;
    return report;
  }
  const Mat3 W = placement.rotation.toRotationMatrix();
  past_u_ = before;
  before_last_ = std::move(last_);
  last_ = {turned(W, x_), turned(W, u_), turned(W, a_), placement.translation};
  known_ = std::min(known_ + 1, 3);
  return report;
}

}  // namespace supple
