// SPDX-License-Identifier: Apache-2.0
// FloatingBody: an unanchored subspace object in time: a frame (position c, rotation R) and a deformation q in it.
//
//   x = c + R y,   y = X + U q,   ẋ = R (v + ω × y + U q̇)         v, ω in the frame
// The kinetic energy ½ ∫ |ẋ|² gives the momenta (A: floating_inertia.h)
//   (p, j, π) = A (v, ω, q̇)     linear; angular about c; of the deformation
// and Lagrange's equations, all inertial terms in them:
//   d/dt (R p) = Σ f        d/dt (c × R p + R j) = Σ x × f
//   π̇ = ∫ (ω × φ)·(v + ω × y + U q̇) − R̃(q) − D̃(q) q̇ + Uᵀ Rᵀ f       Coriolis, centrifugal and Euler forces
// (Terzopoulos and Witkin 1988 and Shabana 1990, to whom the 2005 paper points in its appendix D).
//
// Time is cut by a variational integrator (Marsden and West 2001, section 1.6): the action of a step is that of the
// straight paths of all mass points between the two configurations, and of the elastic energy at the middle,
//   L_d = 1/2h ∫ |x₁ − x₀|² − h V((q₀ + q₁)/2)
// With d = Rᵀ₀(c₁ − c₀), Q = Rᵀ₀R₁ and w = d + (Q − 1) y₁ + U Δq its equations are, in the frame of the step's start,
//   ∫ w = h p₀      ∫ y₀ × w = h j₀      ∫ φᵀw + h²/2 R̃(q½) + h/2 D̃ Δq = h π₀
// and afterwards π₁ = ∫ φᵀQᵀw / h − h/2 R̃(q½) − D̃ Δq/2, each with half the impulse of loads. The scheme is of second
// order, symplectic, stable for any stiffness, and for a complete basis it is one for the full finite-element body.
// Linear and angular momentum are kept as they are: only loads change them, whatever the solver's tolerance.
// Drag, −α times the velocity of every mass point, lets all momenta decay by e^(−αh), half of it before and half after
// the step (McLachlan and Perlmutter 2001); it is what αM of Rayleigh damping does to a full body that is free.
// Limit: the frame may turn by less than about one radian per step.
#pragma once

#include "supple/base/result.h"
#include "supple/math/dense/dense_cholesky.h"
#include "supple/runtime/state_bytes.h"
#include "supple/runtime/subspace/basis_rows.h"
#include "supple/runtime/subspace/floating_load.h"
#include "supple/runtime/subspace/reduced_forces.h"

#include <Eigen/Geometry>

namespace supple {

struct FloatingSettings {
  double time_step = 1.0 / 1000;     ///< [s]
  Vec3 gravity = Vec3(0, -9.81, 0);  ///< [m/s²]
  double mass_damping = 0.0;         ///< α [1/s], of the deformation only
  double drag = 0.0;                 ///< α [1/s], of all motion: falling and turning are slowed too
  double stiffness_damping = 0.0;    ///< β [s]
  int max_iterations = 2;            ///< evaluations of the elastic forces per step
  int max_corrections = 12;          ///< of the inertial terms, between two such evaluations
  double tolerance = 1e-10;          ///< of a correction, relative to the motion of the step
  int max_point_forces = 64;         ///< per step
};

/// Momenta instead of velocities, so that nothing is lost when a state is kept and taken up again.
struct FloatingState {
  Vec3 position = Vec3::Zero();  ///< c: of the origin of the rest positions [m]
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
  Vec3 linear_momentum = Vec3::Zero();   ///< [kg m/s], world
  Vec3 angular_momentum = Vec3::Zero();  ///< [kg m²/s], world, about the world's origin
  VecX q;
  VecX deformation_momentum;  ///< π
  double time = 0.0;
};

struct FloatingVelocity {
  Vec3 linear = Vec3::Zero();   ///< of the frame's origin, world [m/s]
  Vec3 angular = Vec3::Zero();  ///< of the frame, world [1/s]
  VecX q;                       ///< q̇
};

struct FloatingReport {
  int iterations = 0;       ///< evaluations of the elastic forces
  double correction = 0.0;  ///< the last one, relative
  bool converged = false;   ///< that correction was below the tolerance
  bool recovered = false;   ///< the step broke down and was undone
};

/// The motion of one step: what the solver looks for.
struct FloatingIncrement {
  Vec3 translation = Vec3::Zero();                               ///< d
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();  ///< Q
  VecX q;                                                        ///< Δq
};

class FloatingBody {
 public:
  /// Fails on settings and materials out of range. The basis must not contain rigid motions.
  static Result<FloatingBody> create(const SubspaceModel& model, const FloatingSettings& settings);

  int size() const { return inertia_.size(); }
  const FloatingSettings& settings() const { return settings_; }
  const FloatingState& state() const { return state_; }
  const FloatingInertia& inertia() const { return inertia_; }
  const BasisRows<double>& surface_rows() const { return surface_rows_; }
  const std::vector<Vec3>& surface_rest() const { return surface_rest_; }

  /// Puts the body somewhere, undeformed and at rest, at time zero.
  void reset(const Vec3& position = Vec3::Zero(),
             const Eigen::Quaterniond& orientation = Eigen::Quaterniond::Identity());
  /// Continues from a saved state; its sizes must fit.
  void set_state(const FloatingState& state);
  /// The same with the guess of the next step, increment() of the body that was saved: it goes on with the same bits.
  void set_state(const FloatingState& state, const FloatingIncrement& guess);
  void set_deformation(const VecX& q);
  void set_velocity(const FloatingVelocity& velocity);

  /// All that the next step depends on: it has the same bits wherever it is taken.
  void exchange(StateBytes& bytes);
  void set_gravity(const Vec3& gravity) { settings_.gravity = gravity; }

  /// A force [N, world] at a vertex of the surface during the next step; false when there are too many.
  bool add_force(int vertex, const Vec3& force);
  /// Forces anywhere on the body during the next step, in the axes of the world or of the body's frame.
  void add_load(const FloatingLoad& load, LoadFrame frame = LoadFrame::world);
  FloatingReport step();

  FloatingVelocity velocity() const;
  Vec3 center_of_mass() const;
  double kinetic_energy() const;
  double elastic_energy();
  /// Kinetic, elastic and of gravity (zero at the world's origin).
  double total_energy();
  /// World positions of all vertices of the surface.
  void surface_positions(std::span<Vec3> positions) const;

  // ---- one step in parts, for those who solve for several bodies at once --------------------------------------------

  /// Loads, and a first guess of the increment. Contacts act with all of their impulse at the start of a step; loads of
  /// a body that touches must do so too (share 1 instead of ½), so that both cancel at rest.
  void begin_step(double share_at_start = 0.5);
  /// Elastic forces at the middle of the present increment; fills system().
  void linearize();
  /// Sets up the equations with the stiffness of the rest shape, for the rare states in which the present one is
  /// indefinite.
  void use_rest_stiffness();
  /// ∂(residual)/∂(increment), negative, without contacts: 6 + r, both triangles.
  MatX& system() { return system_; }
  /// h (momenta and loads) − what the increment answers to.
  void residual(Eigen::Ref<VecX> result);
  /// Increment += correction (translation, rotation vector, q).
  void advance(const Eigen::Ref<const VecX>& correction);
  /// Takes the increment over; `impulse` and `angular_impulse` (about the world's origin) are those of contacts.
  bool finish_step(const Vec3& impulse = Vec3::Zero(), const Vec3& angular_impulse = Vec3::Zero());
  const FloatingIncrement& increment() const { return increment_; }
  /// Gives Q − 1, Q being the rotation of the increment.
  const Mat3& turning() const { return turning_; }
  const Mat3& rotation() const { return rotation_; }  ///< R₀
  /// (h × generalised momentum)·increment: a measure of the motion of this step, for tolerances [kg m²].
  double motion() const { return motion_; }
  double negligible_motion() const;

 private:
  struct PointForce {
    int vertex;
    Vec3 force;
  };
  FloatingBody() = default;
  void place_frame();
  void clear_loads();
  void fill_system(const MatX& stiffness);
  bool factorize();
  void add_loads(const Mat3& R, const VecX& q, VecX& generalised) const;
  VecX momenta() const;
  VecX mass_solution(const VecX& momenta) const;
  Vec3 displaced(int vertex, const VecX& q) const;
  void load_impulses(Vec3& impulse, Vec3& angular_impulse, const Vec3& c, const Mat3& R, const VecX& q,
                     double duration) const;

  FloatingSettings settings_;
  FloatingInertia inertia_;
  ReducedForces<double> forces_;
  BasisRows<double> surface_rows_;
  std::vector<Vec3> surface_rest_;
  FloatingState state_;

  std::vector<PointForce> point_forces_;
  FloatingLoad world_load_, body_load_;
  bool loaded_ = false;  ///< whether one of the two differs from zero
  Mat3 rotation_ = Mat3::Identity();
  FrameMoments moments_, end_moments_;
  FloatingIncrement increment_;
  Mat3 turning_ = Mat3::Zero();
  double motion_ = 0.0;
  double share_at_start_ = 0.5;
  double kept_ = 1.0;  ///< what drag leaves of the momenta in half a step
  VecX known_;         ///< h × (momenta + half of the loads' impulses)
  VecX linearized_q_;  ///< Δq where the elastic forces were evaluated
  VecX force_, stiff_force_, mass_force_, middle_, difference_;
  MatX stiffness_, rest_stiffness_, system_;
  DenseCholesky<double> factor_;
  VecX correction_, residual_, loads_;
};

}  // namespace supple
