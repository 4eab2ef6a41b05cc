// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/self_collision.h"

#include "supple/base/parallel.h"
#include "supple/mesh/normals.h"
#include "supple/offline/contact/near_triangles.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// [edges] How far flat triangles stand off the smooth skin that they stand for, s = l²/8r where skin turns by 45° from
/// edge to edge. What is no deeper may as well be outside, and nearer than this the direction to the nearest point
/// means nothing, so that the way out is the skin's normal.
constexpr double facet = 0.1;
/// cos 60°: between directions that a vertex of a triangulation with six triangles around it can't tell apart. A
/// nearest point that lies farther off the normal than this is on a rim of the skin that may be touched; skin that
/// looks at a vertex does so within it.
constexpr double same_way = 0.5;
/// [edges] What is nearly halfway through an element is as near to skin of another side, and comes out through skin
/// that looks at it …
constexpr double deep = 0.4;
/// … and isn't farther than it can have gone: beyond some elements the next search, which is nearer, finds the way.
constexpr double far = 3;

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
  corner_normals_ = normals_ = vertex_normals(skin_.triangles, now_.vertices);
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

Vec3 SelfCollision::normal_at(const Place& place) const {
  Vec3 sum = Vec3::Zero();
  for (std::size_t k = 0; k < 3; ++k)
    sum += place.weights[static_cast<Eigen::Index>(k)] *
           corner_normals_[to_size(skin_.triangles[to_size(place.triangle)][k])];
  return sum.normalized();
}

Vec3 SelfCollision::way_out(std::size_t proxy, const Place& place) const {
  const Vec3 normal = normal_at(place), from = now_.vertices[proxy] - now(place);
  const double along = normal.dot(from);
  if (place.distance > facet * edge_ && std::abs(along) < same_way * place.distance) return Vec3::Zero();
  return ((along < 0 ? -1.0 : 1.0) * from + facet * edge_ * normal).normalized();
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

template <typename Accept>
SelfCollision::Place SelfCollision::nearest_of(std::size_t proxy, const TriangleTree& near,
                                               std::span<const Index> triangles, double within,
                                               const Accept& accept) const {
  const Vec3& point = now_.vertices[proxy];
  Place best;
  visit_near_triangles(near, point, within, [&](std::size_t place, double& reach) {
    const auto& [a, b, c] = near.corners()[place];
    const Vec3 nearest = nearest_point_of_triangle(point, a, b, c);
    const double distance = (nearest - point).norm();
    if (!(distance < reach)) return;
    const Index triangle = triangles[to_size(near.triangle(place))];
    const Place found{triangle, weights_in_triangle(nearest, a, b, c), distance};
    if (!may_touch(proxy, triangle) || !accept(found, nearest)) return;
    reach = distance;
    best = found;
  });
  return best;
}

SelfCollision::Place SelfCollision::through(std::size_t proxy, const TriangleTree& near,
                                            std::span<const Index> triangles) const {
  return nearest_of(proxy, near, triangles, far * edge_, [&](const Place& found, const Vec3& nearest) {
    return facing(proxy, found) < -same_way && way_out(proxy, found).dot(nearest - now_.vertices[proxy]) > 0;
  });
}

/// `near`: some of the skin's triangles as they are, `triangles`: which. `others`: what it touches already; skin that
/// looks the same way as one of those is passed over.
SelfCollision::Place SelfCollision::before(std::size_t proxy, const TriangleTree& near,
                                           std::span<const Index> triangles,
                                           std::span<const ContactSpring> others) const {
  return nearest_of(proxy, near, triangles, settings_.reach * edge_, [&](const Place& found, const Vec3&) {
    if (!(facing(proxy, found) < settings_.facing)) return false;
    const Vec3 normal = way_out(proxy, found);
    if (normal.isZero() || normal.dot(now_.vertices[proxy] - now(found)) < -facet * edge_) return false;
    return std::none_of(others.begin(), others.end(),
                        [&](const ContactSpring& other) { return normal.dot(other.normal) > settings_.apart; });
  });
}

/// Out through the skin that was entered; where that is folded itself, straight to the nearest point.
bool SelfCollision::hang(std::size_t proxy, const Place& place, ContactSpring& spring) const {
  const Triangle& corners = skin_.triangles[to_size(place.triangle)];
  spring = {};
  spring.vertex[0] = proxies_[proxy];
  spring.weight[0] = 1;
  spring.place = place.triangle;
  double other = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double beta = place.weights[static_cast<Eigen::Index>(k)];
    spring.vertex[k + 1] = proxies_[to_size(corners[k])];
    spring.weight[k + 1] = -beta;
    other += beta * stiffness_[to_size(corners[k])];
  }
  spring.stiffness = std::min(stiffness_[proxy], other);
  if (settings_.friction > 0 && start_.size() > 0) {
    spring.friction = settings_.friction;
    spring.start = spring.relative(start_);
  }
  spring.normal = way_out(proxy, place);
  if (spring.normal.isZero()) return false;
  return spring.normal.allFinite();
}

void SelfCollision::touch(std::size_t proxy, std::span<const ContactSpring> known, const VecX& x,
                          Contacts& found) const {
  const Index skin = entered(proxy, x);
  struct Candidate {
    Place place;
    std::int64_t key;
  };
  std::array<Candidate, most_contacts + 2> candidates;  // one that was buried, and one that was entered
  std::size_t count = 0;
  for (const ContactSpring& spring : known)
    if (const Place place = walk(proxy, spring.place); place.triangle >= 0) candidates[count++] = {place, spring.key};
  if (skin >= 0)
    if (const Place place = walk(proxy, skin); place.triangle >= 0) candidates[count++] = {place, -1};
  std::stable_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count),
                   [](const Candidate& a, const Candidate& b) { return a.place.distance < b.place.distance; });
  for (std::size_t k = 0; k < count; ++k) {
    const auto& [place, key] = candidates[k];
    if (!(facing(proxy, place) < (key >= 0 ? settings_.parting : settings_.facing))) continue;
    ContactSpring spring;
    if (!hang(proxy, place, spring)) continue;
    const Vec3 out = now(place) - now_.vertices[proxy];
    const double depth = spring.normal.dot(out);
    if (skin < 0 || found.count > 0) {
      if (!(place.distance < settings_.reach * edge_) || (skin < 0 && depth > facet * edge_)) continue;
    }
    found.add(spring, key, settings_.apart);
  }
}

std::vector<Index> SelfCollision::triangles_around(std::span<const Contacts> found) const {
  Bounds around;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].count > 0) around.add(now_.vertices[i]);
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

void SelfCollision::Contacts::add(const ContactSpring& spring, std::int64_t key, double apart) {
  if (count == most_contacts) return;
  for (std::size_t k = 0; k < count; ++k) {
    if (!(springs[k].normal.dot(spring.normal) > apart)) continue;
    if (springs[k].key < 0) springs[k].key = key;  // the same contact, found by another way
    return;
  }
  springs[count] = spring;
  springs[count++].key = key;
}

void SelfCollision::Contacts::name(std::int64_t proxy) {
  for (std::size_t k = 0; k < count; ++k) {
    if (springs[k].key >= 0) continue;
    std::int64_t key = key_of(proxy, 0);
    const auto taken = [&] {
      return std::any_of(springs.begin(), springs.begin() + static_cast<std::ptrdiff_t>(count),
                         [&](const ContactSpring& spring) { return spring.key == key; });
    };
    while (taken()) ++key;
    springs[k].key = key;
  }
}

bool SelfCollision::inside(std::size_t proxy, const VecX& x) const {
  const Index own = proxies_[proxy];
  const double next_to_it = settings_.neighbourhood * edge_;
  bool found = false;
  tets_.near(now_.vertices[proxy], [&](Index e) {
    const TetTree::Element& element = tets_.elements()[to_size(e)];
    if (found || std::find(element.begin(), element.end(), own) != element.end()) return;
    std::array<Vec3, 4> corners;
    for (std::size_t k = 0; k < 4; ++k) corners[k] = at(x, element[k]);
    const Eigen::Vector4d w = barycentric_in(corners, now_.vertices[proxy]);
    if (!(w.minCoeff() >= 0)) return;
    Vec3 back = Vec3::Zero();
    for (std::size_t k = 0; k < 4; ++k) back += w[static_cast<Eigen::Index>(k)] * rest_[to_size(element[k])];
    found = (back - skin_.vertices[proxy]).norm() >= next_to_it;
  });
  return found;
}

std::vector<SelfCollision::Place> SelfCollision::ways_out(const VecX& x) {
  take_shape(x);
  const TriangleTree tree(now_);
  std::vector<Place> ways(proxies_.size());
  parallel_for(std::ssize(proxies_), 64, [&](std::int64_t k) {
    const auto i = to_size(k);
    if (proxies_[i] >= free_end_ || !inside(i, x)) return;
    Place looking_away, any;
    visit_near_triangles(tree, now_.vertices[i], any.distance, [&](std::size_t place, double& reach) {
      const auto& [a, b, c] = tree.corners()[place];
      const Vec3 nearest = nearest_point_of_triangle(now_.vertices[i], a, b, c);
      const double distance = (nearest - now_.vertices[i]).norm();
      if (!(distance < reach) || !may_touch(i, tree.triangle(place))) return;
      const Place found{tree.triangle(place), weights_in_triangle(nearest, a, b, c), distance};
      if (distance < any.distance) any = found;
      if (!((b - a).cross(c - a).normalized().dot(normals_[i]) < settings_.facing)) return;
      reach = distance;
      looking_away = found;
    });
    ways[i] = looking_away.triangle >= 0 ? looking_away : any;
  });
  return ways;
}

double SelfCollision::deepest(const VecX& x) {
  double depth = 0;
  for (const Place& way : ways_out(x))
    if (way.triangle >= 0) depth = std::max(depth, way.distance);
  return depth;
}

std::vector<ContactSpring> SelfCollision::find_buried(const VecX& x, double depth) {
  std::vector<ContactSpring> springs;
  const std::vector<Place> ways = ways_out(x);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].triangle < 0 || !(ways[i].distance > depth) || ways[i].distance > edge_) continue;
    ContactSpring spring;
    hang(i, ways[i], spring);
    spring.normal = (now(ways[i]) - now_.vertices[i]).normalized();
    spring.key = key_of(proxies_[i], most_contacts);
    spring.kept = true;
    springs.push_back(spring);
  }
  return springs;
}

void SelfCollision::find(const VecX& x, std::vector<ContactSpring>& springs) {
  take_shape(x);
  std::erase_if(springs, [](const ContactSpring& spring) { return spring.vertex[1] < 0; });
  std::vector<std::size_t> first_known(proxies_.size() + 1, 0);  // found ones are in the order of proxies
  for (const ContactSpring& spring : springs) ++first_known[to_size(proxy_of_[to_size(spring.vertex[0])]) + 1];
  for (std::size_t i = 0; i < proxies_.size(); ++i) first_known[i + 1] += first_known[i];
  std::vector<Contacts> found(proxies_.size());
  parallel_for(std::ssize(proxies_), 64, [&](std::int64_t k) {
    const auto i = to_size(k);
    touch(i, std::span(springs).subspan(first_known[i], first_known[i + 1] - first_known[i]), x, found[i]);
  });
  const std::vector<Index> triangles = triangles_around(found);
  Surface part;
  part.vertices = now_.vertices;
  for (const Index t : triangles) part.triangles.push_back(skin_.triangles[to_size(t)]);
  const TriangleTree near(part);
  parallel_for(std::ssize(proxies_), 64, [&](std::int64_t k) {
    const auto i = to_size(k);
    Contacts& own = found[i];
    if (own.count > 0 && own.springs[0].gap(x) < -deep * edge_) {
      ContactSpring out;
      if (const Place facing = through(i, near, triangles); facing.triangle >= 0 && hang(i, facing, out)) {
        out.key = own.springs[0].key;
        own.springs[0] = out;
        own.count = 1;
      }
    }
    const Place place = before(i, near, triangles, std::span(own.springs).first(own.count));
    ContactSpring spring;
    if (place.triangle >= 0 && hang(i, place, spring) && spring.gap(x) >= -facet * edge_)
      own.add(spring, -1, settings_.apart);
    own.name(proxies_[i]);
  });
  springs.clear();
  for (const Contacts& own : found)
    springs.insert(springs.end(), own.springs.begin(), own.springs.begin() + static_cast<std::ptrdiff_t>(own.count));
}

}  // namespace supple
