// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/self_collision.h"

#include "supple/base/parallel.h"
#include "supple/mesh/normals.h"
#include "supple/offline/contact/near_triangles.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// [edges] What touches is a little inside or outside: as deep as this it counts as outside.
constexpr double settled = 0.1;

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
  first_around_.assign(proxies_.size() + 1, 0);
  for (const Triangle& t : skin_.triangles)
    for (const Index v : t) ++first_around_[to_size(v) + 1];
  for (std::size_t i = 0; i < proxies_.size(); ++i) first_around_[i + 1] += first_around_[i];
  around_.resize(to_size(first_around_.back()));
  std::vector<Index> next(first_around_.begin(), first_around_.end() - 1);
  for (std::size_t t = 0; t < skin_.triangles.size(); ++t)
    for (const Index v : skin_.triangles[t]) around_[to_size(next[to_size(v)]++)] = static_cast<Index>(t);
  now_ = skin_;
}

void SelfCollision::take_shape(const VecX& x) {
  tets_.refit(x);
  for (std::size_t i = 0; i < proxies_.size(); ++i) now_.vertices[i] = at(x, proxies_[i]);
  normals_ = vertex_normals(skin_.triangles, now_.vertices);
  // Those of single vertices jump where skin is crumpled, and a contact that slides would be pushed to and fro.
  for (int k = 0; k < settings_.smoothing; ++k) {
    std::vector<Vec3> sum(normals_.size(), Vec3::Zero());
    for (const Triangle& t : skin_.triangles)
      for (const Index v : t)
        sum[to_size(v)] += normals_[to_size(t[0])] + normals_[to_size(t[1])] + normals_[to_size(t[2])];
    for (std::size_t i = 0; i < sum.size(); ++i) normals_[i] = sum[i].normalized();
  }
}

Vec3 SelfCollision::now(const Place& place) const {
  Vec3 sum = Vec3::Zero();
  for (int k = 0; k < 3; ++k)
    sum += place.weights[k] * now_.vertices[to_size(skin_.triangles[to_size(place.triangle)][to_size(k)])];
  return sum;
}

double SelfCollision::facing(std::size_t proxy, const Place& place) const {
  Vec3 sum = Vec3::Zero();
  for (const Index corner : skin_.triangles[to_size(place.triangle)]) sum += normals_[to_size(corner)];
  return sum.normalized().dot(normals_[proxy]);
}

bool SelfCollision::may_touch(std::size_t proxy, Index triangle) const {
  const Triangle& corners = skin_.triangles[to_size(triangle)];
  // Where bones hold both sides, springs change nothing.
  const auto held = [&](Index i) { return proxies_[to_size(i)] >= free_end_; };
  if (held(static_cast<Index>(proxy)) && std::all_of(corners.begin(), corners.end(), held)) return false;
  const Vec3& own = skin_.vertices[proxy];
  const Vec3 nearest =
      nearest_point_of_triangle(own, skin_.vertices[to_size(corners[0])], skin_.vertices[to_size(corners[1])],
                                skin_.vertices[to_size(corners[2])]);
  return (nearest - own).norm() >= settings_.neighbourhood * edge_;
}

void SelfCollision::look_at(const Vec3& point, std::size_t proxy, Index triangle, Place& best) const {
  const Triangle& t = skin_.triangles[to_size(triangle)];
  const Vec3 &a = now_.vertices[to_size(t[0])], &b = now_.vertices[to_size(t[1])], &c = now_.vertices[to_size(t[2])];
  const Vec3 nearest = nearest_point_of_triangle(point, a, b, c);
  const double distance = (nearest - point).norm();
  if (!(distance < best.distance) || !may_touch(proxy, triangle)) return;
  best = {triangle, weights_in_triangle(nearest, a, b, c), distance};
}

SelfCollision::Place SelfCollision::walk(std::size_t proxy, Index triangle) const {
  const Vec3& point = now_.vertices[proxy];
  Place best;
  look_at(point, proxy, triangle, best);
  constexpr int longest = 40;
  for (int k = 0; k < longest && best.triangle >= 0; ++k) {
    const Index from = best.triangle;
    for (const Index corner : skin_.triangles[to_size(from)])
      for (Index i = first_around_[to_size(corner)]; i < first_around_[to_size(corner) + 1]; ++i)
        look_at(point, proxy, around_[to_size(i)], best);
    if (best.triangle == from) break;
  }
  return best;
}

Index SelfCollision::entered(std::size_t proxy, const VecX& x) const {
  const Index own = proxies_[proxy];
  const Vec3& point = now_.vertices[proxy];
  // Of several tetrahedra, the one whose skin is nearest.
  TriangleTree::Nearest best;
  tets_.near(point, [&](Index e) {
    const TetTree::Element& element = tets_.elements()[to_size(e)];
    if (std::find(element.begin(), element.end(), own) != element.end()) return;
    std::array<Vec3, 4> corners;
    for (std::size_t k = 0; k < 4; ++k) corners[k] = at(x, element[k]);
    const Eigen::Vector4d w = barycentric_in(corners, point);
    if (!(w.minCoeff() >= 0)) return;
    Vec3 back = Vec3::Zero();
    for (std::size_t k = 0; k < 4; ++k) back += w[static_cast<Eigen::Index>(k)] * rest_[to_size(element[k])];
    const TriangleTree::Nearest hit = skin_tree_.nearest(back, best.distance);
    if (hit.triangle >= 0 && hit.distance < best.distance && may_touch(proxy, hit.triangle)) best = hit;
  });
  return best.triangle;
}

/// `near`: some of the skin's triangles as they are, `triangles`: which.
SelfCollision::Place SelfCollision::before(std::size_t proxy, const TriangleTree& near,
                                           std::span<const Index> triangles) const {
  const Vec3& point = now_.vertices[proxy];
  Place best;
  visit_near_triangles(near, point, settings_.reach * edge_, [&](std::size_t place, double& reach) {
    const auto& [a, b, c] = near.corners()[place];
    const Vec3 nearest = nearest_point_of_triangle(point, a, b, c);
    const double distance = (nearest - point).norm();
    if (!(distance < reach)) return;
    const Index triangle = triangles[to_size(near.triangle(place))];
    const Place found{triangle, weights_in_triangle(nearest, a, b, c), distance};
    if (!may_touch(proxy, triangle) || !(facing(proxy, found) < settings_.facing)) return;
    reach = distance;
    best = found;
  });
  return best;
}

/// Out through the skin that was entered; where that is folded itself, straight to the nearest point.
bool SelfCollision::hang(std::size_t proxy, const Place& place, ContactSpring& spring) const {
  const Triangle& corners = skin_.triangles[to_size(place.triangle)];
  spring = {};
  spring.vertex[0] = proxies_[proxy];
  spring.weight[0] = 1;
  spring.key = proxies_[proxy];
  spring.place = place.triangle;
  double other = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double beta = place.weights[static_cast<Eigen::Index>(k)];
    spring.vertex[k + 1] = proxies_[to_size(corners[k])];
    spring.weight[k + 1] = -beta;
    spring.normal += beta * normals_[to_size(corners[k])];
    other += beta * stiffness_[to_size(corners[k])];
  }
  spring.stiffness = std::min(stiffness_[proxy], other);
  spring.normal.normalize();
  return spring.normal.allFinite();
}

bool SelfCollision::touch(std::size_t proxy, Index known, const VecX& x, ContactSpring& spring) const {
  const Index skin = entered(proxy, x);
  Place place;
  if (skin >= 0) place = walk(proxy, skin);
  if (known >= 0)
    if (const Place tracked = walk(proxy, known); tracked.distance < place.distance) place = tracked;
  if (place.triangle < 0 || !(facing(proxy, place) < (known >= 0 ? settings_.parting : settings_.facing))) return false;
  if (!hang(proxy, place, spring)) return false;
  const Vec3 out = now(place) - now_.vertices[proxy];
  if (skin < 0) return spring.normal.dot(out) <= settled * edge_ && place.distance < settings_.reach * edge_;
  const bool deep = out.norm() > 1e-3 * edge_;
  if (deep && !(spring.normal.dot(out) > 0.3 * out.norm())) spring.normal = out.normalized();
  return true;
}

std::vector<Index> SelfCollision::triangles_around(std::span<const char> touches) const {
  Bounds around;
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[i] != 0) around.add(now_.vertices[i]);
  std::vector<Index> triangles;
  if (around.empty()) return triangles;
  const Vec3 margin = Vec3::Constant(4 * edge_);
  const auto near = [&](Index i) {
    const auto v = now_.vertices[to_size(i)].array();
    return (v >= (around.min - margin).array()).all() && (v <= (around.max + margin).array()).all();
  };
  for (std::size_t t = 0; t < skin_.triangles.size(); ++t)
    if (std::any_of(skin_.triangles[t].begin(), skin_.triangles[t].end(), near))
      triangles.push_back(static_cast<Index>(t));
  return triangles;
}

void SelfCollision::find(const VecX& x, std::vector<ContactSpring>& springs) {
  take_shape(x);
  std::vector<Index> known(proxies_.size(), -1);
  for (const ContactSpring& spring : springs)
    if (spring.vertex[1] >= 0) known[to_size(proxy_of_[to_size(spring.vertex[0])])] = spring.place;
  std::vector<ContactSpring> found(proxies_.size());
  std::vector<char> touches(proxies_.size(), 0);
  parallel_for(std::ssize(proxies_), 64, [&](std::int64_t k) {
    touches[to_size(k)] = touch(to_size(k), known[to_size(k)], x, found[to_size(k)]) ? 1 : 0;
  });
  const std::vector<Index> triangles = triangles_around(touches);
  Surface part;
  part.vertices = now_.vertices;
  for (const Index t : triangles) part.triangles.push_back(skin_.triangles[to_size(t)]);
  const TriangleTree near(part);
  parallel_for(std::ssize(proxies_), 64, [&](std::int64_t k) {
    const auto i = to_size(k);
    if (touches[i] != 0) return;
    const Place place = before(i, near, triangles);
    touches[i] = place.triangle >= 0 && hang(i, place, found[i]) && found[i].gap(x) >= -settled * edge_ ? 1 : 0;
  });
  springs.clear();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (touches[i] != 0) springs.push_back(found[i]);
}

}  // namespace supple
