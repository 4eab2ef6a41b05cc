// SPDX-License-Identifier: Apache-2.0
// FloatingWorld: free bodies that fall, collide, pile up and come to rest on planes.
//
// Bodies that touch nothing step alone. Those that touch are solved together: Newton's method on the increments of all
// of them, where each contact adds h² Jᵀ(−∂f/∂r)J (J: increment → relative motion of its two points). A body's own part
// of this is factorised with its mass and stiffness; what couples two bodies is left to conjugate gradients with these
// factors as preconditioner, which for contacts with planes alone end after one round. Sums of momenta are exact,
// however far the solver got. Limits: points feel, edges do not, so features thinner than the spacing of points can
// slip by; a point that goes through a body's middle in one step comes out on the other side.
#pragma once

#include "supple/runtime/subspace/floating_contact.h"

namespace supple {

struct FloatingWorldSettings {
  ContactSettings contact;
  int max_contacts = 1024;     ///< more than these are ignored, and counted
  int max_iterations = 6;      ///< Newton's steps for bodies that touch
  int max_solver_rounds = 40;  ///< of conjugate gradients in each
  double tolerance = 1e-3;     ///< of a correction, relative to the motion of the step
};

struct FloatingWorldReport {
  int contacts = 0;
  int ignored_contacts = 0;
  int iterations = 0;       ///< Newton's steps, 0 when nothing touches
  int solver_rounds = 0;    ///< in all of them
  double correction = 0.0;  ///< the last one, relative
  int recovered = 0;        ///< bodies whose step broke down and was undone
};

class FloatingWorld {
 public:
  /// `shapes` beside `bodies`. Fails when numbers or time steps differ, and on settings out of range.
  static Result<FloatingWorld> create(std::vector<FloatingBody> bodies, std::vector<ContactShape> shapes,
                                      std::vector<ContactPlane> planes, const FloatingWorldSettings& settings);

  int body_count() const { return static_cast<int>(bodies_.size()); }
  FloatingBody& body(int k) { return bodies_[to_size(k)]; }
  const FloatingBody& body(int k) const { return bodies_[to_size(k)]; }
  /// Gives the contacts of the last step.
  std::span<const Contact> contacts() const { return contacts_; }

  /// Advances all bodies by one time step. Allocates nothing, never throws.
  FloatingWorldReport step();
  /// Gives the kinetic, elastic and gravitational energy of all bodies [J], without that of contacts.
  double total_energy();

 private:
  FloatingWorld() = default;
  void find_contacts(FloatingWorldReport& report);
  void find_plane_contacts(int body, FloatingWorldReport& report);
  void find_body_contacts(int feeling, int other, FloatingWorldReport& report);
  bool room_for_contact(FloatingWorldReport& report);
  void solve_together(FloatingWorldReport& report);
  void update_forces();
  void assemble();
  void add_contact_block(int body, const BodyPoint& point, const Contact& contact);
  bool factorize(int body);
  double correct(FloatingWorldReport& report);
  void multiply(const VecX& x, VecX& y);
  void precondition(const VecX& x, VecX& y);
  void finish(FloatingWorldReport& report);

  FloatingWorldSettings settings_;
  double time_step_ = 0.0;
  std::vector<FloatingBody> bodies_;
  std::vector<ContactShape> shapes_;
  std::vector<ContactPlane> planes_;
  std::vector<double> largest_row_;  ///< no vertex is displaced by more than this times |q|
  std::vector<ForeseenPose> poses_;
  std::vector<Contact> contacts_;
  std::vector<bool> touching_;
  std::vector<int> first_;  ///< of each body's unknowns
  std::vector<DenseCholesky<double>> factors_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> columns_, weighted_;  ///< of one contact's J
  VecX correction_, residual_, direction_, product_, preconditioned_;
};

}  // namespace supple
