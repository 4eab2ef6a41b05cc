// SPDX-License-Identifier: Apache-2.0
#include "samples/creature_field.h"

#include "samples/shapes.h"
#include "supple/rig/motion/keyframes.h"

#include <algorithm>
#include <cmath>

namespace supple {

double part_value(const Part& part, const Vec3& x) {
  if (part.shape == Part::Shape::rod) return tapered_distance(x, part.a, part.b, part.radius_a, part.radius_b);
  // First order in the distance: (s² − s) / |∇s²/2|, s = |x / radii|.
  const Vec3 scaled = (part.axes.transpose() * (x - part.a)).cwiseQuotient(part.radii);
  const double s = scaled.norm();
  const double slope = scaled.cwiseQuotient(part.radii).norm();
  return slope > 1e-9 ? s * (s - 1) / slope : -part.radii.minCoeff();
}

double part_thickness(const Part& part) {
  return part.shape == Part::Shape::rod ? std::max(part.radius_a, part.radius_b) : part.radii.minCoeff();
}

namespace {

double limb_value(const Limb& limb, const Vec3& x) {
  double value = 1e3;
  for (const Part& part : limb.parts) {
    const double v = part_value(part, x);
    value = part.carve ? -melted(-value, v, part.blend) : melted(value, v, part.blend);
  }
  return value;
}

double limb_blend(const Limb& limb, const Vec3& x) {
  if (limb.reach <= 0) return limb.blend;
  const double t = std::clamp(1.5 - (x - limb.attach).norm() / limb.reach, 0.0, 1.0);
  return limb.blend * t * t * (3 - 2 * t);
}

}  // namespace

double Creature::value(const Vec3& x) const {
  const Vec3 left(symmetric ? std::abs(x.x()) : x.x(), x.y(), x.z());
  double value = 1e3;
  for (const Limb& limb : limbs) {
    const double apart = (limb.low - left).cwiseMax(left - limb.high).cwiseMax(0.0).norm();
    if (apart > value + limb.blend) continue;  // it can't matter here
    const double blend = limb_blend(limb, left), own = limb_value(limb, left);
    value = blend > 0 ? melted(value, own, blend) : std::min(value, own);
  }
  return value;
}

Vec3 Creature::normal(const Vec3& x) const {
  constexpr double h = 1e-5;
  Vec3 gradient;
  for (int a = 0; a < 3; ++a) gradient[a] = value(x + h * Vec3::Unit(a)) - value(x - h * Vec3::Unit(a));
  const double length = gradient.norm();
  return length > 0 ? Vec3(gradient / length) : Vec3(Vec3::UnitY());
}

// ---- describing -----------------------------------------------------------------------------------------------------

Part& Limb::add(const Part& part, const Vec3& end, double radius) {
  low = low.cwiseMin(part.a.cwiseMin(end) - Vec3::Constant(radius));
  high = high.cwiseMax(part.a.cwiseMax(end) + Vec3::Constant(radius));
  return parts.emplace_back(part);
}

Part& Limb::rod(Index joint, const Vec3& a, double radius_a, const Vec3& b, double radius_b) {
  Part part;
  part.shape = Part::Shape::rod;
  part.a = a;
  part.b = b;
  part.radius_a = radius_a;
  part.radius_b = radius_b;
  part.joint = joint;
  part.blend = part_blend;
  part.color = color;
  return add(part, b, std::max(radius_a, radius_b));
}

Part& Limb::carve_ball(const Vec3& center, const Vec3& radii, double blend_radius) {
  Part part;
  part.a = center;
  part.radii = radii;
  part.blend = blend_radius;
  part.carve = true;
  return parts.emplace_back(part);
}

Part& Limb::ball(Index joint, const Vec3& center, const Vec3& radii, const Vec3& turn) {
  Part part;
  part.a = center;
  part.radii = radii;
  part.axes = euler_rotation(turn).toRotationMatrix();
  part.joint = joint;
  part.blend = part_blend;
  part.color = color;
  return add(part, center, radii.maxCoeff());
}

Part& Limb::muscle(Index joint, const Vec3& from, const Vec3& to, double radius) {
  Part& part = ball(joint, (from + to) / 2, Vec3(radius, (to - from).norm() / 2, radius));
  part.axes = rotation_between(Vec3::UnitY(), to - from).toRotationMatrix();
  return part;
}

Index Creature::add_joint(std::string joint_name, Index parent, const Vec3& place) {
  joint_names.push_back(std::move(joint_name));
  parents.push_back(parent);
  joints.push_back(place);
  return static_cast<Index>(joints.size()) - 1;
}

Index Creature::joint(const std::string& joint_name) const {
  return static_cast<Index>(std::find(joint_names.begin(), joint_names.end(), joint_name) - joint_names.begin());
}

Limb& Creature::add_limb(std::string limb_name, double blend, const Vec3& attach, double reach) {
  Limb limb;
  limb.name = std::move(limb_name);
  limb.blend = blend;
  limb.part_blend = blend;
  limb.attach = attach;
  limb.reach = reach;
  return limbs.emplace_back(std::move(limb));
}

Index Creature::twin(Index joint_index) const {
  const std::string& own = joint_names[to_size(joint_index)];
  if (own.starts_with("left_")) return joint("right_" + own.substr(5));
  if (own.starts_with("right_")) return joint("left_" + own.substr(6));
  return joint_index;
}

void Creature::mirror_joints() {
  const std::size_t described = joints.size();
  for (std::size_t j = 0; j < described; ++j) {
    if (!joint_names[j].starts_with("left_")) continue;
    add_joint("right_" + joint_names[j].substr(5), twin(parents[j]), joints[j].cwiseProduct(Vec3(-1, 1, 1)));
  }
}

Skeleton Creature::skeleton() const {
  Skeleton result;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    Joint joint;
    joint.name = joint_names[j];
    joint.parent = parents[j];
    joint.rest.translation = joints[j];
    if (joint.parent >= 0) joint.rest.translation -= joints[to_size(joint.parent)];
    result.joints.push_back(joint);
  }
  return result;
}

}  // namespace supple
