// SPDX-License-Identifier: Apache-2.0
// BallContact: a ball in a user's hand against a reduced deformable surface; forces on both, once per step.
//
// Potential. With the depth d = max(0, R − |x − c|) of surface points inside the ball, one effective depth stands for
// the whole patch, and one spring of stiffness k for the contact:
//   D = ( ∫ d⁴ dA / A0 )^¼        E = ½ k D²        A0 = ⅖ π R δ0,  δ0 = R/20
// The integral is over the surface, exactly (contact/patch_integrals.h), so the force does not depend on how the
// surface is cut into triangles and does not jump when the ball slides from one to the next. On a flat surface
// D = δ (δ/δ0)^¼ to first order, and the force k δ (δ/δ0)^½ 5/4 grows as Hertz's law says, with δ^1.5. The fourth power
// lets the deepest points speak; the fourth root makes a thin bar nearly as hard as a wall.
//   force on the ball   F = −∂E/∂c = k D⁻² / A0 Σ_triangles P (c − x̄)
// with P the pressure integral and x̄ the centre of pressure of each triangle, where the opposite force acts on the
// surface; the sum of the two is zero, and f̃ += U_x̄ᵀ f takes it into the subspace.
//
// Damping after Hunt and Crossley: all forces are multiplied by 1 + τ Ḋ, between 0 and 2, so nothing jumps when contact
// begins and nothing sticks when it ends. The rate follows from the power of the forces, Ė = k D Ḋ = −F·ċ − f̃·q̇.
//
// Stability. Forces are explicit. A point load meets at least the mass 1/g, g = max_v ‖U_v U_vᵀ‖, so k ≤ s/(g dt²)
// keeps the frequency of the contact below √s/dt. Unless told otherwise k is that value for s = 0.1, which also stops a
// ball of 1 m/s within 3 dt · 1 m/s.
//
// No tunnelling. The tool (the ball that touches) follows the hand by at most max_speed dt ≤ R/8 per step, and where it
// is deeper than max_depth R it is set back along the nearest point's direction before the next step. So its centre
// stays R (1 − max_depth) − max_speed dt or more from the surface, on the side where it came from, however thin the
// member and however far the hand has gone; the force has then reached its limit. Otherwise tool and hand are one.
#pragma once

#include "supple/base/result.h"
#include "supple/runtime/contact/patch_integrals.h"
#include "supple/runtime/contact/surface_query.h"

namespace supple {

struct BallContactSettings {
  double time_step = 1.0 / 1000;  ///< [s]
  double stiffness = 0.0;         ///< k [N/m]; 0: as above
  double damping = 1.0;           ///< τ [s/m]
  double max_depth = 0.25;        ///< of the radius, below 0.9
  double max_speed = 2.0;         ///< of the tool [m/s]
  SurfaceQueryLimits limits = {};
};

struct Ball {
  Vec3 center = Vec3::Zero();  ///< [m]
  double radius = 0.0;         ///< [m]
};

struct BallContactReport {
  Vec3 tool = Vec3::Zero();   ///< centre of the ball that touches [m]
  Vec3 force = Vec3::Zero();  ///< on the ball, for the user's hand [N]
  int contacts = 0;           ///< triangles with a force on them
  double depth = 0.0;         ///< of the deepest point [m]
  double energy = 0.0;        ///< E [J]
  bool complete = true;       ///< no triangle was left out for want of time
};

class BallContact {
 public:
  /// The tree outlives the contact. Fails on settings out of range.
  static Result<BallContact> create(const BoundedDeformationTree& tree, const BallContactSettings& settings);

  double stiffness() const { return stiffness_; }
  const BallContactSettings& settings() const { return settings_; }
  /// The tool jumps to the hand at the next step.
  void reset() { placed_ = false; }

  /// The hand is at `hand` at the end of the step, for which q and q̇ are given (predicted, as a rule); adds to the
  /// reduced force f̃. All have r entries. Allocates nothing.
  BallContactReport step(const Ball& hand, std::span<const double> q, std::span<const double> velocity,
                         std::span<double> reduced_force);

 private:
  struct Touch {
    Index triangle;
    double pressure;
    Vec3 arm;               ///< c − x̄
    double barycentric[3];  ///< of x̄
  };

  BallContact(const BoundedDeformationTree& tree, const BallContactSettings& settings);
  void follow(const Ball& hand);
  /// Fills touches_ with what each near triangle contributes, and gives ∫ d⁴ dA of all.
  double integrate(std::span<const NearTriangle> near, double radius);
  /// The elastic force on the ball; that on the object goes to contact_force_.
  Vec3 sum_forces(double scale);
  double damping_factor(const Vec3& force, double depth, std::span<const double> velocity) const;
  void hold_back(const NearTriangle& nearest, double radius);

  BallContactSettings settings_;
  double stiffness_ = 0.0;
  double point_mass_ = 0.0;  ///< 1/g
  SurfaceQuery query_;
  std::vector<Touch> touches_;
  std::vector<double> contact_force_;  ///< f̃ of the contact alone
  bool placed_ = false;
  Vec3 tool_ = Vec3::Zero();
  Vec3 tool_velocity_ = Vec3::Zero();
  Vec3 set_back_ = Vec3::Zero();  ///< added to the tool before it follows the hand again
};

}  // namespace supple
