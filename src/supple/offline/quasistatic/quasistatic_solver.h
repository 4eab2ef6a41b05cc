// SPDX-License-Identifier: Apache-2.0
// QuasistaticSolver: the equilibrium of ex-rotated flesh (exrotated_body.h) whose bones and rotations are given, with
// contacts, in one of two ways that end at the same positions:
//
//   surface   (2014 paper, sections 5 and 6) the interior is relaxed, then the boundary is moved by
//             (S̃ + K_contact) δ = f_b + f_contact   with conjugate gradients, and so on until both are at rest:
//             S̃ = K_bb − K_bi B K_ib is never formed. Preconditioner: the sparse S(0) of schur_preconditioner.h; where
//             skin touches, its nearest entries and the springs (pressed_factor.h).
//   volume    (K + K_contact) δ = f + f_contact of all free vertices with conjugate gradients. Preconditioner: the
//             incomplete factor of the mesh with the springs (pressed_volume.h).
//
// Contacts are searched for every few Newton iterations. Between searches springs keep their targets and normals, and
// push or don't as their gaps say, so that the energy is convex; steps go as far along the Newton direction as it
// falls. Each search finds springs anew, which cycles: a vertex in a crease is pushed out of one side into the other.
// Springs therefore fade (Krasnoselskii's mean of a map with itself): a search adds its springs with a share of the
// stiffness, and those before keep the rest, each with the direction it had. And springs learn (augmented Lagrangian):
// what one has pushed with it pushes with in the next search without being compressed, λ ← max(0, λ − k gap), so that
// no depth is left to hold skin apart, whatever the stiffness. A frame is settled when a new search changes nothing.
// What several late searches have found unsettled, as in a crumpled fold, is no longer looked up but touches on where
// it did.
//
// Searches follow the contacts that they know, and may lose what is deeper. A settled frame is therefore searched as if
// nothing were known; what is deep is taken up and solved for, a few times, and the solution with the least depth is
// kept. The depth that is told is that of everything, whether searches find it or not.
//
// Preconditioners are incomplete Cholesky factors of the reference pose turned by the rotations of the vertices, R L⁻ᵀ
// L⁻¹ Rᵀ (Eq. 14 and 15). The paper's B is that of the interior, M⁻¹ = R L_i⁻ᵀ L_i⁻¹ Rᵀ; ours is two steps of it,
//   B = 2 M⁻¹ − M⁻¹ K_ii M⁻¹,
// because then B ≤ K_ii⁻¹ whatever M is, so that S̃ ≥ S is positive definite and the modified Newton iteration
// converges; with M⁻¹ alone, neither is certain.
#pragma once

#include "supple/offline/quasistatic/contact_spring.h"
#include "supple/offline/quasistatic/exrotated_body.h"
#include "supple/offline/quasistatic/pressed_volume.h"
#include "supple/offline/quasistatic/schur_preconditioner.h"

#include <unordered_map>

namespace supple {

enum class QuasistaticMethod { surface, volume };

struct QuasistaticSettings {
  QuasistaticMethod method = QuasistaticMethod::volume;
  /// On the mean force that is left on a vertex, as a share of what it takes to push one by an edge's length.
  double tolerance = 1e-5;
  int most_rounds = 200;    ///< Newton iterations
  int rounds_per_look = 3;  ///< at most, between searches for contacts
  /// [edges] Searches end when contacts are neither deeper than this nor push from farther away.
  double contact_tolerance = 0.02;
  int looks_alone = 3;           ///< searches whose springs replace earlier ones; later they share with them …
  double fresh_share = 0.3;      ///< … and have this part
  int most_changes = 2;          ///< in so many late searches a vertex may be unsettled before its contacts are kept
  int most_looks = 30;           ///< after these, the contacts that are known are solved for
  int most_takes = 2;            ///< how often what only a search that knows nothing finds is solved for as well
  int most_iterations = 2000;    ///< of conjugate gradients, for each of them
  double round_tolerance = 0.1;  ///< by which each Newton iteration reduces the force at least
  bool precondition = true;      ///< false: to compare with
  bool press = true;             ///< preconditioners know of contact, beyond the paper; false: to compare with
  SchurSettings schur = {};
};

struct QuasistaticReport {
  bool converged = false;
  int rounds = 0;
  double contact_error = 0;     ///< as contact_tolerance counts it
  int looks = 0;                ///< searches for contacts, those that know nothing too
  int takes = 0;                ///< how often these found something deep that was solved for
  int interior_iterations = 0;  ///< of conjugate gradients, in all rounds
  int boundary_iterations = 0;
  int volume_iterations = 0;
  double residual = 0;       ///< mean force left, as the tolerance counts it
  Index contacts = 0;        ///< springs at the end
  double contact_depth = 0;  ///< of the deepest contact that searches find at the end [m]
  double deepest = 0;        ///< that a vertex is inside something at the end, whether or not it was known before [m]
  double pose_seconds = 0, interior_seconds = 0, boundary_seconds = 0, volume_seconds = 0, contact_seconds = 0;
};

class QuasistaticSolver {
 public:
  /// Factors what the method needs, of the reference pose.
  QuasistaticSolver(ExRotatedBody body, const QuasistaticSettings& settings = {});

  const ExRotatedBody& body() const { return body_; }
  const QuasistaticSettings& settings() const { return settings_; }
  /// Another tolerance or limit; not another method.
  QuasistaticSettings& settings() { return settings_; }

  /// Elements turn by these in the next solves, instead of by what the rotations of their corners say; none: no more.
  /// With those of the last solution (ExRotatedBody::rotations_of), solve after solve, corotational equilibria come
  /// out.
  void turn_elements(std::vector<Mat3> rotations) { element_turn_ = std::move(rotations); }

  /// What solves near the last one begin with.
  struct Contacts {
    std::vector<ContactSpring> found;                ///< by the last search
    std::vector<ContactSpring> springs;              ///< of that search and those before
    std::unordered_map<std::int64_t, Vec3> pressed;  ///< with which force, by their keys
    std::unordered_map<std::int64_t, Vec3> held;     ///< by friction, likewise
  };
  const Contacts& contacts() const { return known_; }
  /// Begins the next solve with those of an earlier one.
  void recall(const Contacts& contacts) { known_ = contacts; }

  /// Of the next solves; preconditioners stay as they were made.
  void set_inertia(double rate) { body_.set_inertia(rate); }
  /// Where inertia draws each vertex in the next solves, where the body has some (ExRotatedBody::set_inertia).
  void draw_to(VecX positions) { drawn_to_ = std::move(positions); }

  /// `rotations`: quaternions of any length for each vertex, `x`: positions, both in the body's numbers; those of held
  /// vertices are where bones are, the others are a guess that becomes the equilibrium. `gravity` [m/s²]. `near`: the
  /// guess is so good that contacts are looked for there; else flesh is first let go where it likes.
  QuasistaticReport solve(std::span<const Eigen::Vector4d> rotations, VecX& x, ContactSource* contacts = nullptr,
                          const Vec3& gravity = Vec3::Zero(), bool near = false);

 private:
  using Range = ExRotatedBody::Range;

  void factor_boundary();
  void turn(std::span<const Eigen::Vector4d> rotations);
  /// z ← R M⁻¹ Rᵀ r for the factor's rows, which begin at number `first`.
  void precondition(const BlockIncompleteCholesky& factor, Index first, const VecX& r, VecX& z);
  /// The same with whatever solve() does to three numbers for each of some rows.
  template <class Solve>
  void precondition_rows(std::span<const Index> rows, Index first, const Solve& solve, const VecX& r, VecX& z);
  void approximate_interior(const VecX& w, VecX& y);
  void add_contact_product(const VecX& x, VecX& y) const;
  void add_contact_forces(const VecX& x, VecX& f, QuasistaticReport& report);
  /// How far along δ the energy of flesh and springs falls, at most 1. `force` without springs, `product`: Kδ.
  double length_of_step(Range range, const VecX& x, const VecX& force, const VecX& delta, const VecX& product) const;
  template <class Apply, class Precondition>
  int conjugate_gradients(Range range, const Apply& apply, const Precondition& precondition, double target, VecX& x);

  void relax_interior(VecX& x, double target, QuasistaticReport& report);
  void move_boundary(VecX& x, double target, QuasistaticReport& report);
  void move_volume(VecX& x, double target, QuasistaticReport& report);
  void find_forces(const VecX& x, QuasistaticReport& report);
  void learn_pressure(const VecX& x);
  void mix_springs(bool with_earlier);
  double take_grip(const VecX& x, ContactSpring& spring) const;
  /// What was unsettled in several searches touches on where it touched `before`.
  void keep_restless(std::span<const ContactSpring> before);
  void look_for_contacts(const VecX& x, ContactSource& contacts, QuasistaticReport& report);
  bool settled(const QuasistaticReport& report) const {
    return report.converged && report.contact_error < settings_.contact_tolerance;
  }
  /// Until searches end. `look`: begins with one.
  void settle(VecX& x, ContactSource* contacts, bool look, QuasistaticReport& report);
  /// What is deeper than it may be for a search that knows nothing, of vertices that touch nothing so far. Tells how
  /// deep anything is.
  std::vector<ContactSpring> look_afresh(const VecX& x, ContactSource& contacts, QuasistaticReport& report);
  void take_up(std::span<const ContactSpring> missed, const VecX& x);

  ExRotatedBody body_;
  QuasistaticSettings settings_;
  BlockIncompleteCholesky interior_, boundary_, volume_;
  PressedFactor pressed_boundary_;
  PressedVolume pressed_volume_;
  double unit_force_ = 1;
  std::vector<Eigen::Matrix3f> turn_;
  std::vector<Mat3> element_turn_;
  Contacts known_;
  std::unordered_map<Index, int> restless_;  ///< in how many searches of this solve a vertex wasn't settled
  std::vector<ContactSpring> active_;        ///< that push
  VecX gravity_, f_, drawn_to_;
  VecX r_, z_, p_, q_, w_, y_, v_, delta_;
  std::vector<float> scratch_;
};

}  // namespace supple
