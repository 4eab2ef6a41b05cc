// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/self_collision.h"

#include "supple/base/parallel.h"
#include "supple/mesh/normals.h"
#include "supple/offline/contact/near_triangles.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Vec3 at(const VecX& x, Index v) { return x.segment<3>(3 * Eigen::Index{v}); }

/// Weights of the corners of a triangle at a point of it.
Vec3 weights_in_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ap = p - a;
  const double d00 = ab.dot(ab), d01 = ab.dot(ac), d11 = ac.dot(ac), d20 = ap.dot(ab), d21 = ap.dot(ac);
  const double det = d00 * d11 - d01 * d01;
  if (!(det > 0)) return {1, 0, 0};
  const double v = (d11 * d20 - d01 * d21) / det, w = (d00 * d21 - d01 * d20) / det;
  return {1 - v - w, v, w};
}

double mean_edge_of(const Surface& surface) {
  double sum = 0;
  for (const Triangle& t : surface.triangles)
    sum += (surface.vertices[to_size(t[0])] - surface.vertices[to_size(t[1])]).norm();
  return surface.triangles.empty() ? 1 : sum / static_cast<double>(surface.triangles.size());
}

/// The mean of the diagonal's entries, where a vertex has a row.
double own_stiffness(const ExRotatedBody& body, Index v) {
  return Eigen::Map<const Mat3>(body.stiffness().block(body.stiffness().pattern().find(v, v))).trace() / 3;
}

}  // namespace

SelfCollision::SelfCollision(const ExRotatedBody& body, const SelfCollisionSettings& settings)
    : settings_(settings),
      rest_(body.rest()),
      free_end_(body.free().end),
      edge_(mean_edge_of(body.skin().surface)),
      tets_(body.elements(), body.rest()),
      skin_(body.skin().surface),
      skin_tree_(skin_) {
  double sum = 0;
  Index count = 0;
  for (const Index v : body.skin().volume_vertex) {
    proxies_.push_back(body.number_of()[to_size(v)]);
    const bool free = proxies_.back() < body.free().end;
    stiffness_.push_back(free ? settings.stiffness * own_stiffness(body, proxies_.back()) : 0);
    sum += stiffness_.back();
    count += free ? 1 : 0;
  }
  // What is held would bear any spring; it shall not push flesh harder than flesh does.
  for (double& k : stiffness_)
    if (k == 0) k = sum / std::max<Index>(count, 1);
  proxy_of_.assign(rest_.size(), -1);
  for (std::size_t i = 0; i < proxies_.size(); ++i) proxy_of_[to_size(proxies_[i])] = static_cast<Index>(i);
}

/// Out through the skin that was entered; where that is folded itself, straight to the target.
void SelfCollision::aim(const VecX& x, ContactSpring& spring) const {
  Vec3 normal = Vec3::Zero(), out = -at(x, spring.vertex[0]);
  for (std::size_t k = 1; k < 4; ++k) {
    normal -= spring.weight[k] * normals_[to_size(proxy_of_[to_size(spring.vertex[k])])];
    out -= spring.weight[k] * at(x, spring.vertex[k]);
  }
  normal.normalize();
  const bool straight = !(normal.dot(out) > 0.3 * out.norm()) && out.norm() > 1e-3 * edge_;
  spring.normal = straight ? Vec3(out.normalized()) : normal;
}

bool SelfCollision::may_touch(std::size_t proxy, Index triangle, const Vec3& at_rest) const {
  const Triangle& corners = skin_.triangles[to_size(triangle)];
  if (std::find(corners.begin(), corners.end(), static_cast<Index>(proxy)) != corners.end()) return false;
  // Where bones hold both sides, springs change nothing.
  const auto held = [&](Index i) { return proxies_[to_size(i)] >= free_end_; };
  if (held(static_cast<Index>(proxy)) && std::all_of(corners.begin(), corners.end(), held)) return false;
  if ((at_rest - skin_.vertices[proxy]).norm() < settings_.neighbourhood * edge_) return false;
  Vec3 facing = Vec3::Zero();
  for (const Index corner : corners) facing += normals_[to_size(corner)];
  return facing.normalized().dot(normals_[proxy]) < settings_.facing;
}

void SelfCollision::hang(std::size_t proxy, Index triangle, const Vec3& weights, ContactSpring& spring) const {
  const Triangle& corners = skin_.triangles[to_size(triangle)];
  spring.vertex[0] = proxies_[proxy];
  spring.weight[0] = 1;
  spring.key = proxies_[proxy];
  double other = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double beta = weights[static_cast<Eigen::Index>(k)];
    spring.vertex[k + 1] = proxies_[to_size(corners[k])];
    spring.weight[k + 1] = -beta;
    other += beta * stiffness_[to_size(corners[k])];
  }
  spring.stiffness = std::min(stiffness_[proxy], other);
}

bool SelfCollision::inside(std::size_t proxy, const VecX& x, ContactSpring& spring) const {
  const Index own = proxies_[proxy];
  const Vec3 point = at(x, own);
  // Of several tetrahedra, the one whose skin is nearest.
  TriangleTree::Nearest best;
  tets_.near(point, [&](Index e) {
    const TetTree::Element& element = tets_.elements()[to_size(e)];
    if (std::find(element.begin(), element.end(), own) != element.end()) return;
    std::array<Vec3, 4> now;
    for (std::size_t k = 0; k < 4; ++k) now[k] = at(x, element[k]);
    const Eigen::Vector4d w = barycentric_in(now, point);
    if (!(w.minCoeff() >= 0)) return;
    Vec3 back = Vec3::Zero();
    for (std::size_t k = 0; k < 4; ++k) back += w[static_cast<Eigen::Index>(k)] * rest_[to_size(element[k])];
    const TriangleTree::Nearest hit = skin_tree_.nearest(back, best.distance);
    if (hit.triangle >= 0 && hit.distance < best.distance && may_touch(proxy, hit.triangle, hit.point)) best = hit;
  });
  if (best.triangle < 0) return false;
  const Triangle& corners = skin_.triangles[to_size(best.triangle)];
  hang(proxy, best.triangle,
       weights_in_triangle(best.point, skin_.vertices[to_size(corners[0])], skin_.vertices[to_size(corners[1])],
                           skin_.vertices[to_size(corners[2])]),
       spring);
  aim(x, spring);
  return spring.normal.allFinite();
}

/// `now`: some of the skin's triangles as they are, `triangles`: which.
bool SelfCollision::before(std::size_t proxy, const VecX& x, const TriangleTree& now, std::span<const Index> triangles,
                           ContactSpring& spring) const {
  const Vec3 point = at(x, proxies_[proxy]);
  Index found = -1;
  Vec3 weights = Vec3::Zero();
  visit_near_triangles(now, point, settings_.reach * edge_, [&](std::size_t place, double& reach) {
    const auto& [a, b, c] = now.corners()[place];
    const Vec3 nearest = nearest_point_of_triangle(point, a, b, c);
    if (!((nearest - point).norm() < reach)) return;
    const Index triangle = triangles[to_size(now.triangle(place))];
    const Vec3 w = weights_in_triangle(nearest, a, b, c);
    Vec3 at_rest = Vec3::Zero();
    for (int k = 0; k < 3; ++k)
      at_rest += w[k] * skin_.vertices[to_size(skin_.triangles[to_size(triangle)][to_size(k)])];
    if (!may_touch(proxy, triangle, at_rest)) return;
    reach = (nearest - point).norm();
    found = triangle;
    weights = w;
  });
  if (found < 0) return false;
  hang(proxy, found, weights, spring);
  spring.normal.setZero();
  for (int k = 0; k < 3; ++k)
    spring.normal += weights[k] * normals_[to_size(skin_.triangles[to_size(found)][to_size(k)])];
  spring.normal.normalize();
  return spring.normal.allFinite() && spring.gap(x) >= 0;
}

void SelfCollision::find(const VecX& x, std::vector<ContactSpring>& springs) {
  tets_.refit(x);
  Surface skin = skin_;
  for (std::size_t i = 0; i < proxies_.size(); ++i) skin.vertices[i] = at(x, proxies_[i]);
  normals_ = vertex_normals(skin.triangles, skin.vertices);
  std::vector<ContactSpring> found(proxies_.size());
  std::vector<char> touches(proxies_.size(), 0);
  parallel_for(std::ssize(proxies_), 64,
               [&](std::int64_t k) { touches[to_size(k)] = inside(to_size(k), x, found[to_size(k)]) ? 1 : 0; });
  Bounds around;
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[i] != 0) around.add(skin.vertices[i]);
  for (const ContactSpring& spring : springs)
    if (spring.vertex[1] >= 0) around.add(at(x, spring.vertex[0]));
  if (around.empty()) return springs.clear();
  const Vec3 margin = Vec3::Constant(4 * edge_);
  const auto near = [&](Index i) {
    const auto v = skin.vertices[to_size(i)].array();
    return (v >= (around.min - margin).array()).all() && (v <= (around.max + margin).array()).all();
  };
  std::vector<Index> triangles;
  for (std::size_t t = 0; t < skin_.triangles.size(); ++t)
    if (std::any_of(skin_.triangles[t].begin(), skin_.triangles[t].end(), near))
      triangles.push_back(static_cast<Index>(t));
  skin.triangles.clear();
  for (const Index t : triangles) skin.triangles.push_back(skin_.triangles[to_size(t)]);
  const TriangleTree now(skin);
  parallel_for(std::ssize(proxies_), 64, [&](std::int64_t k) {
    const auto i = to_size(k);
    if (touches[i] == 0 && near(static_cast<Index>(k))) touches[i] = before(i, x, now, triangles, found[i]) ? 1 : 0;
  });
  springs.clear();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (touches[i] != 0) springs.push_back(found[i]);
}

}  // namespace supple
