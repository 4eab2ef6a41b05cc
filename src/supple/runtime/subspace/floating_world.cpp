// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/floating_world.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Status check_world(const FloatingWorldSettings& s) {
  const ContactSettings& c = s.contact;
  if (!(c.stiffness > 0) || !(c.damping >= 0) || !(c.friction >= 0) || !(c.stick_speed > 0))
    return input_error("contact needs a positive stiffness and stick speed, and no negative damping or friction");
  if (s.max_contacts < 1 || s.max_iterations < 1 || s.max_solver_rounds < 1)
    return input_error("at least one contact, iteration and solver round are needed");
  return {};
}

double largest_row_of(const FloatingBody& body) {
  double largest = 0;
  for (int v = 0; v < body.surface_rows().point_count(); ++v) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis)
      sum += Eigen::Map<const VecX>(body.surface_rows().row(v, axis), body.size()).squaredNorm();
    largest = std::max(largest, sum);
  }
  return std::sqrt(largest);
}

/// (−∂f/∂r) v
Vec3 slope_times(const Contact& contact, const Vec3& v) {
  return contact.tangent_slope * v +
         (contact.normal_slope - contact.tangent_slope) * contact.normal.dot(v) * contact.normal;
}

/// The start of the step for a point that is foreseen at its end.
BodyPoint start_of(const FloatingBody& body, int index, int vertex) {
  const Vec3 u = body.surface_rows().displacement(vertex, body.state().q.data());
  return {index, vertex, body.surface_rest()[to_size(vertex)] + u};
}

}  // namespace

Result<FloatingWorld> FloatingWorld::create(std::vector<FloatingBody> bodies, std::vector<ContactShape> shapes,
                                            std::vector<ContactPlane> planes, const FloatingWorldSettings& settings) {
  SUPPLE_RETURN_IF_ERROR(check_world(settings));
  if (bodies.empty() || bodies.size() != shapes.size())
    return input_error("a world needs bodies, and one contact shape for each");
  FloatingWorld world;
  world.settings_ = settings;
  world.time_step_ = bodies[0].settings().time_step;
  int unknowns = 0, largest = 0;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    if (bodies[k].settings().time_step != world.time_step_)
      return input_error("all bodies of a world must have the same time step");
    if (shapes[k].neighbours.size() != bodies[k].surface_rest().size())
      return input_error("a contact shape was made for another surface than its body's");
    world.largest_row_.push_back(largest_row_of(bodies[k]));
    ForeseenPose pose;
    pose.q = bodies[k].state().q;
    pose.points.resize(shapes[k].points.size());
    world.poses_.push_back(std::move(pose));
    world.first_.push_back(unknowns);
    const int n = 6 + bodies[k].size();
    world.factors_.emplace_back().resize(n);
    unknowns += n;
    largest = std::max(largest, n);
  }
  for (ContactPlane& plane : planes) {
    if (!(plane.normal.norm() > 0)) return input_error("a plane needs a normal");
    plane.normal.normalize();
  }
  world.touching_.assign(bodies.size(), false);
  world.contacts_.reserve(to_size(settings.max_contacts));
  world.columns_.setZero(3, largest);
  world.weighted_.setZero(3, largest);
  for (VecX* v : {&world.correction_, &world.residual_, &world.direction_, &world.product_, &world.preconditioned_})
    v->setZero(unknowns);
  world.bodies_ = std::move(bodies);
  world.shapes_ = std::move(shapes);
  world.planes_ = std::move(planes);
  return world;
}

double FloatingWorld::total_energy() {
  double sum = 0;
  for (FloatingBody& body : bodies_) sum += body.total_energy();
  return sum;
}

FloatingWorldReport FloatingWorld::step() {
  FloatingWorldReport report;
  for (FloatingBody& body : bodies_) body.begin_step();
  find_contacts(report);
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    if (touching_[k]) {
      bodies_[k].begin_step(1.0);
    } else if (bodies_[k].step().recovered) {
      ++report.recovered;
    }
  }
  if (!contacts_.empty()) {
    solve_together(report);
    finish(report);
  }
  return report;
}

// ---- finding contacts -----------------------------------------------------------------------------------------------

void FloatingWorld::find_contacts(FloatingWorldReport& report) {
  contacts_.clear();
  std::fill(touching_.begin(), touching_.end(), false);
  for (std::size_t k = 0; k < bodies_.size(); ++k) foresee(bodies_[k], shapes_[k], largest_row_[k], poses_[k]);
  for (int a = 0; a < body_count(); ++a) {
    find_plane_contacts(a, report);
    for (int b = 0; b < body_count(); ++b) {
      if (a != b) find_body_contacts(a, b, report);
    }
  }
  for (const Contact& contact : contacts_) {
    touching_[to_size(contact.a.body)] = true;
    if (contact.b.body >= 0) touching_[to_size(contact.b.body)] = true;
  }
  report.contacts = static_cast<int>(contacts_.size());
}

bool FloatingWorld::room_for_contact(FloatingWorldReport& report) {
  if (contacts_.size() < contacts_.capacity()) return true;
  ++report.ignored_contacts;
  return false;
}

void FloatingWorld::find_plane_contacts(int body, FloatingWorldReport& report) {
  const auto k = to_size(body);
  ForeseenPose& pose = poses_[k];
  for (const ContactPlane& plane : planes_) {
    if (plane.normal.dot(pose.ball_center) - plane.offset > pose.ball_radius) continue;
    foresee_points(bodies_[k], shapes_[k], pose);
    for (std::size_t p = 0; p < pose.points.size(); ++p) {
      const double gap = plane.normal.dot(pose.points[p]) - plane.offset;
      if (gap > 0 || !room_for_contact(report)) continue;
      Contact contact;
      contact.a = start_of(bodies_[k], body, shapes_[k].points[p]);
      contact.normal = plane.normal;
      contact.gap = gap;
      contact.where = bodies_[k].state().position + bodies_[k].rotation() * contact.a.place;
      contact.foreseen_motion = pose.points[p] - contact.where;
      contacts_.push_back(contact);
    }
  }
}

void FloatingWorld::find_body_contacts(int feeling, int other, FloatingWorldReport& report) {
  const auto a = to_size(feeling), b = to_size(other);
  ForeseenPose& pose = poses_[a];
  const ForeseenPose& target = poses_[b];
  if ((pose.ball_center - target.ball_center).norm() > pose.ball_radius + target.ball_radius) return;
  foresee_points(bodies_[a], shapes_[a], pose);
  for (std::size_t p = 0; p < pose.points.size(); ++p) {
    BodyQuery answer;
    if (!query_body(bodies_[b], shapes_[b], target, pose.points[p], answer) || !room_for_contact(report)) continue;
    Contact contact;
    contact.a = start_of(bodies_[a], feeling, shapes_[a].points[p]);
    contact.where = bodies_[a].state().position + bodies_[a].rotation() * contact.a.place;
    const Vec3 offset = contact.where - bodies_[b].state().position;
    contact.b = {other, answer.vertex, bodies_[b].rotation().transpose() * offset};
    contact.normal = answer.normal;
    contact.gap = answer.distance;
    contact.foreseen_motion = point_motion(bodies_[a], contact.a) - point_motion(bodies_[b], contact.b);
    contacts_.push_back(contact);
  }
}

// ---- solving --------------------------------------------------------------------------------------------------------

void FloatingWorld::update_forces() {
  for (Contact& contact : contacts_) {
    Vec3 motion = point_motion(bodies_[to_size(contact.a.body)], contact.a);
    if (contact.b.body >= 0) motion -= point_motion(bodies_[to_size(contact.b.body)], contact.b);
    update_force(contact, motion, settings_.contact, time_step_);
  }
}

/// system += h² Jᵀ(−∂f/∂r)J for one of the two bodies.
void FloatingWorld::add_contact_block(int body, const BodyPoint& point, const Contact& contact) {
  FloatingBody& target = bodies_[to_size(body)];
  const int n = 6 + target.size();
  const Mat3 toward = target.rotation().transpose();
  const Vec3 normal = toward * contact.normal;
  columns_.leftCols<3>().setIdentity();
  columns_.middleCols<3>(3) = -cross_matrix(point.place);
  for (int axis = 0; axis < 3; ++axis) {
    const double* row = target.surface_rows().row(point.vertex, axis);
    for (int c = 0; c < target.size(); ++c) columns_(axis, 6 + c) = row[c];
  }
  const double h2 = time_step_ * time_step_;
  for (int c = 0; c < n; ++c) {
    const Vec3 column = columns_.col(c);
    weighted_.col(c) = h2 * (contact.tangent_slope * column +
                             (contact.normal_slope - contact.tangent_slope) * normal.dot(column) * normal);
  }
  MatX& system = target.system();
  for (int c = 0; c < n; ++c) {
    const double x = weighted_(0, c), y = weighted_(1, c), z = weighted_(2, c);
    double* column = system.col(c).data();
    const double* j = columns_.data();
    for (int row = 0; row < n; ++row, j += 3) column[row] += x * j[0] + y * j[1] + z * j[2];
  }
}

bool FloatingWorld::factorize(int body) {
  const auto k = to_size(body);
  const MatX& system = bodies_[k].system();
  for (int c = 0; c < system.cols(); ++c) std::copy_n(system.col(c).data(), system.rows(), factors_[k].column(c));
  return factors_[k].factorize();
}

void FloatingWorld::assemble() {
  for (int k = 0; k < body_count(); ++k) {
    if (!touching_[to_size(k)]) continue;
    const auto add_contacts = [&] {
      for (const Contact& contact : contacts_) {
        if (contact.normal_slope == 0) continue;
        if (contact.a.body == k) add_contact_block(k, contact.a, contact);
        if (contact.b.body == k) add_contact_block(k, contact.b, contact);
      }
    };
    body(k).linearize();
    add_contacts();
    if (factorize(k)) continue;
    body(k).use_rest_stiffness();
    add_contacts();
    factorize(k);
  }
}

/// y = A x over all bodies that touch.
void FloatingWorld::multiply(const VecX& x, VecX& y) {
  for (int k = 0; k < body_count(); ++k) {
    const int n = 6 + body(k).size();
    auto part = y.segment(first_[to_size(k)], n);
    if (touching_[to_size(k)]) {
      part.noalias() = body(k).system() * x.segment(first_[to_size(k)], n);
    } else {
      part.setZero();
    }
  }
  const double h2 = time_step_ * time_step_;
  for (const Contact& contact : contacts_) {
    if (contact.b.body < 0 || contact.normal_slope == 0) continue;
    const FloatingBody& a = body(contact.a.body);
    const FloatingBody& b = body(contact.b.body);
    const int at_a = first_[to_size(contact.a.body)];
    const int at_b = first_[to_size(contact.b.body)];
    const Vec3 from_b = -h2 * slope_times(contact, point_correction(b, contact.b, x.data() + at_b));
    const Vec3 from_a = -h2 * slope_times(contact, point_correction(a, contact.a, x.data() + at_a));
    add_point_force(a, contact.a, from_b, y.data() + at_a);
    add_point_force(b, contact.b, from_a, y.data() + at_b);
  }
}

void FloatingWorld::precondition(const VecX& x, VecX& y) {
  y = x;
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    if (touching_[k]) factors_[k].solve(y.data() + first_[k]);
  }
}

/// Residuals with contact forces, then conjugate gradients for the correction. Returns its size (residual·correction).
double FloatingWorld::correct(FloatingWorldReport& report) {
  const double h2 = time_step_ * time_step_;
  residual_.setZero();
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    if (touching_[k]) bodies_[k].residual(residual_.segment(first_[k], 6 + bodies_[k].size()));
  }
  for (const Contact& contact : contacts_) {
    add_point_force(body(contact.a.body), contact.a, h2 * contact.force,
                    residual_.data() + first_[to_size(contact.a.body)]);
    if (contact.b.body < 0) continue;
    add_point_force(body(contact.b.body), contact.b, -h2 * contact.force,
                    residual_.data() + first_[to_size(contact.b.body)]);
  }
  correction_.setZero();
  precondition(residual_, preconditioned_);
  direction_ = preconditioned_;
  double rho = residual_.dot(preconditioned_), size = 0;
  const double enough = 1e-6 * rho;  // Newton's method corrects what is left
  for (int round = 0; round < settings_.max_solver_rounds && rho > enough; ++round, ++report.solver_rounds) {
    multiply(direction_, product_);
    const double curvature = direction_.dot(product_);
    if (!(curvature > 0)) break;
    const double length = rho / curvature;
    correction_ += length * direction_;
    residual_ -= length * product_;
    size += length * rho;
    precondition(residual_, preconditioned_);
    const double next = residual_.dot(preconditioned_);
    direction_ = preconditioned_ + next / rho * direction_;
    rho = next;
  }
  return size;
}

void FloatingWorld::solve_together(FloatingWorldReport& report) {
  update_forces();
  for (; report.iterations < settings_.max_iterations; ++report.iterations) {
    assemble();
    const double size = correct(report);
    double motion = 0;
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
      if (!touching_[k]) continue;
      bodies_[k].advance(correction_.segment(first_[k], 6 + bodies_[k].size()));
      motion += bodies_[k].motion() + bodies_[k].negligible_motion() / (settings_.tolerance * settings_.tolerance);
    }
    update_forces();
    report.correction = std::sqrt(size / motion);
    if (size <= settings_.tolerance * settings_.tolerance * motion) break;
  }
}

void FloatingWorld::finish(FloatingWorldReport& report) {
  for (int k = 0; k < body_count(); ++k) {
    if (!touching_[to_size(k)]) continue;
    Vec3 impulse = Vec3::Zero(), angular = Vec3::Zero();
    for (const Contact& contact : contacts_) {
      const double sign = contact.a.body == k ? 1 : contact.b.body == k ? -1 : 0;
      if (sign == 0) continue;
      impulse += sign * time_step_ * contact.force;
      angular += sign * time_step_ * contact.where.cross(contact.force);
    }
    if (!body(k).finish_step(impulse, angular)) ++report.recovered;
  }
}

}  // namespace supple
