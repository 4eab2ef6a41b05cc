// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/quasistatic_solver.h"

#include "supple/base/clock.h"
#include "supple/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace supple {
namespace {

constexpr std::int64_t vector_grain = 4096;

auto part(VecX& x, ExRotatedBody::Range range) {
  return x.segment(3 * Eigen::Index{range.begin}, 3 * Eigen::Index{range.count()});
}
auto part(const VecX& x, ExRotatedBody::Range range) {
  return x.segment(3 * Eigen::Index{range.begin}, 3 * Eigen::Index{range.count()});
}

BlockIncompleteCholesky factor_of(const ExRotatedBody& body, ExRotatedBody::Range range) {
  std::vector<Index> rows(to_size(range.count()));
  std::iota(rows.begin(), rows.end(), range.begin);
  const std::span<const Vec3> points = std::span(body.rest()).subspan(to_size(range.begin), rows.size());
  return {body.stiffness(), slab_order(body.stiffness().pattern(), rows, points)};
}

/// The mean of the diagonal's entries times the length of an edge [N].
double force_for_an_edge(const ExRotatedBody& body) {
  double sum = 0;
  for (Index v = 0; v < body.free().end; ++v)
    sum += Eigen::Map<const Mat3>(body.stiffness().block(body.stiffness().pattern().find(v, v))).trace() / 3;
  return sum / body.free().end * body.mean_edge();
}

}  // namespace

QuasistaticSolver::QuasistaticSolver(ExRotatedBody body, const QuasistaticSettings& settings)
    : body_(std::move(body)), settings_(settings) {
  unit_force_ = force_for_an_edge(body_);
  if (settings.method == QuasistaticMethod::surface) {
    interior_ = factor_of(body_, body_.interior());
    if (settings.precondition) factor_boundary();
  } else if (settings.precondition && settings.press) {
    pressed_volume_ = PressedVolume(body_, factor_of(body_, body_.interior()));
  } else if (settings.precondition) {
    volume_ = factor_of(body_, body_.free());
  }
  turn_.resize(to_size(body_.vertex_count()));
  scratch_.resize(3 * to_size(body_.vertex_count()));
  const Eigen::Index size = 3 * Eigen::Index{body_.vertex_count()};
  for (VecX* vector : {&gravity_, &f_, &r_, &z_, &p_, &q_, &w_, &y_, &v_, &delta_}) *vector = VecX::Zero(size);
}

void QuasistaticSolver::factor_boundary() {
  const BlockMatrix schur = sparse_schur(body_, interior_, settings_.schur);
  boundary_ = boundary_factor(body_, schur);
  const auto [begin, end] = body_.boundary();
  pressed_boundary_ = PressedFactor(nearest_schur(body_, schur), begin,
                                    std::span(body_.rest()).subspan(to_size(begin), to_size(end - begin)));
}

void QuasistaticSolver::turn(std::span<const Eigen::Vector4d> rotations) {
  if (element_turn_.empty())
    body_.pose(rotations);
  else
    body_.pose_elements(element_turn_);
  parallel_for(body_.vertex_count(), vector_grain, [&](std::int64_t v) {
    turn_[to_size(v)] = Quat(rotations[to_size(v)]).normalized().toRotationMatrix().cast<float>();
  });
}

template <class Solve>
void QuasistaticSolver::precondition_rows(std::span<const Index> rows, Index first, const Solve& solve, const VecX& r,
                                          VecX& z) {
  // Factors are in single precision, whose range is narrow: the residual is brought to size one.
  double largest = 0;
  for (const Index row : rows)
    largest = std::max(largest, r.segment<3>(3 * Eigen::Index{row + first}).cwiseAbs().maxCoeff());
  if (!(largest > 0)) {
    for (const Index row : rows) z.segment<3>(3 * Eigen::Index{row + first}).setZero();
    return;
  }
  parallel_for(std::ssize(rows), vector_grain, [&](std::int64_t i) {
    const Index v = rows[to_size(i)] + first;
    Eigen::Map<Eigen::Vector3f>(scratch_.data() + 3 * to_size(i)) =
        turn_[to_size(v)].transpose() * (r.segment<3>(3 * Eigen::Index{v}) / largest).cast<float>();
  });
  solve(scratch_.data());
  parallel_for(std::ssize(rows), vector_grain, [&](std::int64_t i) {
    const Index v = rows[to_size(i)] + first;
    z.segment<3>(3 * Eigen::Index{v}) =
        largest * (turn_[to_size(v)] * Eigen::Map<const Eigen::Vector3f>(&scratch_[3 * to_size(i)])).cast<double>();
  });
}

void QuasistaticSolver::precondition(const BlockIncompleteCholesky& factor, Index first, const VecX& r, VecX& z) {
  precondition_rows(
      factor.order().rows, first, [&](float* y) { factor.solve(y); }, r, z);
}

template <class Apply, class Precondition>
int QuasistaticSolver::conjugate_gradients(Range range, const Apply& apply, const Precondition& precondition,
                                           double target, VecX& x) {
  auto r = part(r_, range), z = part(z_, range), p = part(p_, range), q = part(q_, range), solution = part(x, range);
  solution.setZero();
  if (r.norm() <= target) return 0;
  precondition(r_, z_);
  p = z;
  double rz = r.dot(z);
  for (int k = 1; k <= settings_.most_iterations; ++k) {
    apply(p_, q_);
    const double pq = p.dot(q);
    if (!(pq > 0) || !(rz > 0)) return k;
    const double alpha = rz / pq;
    solution += alpha * p;
    r -= alpha * q;
    if (r.norm() <= target) return k;
    precondition(r_, z_);
    const double next = r.dot(z);
    p = z + (next / rz) * p;
    rz = next;
  }
  return settings_.most_iterations;
}

void QuasistaticSolver::add_contact_product(const VecX& x, VecX& y) const {
  for (const ContactSpring& spring : active_) {
    const Vec3 moved = spring.relative_motion(x, body_.free().end);
    spring.add_vector(spring.resistance() * moved, body_.free().end, y);
  }
}

void QuasistaticSolver::add_contact_forces(const VecX& x, VecX& f, QuasistaticReport& report) {
  active_.clear();
  report.deepest = 0;
  for (const ContactSpring& spring : known_.springs) {
    const double strain = spring.strain(x);
    if (strain >= 0 && !(spring.grip > 0)) continue;
    active_.push_back(spring);
    active_.back().note_resistance(x);
    if (spring.grip > 0)
      spring.add_vector(spring.stiffness * spring.shortened(spring.wanted_pull(x)), body_.free().end, f);
    if (strain >= 0) continue;
    report.deepest = std::max(report.deepest, -spring.gap(x));
    spring.add_force(spring.stiffness * strain, body_.free().end, f);
  }
  report.contacts = static_cast<Index>(active_.size());
}

double QuasistaticSolver::length_of_step(Range range, const VecX& x, const VecX& force, const VecX& delta,
                                         const VecX& product) const {
  if (known_.springs.empty()) return 1;
  // φ'(t) = −δᵀ f(x + t δ) of the convex energy of flesh and springs: flesh without springs is linear in t.
  const double elastic = part(delta, range).dot(part(force, range)),
               curvature = part(delta, range).dot(part(product, range));
  struct Line {
    const ContactSpring& spring;
    double gap, slope;
    Vec3 pull, moved;
  };
  std::vector<Line> lines;
  for (const ContactSpring& spring : known_.springs) {
    const Vec3 moved = spring.relative_motion(delta, body_.free().end);
    const Vec3 pull = spring.grip > 0 ? spring.wanted_pull(x) : Vec3::Zero();
    lines.push_back({spring, spring.strain(x), spring.normal.dot(moved), pull, spring.across(moved)});
  }
  const auto derivative = [&](double t) {
    double sum = -elastic + t * curvature;
    for (const Line& line : lines) {
      sum += line.spring.stiffness * std::min(0.0, line.gap + t * line.slope) * line.slope;
      if (line.spring.grip > 0)
        sum -= line.spring.stiffness * line.spring.shortened(line.pull - t * line.moved).dot(line.moved);
    }
    return sum;
  };
  if (derivative(1) <= 0.1 * std::abs(derivative(0))) return 1;
  double low = 0, high = 1;
  for (int k = 0; k < 30; ++k) (derivative(0.5 * (low + high)) > 0 ? high : low) = 0.5 * (low + high);
  return low;
}

void QuasistaticSolver::approximate_interior(const VecX& w, VecX& y) {
  const Range interior = body_.interior();
  precondition(interior_, 0, w, y);
  body_.multiply(interior, interior, y, v_);
  part(v_, interior) = part(w, interior) - part(v_, interior);
  precondition(interior_, 0, v_, v_);
  part(y, interior) += part(v_, interior);
}

void QuasistaticSolver::relax_interior(VecX& x, double target, QuasistaticReport& report) {
  const auto start = Clock::now();
  const Range interior = body_.interior();
  if (interior.count() > 0) {
    body_.force(x, interior, r_);
    part(r_, interior) += part(gravity_, interior);
    report.interior_iterations += conjugate_gradients(
        interior, [&](const VecX& in, VecX& out) { body_.multiply(interior, interior, in, out); },
        [&](const VecX& in, VecX& out) { precondition(interior_, 0, in, out); }, target, delta_);
    part(x, interior) += part(delta_, interior);
  }
  report.interior_seconds += seconds_since(start);
}

void QuasistaticSolver::move_boundary(VecX& x, double target, QuasistaticReport& report) {
  const auto start = Clock::now();
  const Range interior = body_.interior(), boundary = body_.boundary();
  const auto apply = [&](const VecX& in, VecX& out) {
    body_.multiply(boundary, boundary, in, out);
    if (interior.count() > 0) {
      body_.multiply(interior, boundary, in, w_);
      approximate_interior(w_, y_);
      body_.multiply(boundary, interior, y_, v_);
      part(out, boundary) -= part(v_, boundary);
    }
    add_contact_product(in, out);
  };
  // Where skin touches, the springs count for more than what is far away.
  const bool pressed = settings_.precondition && settings_.press && !active_.empty();
  if (pressed) pressed_boundary_.press(active_, turn_);
  const BlockIncompleteCholesky& factor = pressed ? pressed_boundary_.factor() : boundary_;
  const auto prepare = [&](const VecX& in, VecX& out) {
    if (settings_.precondition)
      precondition(factor, boundary.begin, in, out);
    else
      part(out, boundary) = part(in, boundary);
  };
  report.boundary_iterations += conjugate_gradients(boundary, apply, prepare, target, delta_);
  if (!known_.springs.empty()) {
    active_.clear();  // the product of the flesh alone
    apply(delta_, q_);
    part(delta_, boundary) *= length_of_step(boundary, x, f_, delta_, q_);
  }
  part(x, boundary) += part(delta_, boundary);
  if (interior.count() > 0) {
    // The interior follows as far as B knows.
    body_.multiply(interior, boundary, delta_, w_);
    approximate_interior(w_, y_);
    part(x, interior) -= part(y_, interior);
  }
  report.boundary_seconds += seconds_since(start);
}

void QuasistaticSolver::move_volume(VecX& x, double target, QuasistaticReport& report) {
  const auto start = Clock::now();
  const Range free = body_.free();
  const auto apply = [&](const VecX& in, VecX& out) {
    body_.multiply(free, free, in, out);
    add_contact_product(in, out);
  };
  const bool pressed = settings_.precondition && settings_.press;
  if (pressed) pressed_volume_.press(active_, turn_);
  const auto prepare = [&](const VecX& in, VecX& out) {
    if (pressed)
      precondition_rows(
          pressed_volume_.order(), 0, [&](float* y) { pressed_volume_.solve(y); }, in, out);
    else if (settings_.precondition)
      precondition(volume_, 0, in, out);
    else
      part(out, free) = part(in, free);
  };
  report.volume_iterations += conjugate_gradients(free, apply, prepare, target, delta_);
  if (!known_.springs.empty()) {
    body_.multiply(free, free, delta_, q_);
    part(delta_, free) *= length_of_step(free, x, f_, delta_, q_);
  }
  part(x, free) += part(delta_, free);
  report.volume_seconds += seconds_since(start);
}

void QuasistaticSolver::find_forces(const VecX& x, QuasistaticReport& report) {
  body_.force(x, body_.free(), f_);
  part(f_, body_.free()) += part(gravity_, body_.free());
  part(r_, body_.free()) = part(f_, body_.free());
  add_contact_forces(x, r_, report);
}

void QuasistaticSolver::learn_pressure(const VecX& x) {
  known_.pressed.clear();
  known_.held.clear();
  for (ContactSpring& spring : known_.springs) {
    spring.lead = std::max(0.0, -spring.strain(x));
    if (spring.lead > 0)
      known_.pressed.try_emplace(spring.key, Vec3::Zero()).first->second +=
          spring.lead * spring.stiffness * spring.normal;
    if (spring.grip > 0) spring.hold = spring.shortened(spring.wanted_pull(x));
    spring.grip = spring.friction * spring.lead;
    if (spring.grip > 0)
      known_.held.try_emplace(spring.key, Vec3::Zero()).first->second += spring.stiffness * spring.hold;
  }
}

void QuasistaticSolver::mix_springs(bool with_earlier) {
  if (!with_earlier) known_.springs.clear();
  const double fresh = with_earlier ? settings_.fresh_share : 1, least = 0.05;
  for (ContactSpring& spring : known_.springs) {
    spring.share *= 1 - fresh;
    spring.stiffness *= 1 - fresh;
  }
  std::erase_if(known_.springs, [&](const ContactSpring& spring) { return spring.share < least; });
  for (ContactSpring spring : known_.found) {
    spring.share = fresh;
    spring.stiffness *= fresh;
    known_.springs.push_back(spring);
  }
}

/// What friction has learnt about a contact, for a spring that was just found. Tells how far it is from holding as it
/// should.
double QuasistaticSolver::take_grip(const VecX& x, ContactSpring& spring) const {
  spring.grip = spring.friction * std::max(0.0, spring.lead);
  if (!(spring.grip > 0)) return 0;
  if (const auto found = known_.held.find(spring.key); found != known_.held.end())
    spring.hold = spring.shortened(spring.across(found->second / spring.stiffness));
  return (spring.shortened(spring.wanted_pull(x)) - spring.hold).norm();
}

/// In a crumpled fold the nearest skin is now this and now that triangle, and each search turns what the one before has
/// settled: among the hundreds of contacts of a fine mesh there is always one.
void QuasistaticSolver::keep_restless(std::span<const ContactSpring> before) {
  const auto restless = [&](const ContactSpring& spring) {
    const auto found = restless_.find(spring.vertex[0]);
    return found != restless_.end() && found->second >= settings_.most_changes;
  };
  std::erase_if(known_.found, restless);
  for (const ContactSpring& spring : before) {
    if (!restless(spring)) continue;
    known_.found.push_back(spring);
    known_.found.back().lead = 0;
    known_.found.back().hold.setZero();
  }
  std::stable_sort(known_.found.begin(), known_.found.end(),
                   [](const ContactSpring& a, const ContactSpring& b) { return a.key < b.key; });
}

void QuasistaticSolver::look_for_contacts(const VecX& x, ContactSource& contacts, QuasistaticReport& report) {
  const auto start = Clock::now();
  // At first what pushed in the frame before goes on pushing: the guess hasn't been solved for.
  if (report.looks > 0) learn_pressure(x);
  const std::vector<ContactSpring> before = known_.found;
  contacts.find(x, known_.found);
  keep_restless(before);
  // Where bones leave no room, nothing is gained by pushing harder; and what is deep inside comes out in several goes,
  // because on its way it may meet other skin.
  const double most = 2 * body_.mean_edge(), deep = 0.5 * body_.mean_edge();
  report.deepest = report.contact_error = 0;
  std::vector<Index> unsettled;
  for (ContactSpring& spring : known_.found) {
    const double gap = spring.gap(x);
    if (const auto found = known_.pressed.find(spring.key); found != known_.pressed.end())
      spring.lead = std::clamp(found->second.dot(spring.normal) / spring.stiffness, 0.0, most);
    else if (gap < -deep)
      spring.lead = gap + deep;
    report.deepest = std::max(report.deepest, -gap);
    // How far it is from pushing as it should: nothing with a gap, and anything without.
    double error = std::abs(std::max(0.0, -spring.strain(x)) - std::max(0.0, spring.lead));
    error = std::max(error, take_grip(x, spring));
    report.contact_error = std::max(report.contact_error, error / body_.mean_edge());
    if (report.looks > settings_.looks_alone && error > settings_.contact_tolerance * body_.mean_edge() &&
        (unsettled.empty() || unsettled.back() != spring.vertex[0]))
      unsettled.push_back(spring.vertex[0]);
  }
  for (const Index v : unsettled) ++restless_[v];
  mix_springs(report.looks >= settings_.looks_alone);
  ++report.looks;
  report.contact_seconds += seconds_since(start);
}

void QuasistaticSolver::settle(VecX& x, ContactSource* contacts, bool look, QuasistaticReport& report) {
  const Range free = body_.free(), boundary = body_.boundary();
  const bool surface = settings_.method == QuasistaticMethod::surface;
  const double count = std::sqrt(static_cast<double>(free.count()));
  const double target = settings_.tolerance * unit_force_ * count;
  const int last_round = report.rounds + settings_.most_rounds;
  int looks_left = settings_.most_looks;
  int rounds_since_look = look ? settings_.rounds_per_look : 0;
  for (;; ++report.rounds, ++rounds_since_look) {
    if (surface) relax_interior(x, 0.5 * target, report);
    find_forces(x, report);
    double force = part(r_, free).norm();
    report.converged = force <= target;
    if (contacts != nullptr && report.rounds < last_round &&
        (report.converged || rounds_since_look >= settings_.rounds_per_look) && looks_left-- > 0) {
      look_for_contacts(x, *contacts, report);
      rounds_since_look = 0;
      if (settled(report)) {
        report.residual = force / (unit_force_ * count);
        break;
      }
      find_forces(x, report);
      force = part(r_, free).norm();
      report.converged = force <= target;
    }
    report.residual = force / (unit_force_ * count);
    if (report.converged || report.rounds == last_round) break;
    if (surface)
      move_boundary(x, std::max(0.3 * target, settings_.round_tolerance * part(r_, boundary).norm()), report);
    else
      move_volume(x, std::max(0.5 * target, contacts != nullptr ? settings_.round_tolerance * force : 0.0), report);
  }
  if (contacts != nullptr && rounds_since_look > 0) look_for_contacts(x, *contacts, report);
}

std::vector<ContactSpring> QuasistaticSolver::look_afresh(const VecX& x, ContactSource& contacts,
                                                          QuasistaticReport& report) {
  const auto start = Clock::now();
  std::vector<ContactSpring> found;
  contacts.find(x, found);
  report.contact_depth = 0;
  std::unordered_set<Index> touching;
  for (const ContactSpring& spring : known_.found) {
    report.contact_depth = std::max(report.contact_depth, -spring.gap(x));
    touching.insert(spring.vertex[0]);
  }
  const double most = settings_.contact_tolerance * body_.mean_edge();
  std::erase_if(
      found, [&](const ContactSpring& spring) { return spring.gap(x) > -most || touching.contains(spring.vertex[0]); });
  for (const ContactSpring& spring : found) report.contact_depth = std::max(report.contact_depth, -spring.gap(x));
  report.deepest = std::max(report.contact_depth, contacts.deepest(x));
  for (const ContactSpring& spring : contacts.find_buried(x, 2 * most)) found.push_back(spring);
  ++report.looks;
  report.contact_seconds += seconds_since(start);
  return found;
}

void QuasistaticSolver::take_up(std::span<const ContactSpring> missed, const VecX& x) {
  const double deep = 0.5 * body_.mean_edge();
  for (ContactSpring spring : missed) {
    spring.lead = std::min(0.0, spring.gap(x) + deep);
    known_.pressed.erase(spring.key);
    if (spring.kept) {
      restless_[spring.vertex[0]] = settings_.most_changes;
      std::erase_if(known_.found, [&](const ContactSpring& other) { return other.key == spring.key; });
    }
    known_.springs.push_back(spring);
    known_.found.push_back(spring);
  }
  // Searches expect their springs in the order in which they find them.
  std::stable_sort(known_.found.begin(), known_.found.end(),
                   [](const ContactSpring& a, const ContactSpring& b) { return a.key < b.key; });
}

QuasistaticReport QuasistaticSolver::solve(std::span<const Eigen::Vector4d> rotations, VecX& x, ContactSource* contacts,
                                           const Vec3& gravity, bool near) {
  QuasistaticReport report;
  const auto start = Clock::now();
  turn(rotations);
  restless_.clear();
  pressed_boundary_.forget();
  pressed_volume_.forget();
  if (!near) known_ = {};
  std::erase_if(known_.found, [](const ContactSpring& spring) { return spring.kept; });
  for (Index v = 0; v < body_.free().end; ++v) gravity_.segment<3>(3 * Eigen::Index{v}) = body_.mass()[v] * gravity;
  if (body_.inertia() > 0)
    for (Index v = 0; v < body_.free().end; ++v)
      gravity_.segment<3>(3 * Eigen::Index{v}) +=
          body_.inertia() * body_.mass()[v] * drawn_to_.segment<3>(3 * Eigen::Index{v});
  report.pose_seconds = seconds_since(start);
  settle(x, contacts, near, report);
  if (contacts == nullptr) return report;
  std::vector<ContactSpring> missed = look_afresh(x, *contacts, report);
  if (missed.empty() || !settled(report)) return report;
  VecX best_x = x;
  Contacts best_known = known_;
  QuasistaticReport best = report;
  while (!missed.empty() && settled(report) && report.takes < settings_.most_takes) {
    ++report.takes;
    take_up(missed, x);
    settle(x, contacts, false, report);
    missed = look_afresh(x, *contacts, report);
    if (!report.converged || report.deepest >= best.deepest) continue;
    best_x = x;
    best_known = known_;
    best = report;
  }
  x = best_x;
  known_ = best_known;
  report.converged = best.converged;
  report.contact_error = best.contact_error;
  report.residual = best.residual;
  report.contacts = best.contacts;
  report.contact_depth = best.contact_depth;
  report.deepest = best.deepest;
  return report;
}

}  // namespace supple
