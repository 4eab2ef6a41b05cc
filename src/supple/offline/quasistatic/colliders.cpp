// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/colliders.h"

#include "supple/offline/quasistatic/mesh_distance.h"

#include <algorithm>

namespace supple {
namespace {

/// Away from a point at a distance; up where it is that point.
double away_from(const Vec3& centre, double radius, const Vec3& x, Vec3& out) {
  const double length = (x - centre).norm();
  out = length > 0 ? Vec3((x - centre) / length) : Vec3(Vec3::UnitY());
  return length - radius;
}

double outside_box(const Vec3& half, const Vec3& x, Vec3& out) {
  const Vec3 beyond = x.cwiseAbs() - half, sign = (x.array() < 0).select(Vec3::Constant(-1), Vec3::Ones());
  Eigen::Index nearest = 0;
  const double least = beyond.maxCoeff(&nearest);
  out = sign[nearest] * Vec3::Unit(nearest);
  if (least <= 0) return least;
  const Vec3 corner = beyond.cwiseMax(0.0);
  out = sign.cwiseProduct(corner).normalized();
  return corner.norm();
}

}  // namespace

double Collider::distance(const Vec3& x, Vec3& out, double reach) const {
  switch (shape) {
    case Shape::mesh:
      return level->distance(x - at, reach, out);
    case Shape::sphere:
      return away_from(at, radius, x, out);
    case Shape::box:
      return outside_box(0.5 * size, x - at, out);
    case Shape::capsule: {
      const Vec3 axis = to - at;
      const double length = axis.squaredNorm();
      const double t = length > 0 ? std::clamp((x - at).dot(axis) / length, 0.0, 1.0) : 0.0;
      return away_from(at + t * axis, radius, x, out);
    }
    case Shape::plane:
      break;
  }
  out = normal.normalized();
  return (x - at).dot(out);
}

ColliderContacts::ColliderContacts(const ExRotatedBody& body, std::vector<Collider> colliders, double stiffness)
    : colliders_(std::move(colliders)), placements_(colliders_.size()), reach_(body.mean_edge()) {
  const BlockMatrix& K = body.stiffness();
  for (Index v = body.boundary().begin; v < body.boundary().end; ++v) {
    skin_.push_back(v);
    stiffness_.push_back(stiffness * Eigen::Map<const Mat3>(K.block(K.pattern().find(v, v))).trace() / 3);
  }
}

void ColliderContacts::find(const VecX& x, std::vector<ContactSpring>& springs) {
  springs.clear();
  for (std::size_t i = 0; i < skin_.size(); ++i) {
    const Vec3 here = x.segment<3>(3 * Eigen::Index{skin_[i]});
    for (std::size_t c = 0; c < colliders_.size(); ++c) {
      Vec3 out;
      const double distance = colliders_[c].distance(placements_[c] * here, out, reach_);
      if (!(distance < reach_)) continue;
      ContactSpring& spring = springs.emplace_back();
      spring.vertex[0] = skin_[i];
      spring.weight[0] = 1;
      spring.normal = placements_[c].rotation.conjugate() * out;
      spring.offset = spring.normal.dot(here) - distance;
      spring.stiffness = stiffness_[i];
      if (colliders_[c].friction > 0 && start_.size() > 0) {
        spring.friction = colliders_[c].friction;
        // What sticks goes with the collider.
        spring.start =
            placements_[c].inverse() * (start_placements_[c] * start_.segment<3>(3 * Eigen::Index{skin_[i]}));
      }
      spring.key = skin_[i] + static_cast<std::int64_t>(c + 1) * (x.size() / 3);
    }
  }
}

void ColliderContacts::slide_from(const VecX& x) {
  start_ = x;
  start_placements_ = placements_;
}

void JoinedContacts::slide_from(const VecX& x) {
  for (ContactSource* source : sources_) source->slide_from(x);
}

void JoinedContacts::find(const VecX& x, std::vector<ContactSpring>& springs) {
  const std::vector<ContactSpring> before = std::move(springs);
  springs.clear();
  for (ContactSource* source : sources_) {
    found_ = before;
    source->find(x, found_);
    springs.insert(springs.end(), found_.begin(), found_.end());
  }
}

std::vector<ContactSpring> JoinedContacts::find_buried(const VecX& x, double depth) {
  std::vector<ContactSpring> springs;
  for (ContactSource* source : sources_) {
    const std::vector<ContactSpring> found = source->find_buried(x, depth);
    springs.insert(springs.end(), found.begin(), found.end());
  }
  return springs;
}

double JoinedContacts::deepest(const VecX& x) {
  double depth = 0;
  for (ContactSource* source : sources_) depth = std::max(depth, source->deepest(x));
  return depth;
}

}  // namespace supple
