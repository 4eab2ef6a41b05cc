// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/contact/ball_contact.h"

#include "supple/runtime/contact/triangle_distance.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr double stability = 0.1;          // s
constexpr double damping_stability = 0.3;  // the largest damping, in units of 1/(g dt)
constexpr double reference_depth = 0.05;   // δ0/R
constexpr double largest_damping = 1.0;    // |τ v|
constexpr double largest_step = 0.125;     // of the tool, in radii

double reference_area(double radius) { return 0.4 * std::numbers::pi * radius * reference_depth * radius; }

/// 1/g: the least mass that a force on a vertex meets.
double least_point_mass(const BasisRows<double>& rows) {
  double largest = 0;
  for (int v = 0; v < rows.point_count(); ++v) {
    Mat3 gram;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        gram(i, j) = Eigen::Map<const VecX>(rows.row(v, i), rows.size())
                         .dot(Eigen::Map<const VecX>(rows.row(v, j), rows.size()));
    }
    largest = std::max(largest, gram.cwiseAbs().rowwise().sum().maxCoeff());
  }
  return largest > 0 ? 1 / largest : 0;
}

/// Of a point in the triangle's plane; what rounding puts outside is put on the border.
void barycentric_coordinates(const std::array<Vec3, 3>& t, const Vec3& point, double (&weights)[3]) {
  const Vec3 normal = (t[1] - t[0]).cross(t[2] - t[0]);
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 &b = t[(k + 1) % 3], &c = t[(k + 2) % 3];
    weights[k] = std::max(0.0, normal.dot((c - b).cross(point - b)));
    sum += weights[k];
  }
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 1.0 / 3;
}

}  // namespace

Result<BallContact> BallContact::create(const BoundedDeformationTree& tree, const BallContactSettings& settings) {
  if (!(settings.time_step > 0)) return input_error("the time step of the contact must be positive");
  if (!(settings.stiffness >= 0)) return input_error("the stiffness of the contact can't be negative");
  if (!(settings.damping >= 0)) return input_error("the damping of the contact can't be negative");
  if (!(settings.max_depth > 0 && settings.max_depth < 0.9))
    return input_error("the largest depth must lie between 0 and 0.9 of the ball's radius");
  if (!(settings.max_speed > 0)) return input_error("the largest speed of the tool must be positive");
  if (settings.limits.max_triangles < 1 || settings.limits.max_visits < 1)
    return input_error("a contact query must be allowed at least one triangle and one node");
  if (tree.empty()) return input_error("the object has no surface to touch; build it with one");
  return BallContact(tree, settings);
}

BallContact::BallContact(const BoundedDeformationTree& tree, const BallContactSettings& settings)
    : settings_(settings), point_mass_(least_point_mass(tree.rows())), query_(tree, settings.limits) {
  const double dt = settings.time_step;
  stiffness_ = settings.stiffness > 0 ? settings.stiffness : stability * point_mass_ / (dt * dt);
  touches_.reserve(to_size(settings.limits.max_triangles));
  contact_force_.resize(to_size(tree.size()));
}

void BallContact::follow(const Ball& hand) {
  if (!placed_) {
    tool_ = hand.center;
    tool_velocity_ = set_back_ = Vec3::Zero();
    placed_ = true;
    return;
  }
  const Vec3 before = tool_;
  tool_ += set_back_;
  const Vec3 way = hand.center - tool_;
  const double longest = std::min(settings_.max_speed * settings_.time_step, largest_step * hand.radius);
  const double length = way.norm();
  tool_ = length > longest ? Vec3(tool_ + way * (longest / length)) : hand.center;
  tool_velocity_ = (tool_ - before) / settings_.time_step;
}

double BallContact::integrate(std::span<const NearTriangle> near, double radius) {
  touches_.clear();
  double power = 0;
  for (const NearTriangle& candidate : near) {
    const std::array<Vec3, 3> corners = query_.corners(candidate.triangle);
    const PatchIntegrals patch = integrate_patch(corners, tool_, radius);
    if (!(patch.power > 0)) continue;
    power += patch.power;
    const Vec3 center = patch.pressure_center();
    Touch touch{.triangle = candidate.triangle, .pressure = patch.pressure, .arm = tool_ - center, .barycentric = {}};
    barycentric_coordinates(corners, center, touch.barycentric);
    touches_.push_back(touch);
  }
  return power;
}

Vec3 BallContact::sum_forces(double scale) {
  std::fill(contact_force_.begin(), contact_force_.end(), 0.0);
  const BoundedDeformationTree& tree = query_.tree();
  Vec3 total = Vec3::Zero();
  for (const Touch& touch : touches_) {
    const Vec3 force = scale * touch.pressure * touch.arm;
    total += force;
    const Triangle& t = tree.triangles()[to_size(touch.triangle)];
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 share = -touch.barycentric[k] * force;
      const double components[3] = {share.x(), share.y(), share.z()};
      tree.rows().add_force(static_cast<int>(t[k]), components, contact_force_);
    }
  }
  return total;
}

double BallContact::damping_factor(const Vec3& force, double depth, std::span<const double> velocity) const {
  double power = -force.dot(tool_velocity_);  // Ė
  for (std::size_t a = 0; a < velocity.size(); ++a) power -= contact_force_[a] * velocity[a];
  const double largest_force = stiffness_ * depth;
  const double strongest = damping_stability * point_mass_ / settings_.time_step;
  const double damping = std::min(settings_.damping, strongest / largest_force);
  return 1 + std::clamp(damping * power / largest_force, -largest_damping, largest_damping);
}

void BallContact::hold_back(const NearTriangle& nearest, double radius) {
  const double excess = radius - nearest.distance - settings_.max_depth * radius;
  if (!(excess > 0) || !(nearest.distance > 0)) return;
  const auto [a, b, c] = query_.corners(nearest.triangle);
  set_back_ = (tool_ - nearest_on_triangle(tool_, a, b, c)) * (excess / nearest.distance);
}

BallContactReport BallContact::step(const Ball& hand, std::span<const double> q, std::span<const double> velocity,
                                    std::span<double> reduced_force) {
  query_.set_shape(q);
  follow(hand);
  set_back_.setZero();
  const std::span<const NearTriangle> near = query_.triangles_within(tool_, hand.radius);
  BallContactReport report{.tool = tool_, .complete = query_.complete()};
  if (near.empty()) return report;
  report.depth = hand.radius - near.front().distance;
  const double area = reference_area(hand.radius);
  const double squared_depth = std::sqrt(integrate(near, hand.radius) / area);  // D²
  report.energy = 0.5 * stiffness_ * squared_depth;
  report.contacts = static_cast<int>(touches_.size());
  if (squared_depth > 0) {
    const Vec3 elastic = sum_forces(stiffness_ / (squared_depth * area));
    const double factor = damping_factor(elastic, std::sqrt(squared_depth), velocity);
    report.force = factor * elastic;
    for (std::size_t a = 0; a < reduced_force.size(); ++a) reduced_force[a] += factor * contact_force_[a];
  }
  hold_back(near.front(), hand.radius);
  return report;
}

}  // namespace supple
