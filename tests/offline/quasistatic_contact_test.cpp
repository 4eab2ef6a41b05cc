// SPDX-License-Identifier: Apache-2.0
// Flesh that meets itself and other things: blocks whose meeting plane is known, forces that cancel, colliders.
#include "supple/mesh/tet_tree.h"
#include "supple/offline/quasistatic/approach.h"
#include "supple/offline/quasistatic/colliders.h"
#include "supple/offline/quasistatic/quasistatic_solver.h"
#include "supple/offline/quasistatic/self_collision.h"

#include "support/bodies.h"

#include <map>
#include <random>
#include <set>

namespace supple::quasistatic_contact_test {
namespace {

constexpr double width = 1, gap = 0.5;

/// Two blocks side by side along x, the second with other cells, each held by its outer end.
struct Blocks {
  TetMesh mesh;
  std::vector<Index> held;
};

Blocks two_blocks() {
  Blocks blocks;
  for (const int side : {0, 1}) {
    TetMesh block = make_tet_box(Vec3(1, width, width), side == 0 ? std::array{6, 6, 6} : std::array{5, 7, 5});
    const auto first = static_cast<Index>(blocks.mesh.vertices.size());
    for (Vec3& x : block.vertices) {
      if (x[0] == (side == 0 ? 0 : 1)) blocks.held.push_back(static_cast<Index>(blocks.mesh.vertices.size()));
      blocks.mesh.vertices.push_back(x + Vec3(side * (1 + gap), 0, 0));
    }
    for (TetMesh::Element element : block.elements) {
      for (Index& v : element) v += first;
      blocks.mesh.elements.push_back(element);
    }
  }
  set_uniform_material(blocks.mesh, {.name = "flesh", .young = 1000, .poisson = 0.2, .density = 1});
  return blocks;
}

VecX positions(const ExRotatedBody& body, double shift) {
  VecX x(3 * Eigen::Index{body.vertex_count()});
  for (Index v = 0; v < body.vertex_count(); ++v) {
    Vec3 X = body.rest()[to_size(v)];
    if (X[0] > 1.1) X[0] -= shift;
    x.segment<3>(3 * Eigen::Index{v}) = X;
  }
  return x;
}

std::vector<Eigen::Vector4d> no_turns(const ExRotatedBody& body) {
  return std::vector<Eigen::Vector4d>(to_size(body.vertex_count()), Eigen::Vector4d::UnitW());
}

TEST(QuasistaticContact, BlocksThatArePushedTogetherMeetInTheMiddle) {
  const Blocks blocks = two_blocks();
  for (const QuasistaticMethod method : {QuasistaticMethod::volume, QuasistaticMethod::surface}) {
    ExRotatedBody body = ExRotatedBody::create(blocks.mesh, blocks.held).value();
    SelfCollision contacts(body);
    QuasistaticSolver solver(std::move(body), {.method = method});
    // The second block comes nearer by the gap and as much again as 0.2: each gives way by 0.1.
    VecX x = positions(solver.body(), gap + 0.2);
    const QuasistaticReport report = solver.solve(no_turns(solver.body()), x, &contacts);
    EXPECT_TRUE(report.converged);
    EXPECT_GT(report.contacts, 20);
    EXPECT_LT(report.contact_depth, 0.01);  // 1 % of the way from what holds them to the skin
    for (Index v = 0; v < solver.body().free().end; ++v) {
      const Vec3& X = solver.body().rest()[to_size(v)];
      const bool rim = std::min(X[1], X[2]) < 0.25 || std::max(X[1], X[2]) > 0.75;
      if (rim || (X[0] != 1 && X[0] != 1 + gap)) continue;
      EXPECT_NEAR(x[3 * v], 0.9, 0.01);
    }
  }
}

TEST(QuasistaticContact, PreconditionersThatKnowTheSpringsTakeFewerIterations) {
  const Blocks blocks = two_blocks();
  for (const QuasistaticMethod method : {QuasistaticMethod::volume, QuasistaticMethod::surface}) {
    int iterations[2] = {};
    VecX found[2];
    for (const bool press : {false, true}) {
      ExRotatedBody body = ExRotatedBody::create(blocks.mesh, blocks.held).value();
      SelfCollision contacts(body);
      QuasistaticSolver solver(std::move(body), {.method = method, .tolerance = 1e-7, .press = press});
      VecX x = positions(solver.body(), 0.7);
      const QuasistaticReport report = solver.solve(no_turns(solver.body()), x, &contacts);
      EXPECT_TRUE(report.converged);
      EXPECT_GT(report.contacts, 20);
      iterations[press ? 1 : 0] = report.boundary_iterations + report.volume_iterations;
      found[press ? 1 : 0] = x;
    }
    EXPECT_LT(2 * iterations[1], iterations[0]);
    EXPECT_LT((found[0] - found[1]).cwiseAbs().maxCoeff(), 0.02);  // each search may end a fiftieth of an edge off
  }
}

/// Where every vertex is coupled to every other, incomplete factors are complete.
TEST(QuasistaticContact, APressedVolumeIsThatOfTheStiffnessWithItsSprings) {
  TetMesh mesh;
  mesh.vertices = {Vec3(0, 0, 0), Vec3(1, 0.1, 0), Vec3(0.2, 1, 0), Vec3(0, 0.2, 1.1), Vec3(0.3, 0.3, 0.2)};
  mesh.elements = {{4, 1, 2, 3}, {0, 4, 2, 3}, {0, 1, 4, 3}, {0, 1, 2, 4}};
  set_uniform_material(mesh, {.name = "flesh", .young = 1000, .poisson = 0.3, .density = 1});
  const ExRotatedBody body = ExRotatedBody::create(mesh, std::vector<Index>{0}).value();
  ASSERT_EQ(body.interior().count(), 1);
  std::vector<Index> inside = {0};
  const std::span<const Vec3> points = std::span(body.rest()).first(1);
  PressedVolume pressed(
      body, BlockIncompleteCholesky(body.stiffness(), slab_order(body.stiffness().pattern(), inside, points)));
  const Index free = body.free().end;
  MatX wanted = MatX::Zero(3 * free, 3 * free);
  const BlockPattern& pattern = body.stiffness().pattern();
  for (Index row = 0; row < free; ++row)
    for (Index k = pattern.row_begin[to_size(row)]; k < pattern.row_begin[to_size(row) + 1]; ++k)
      if (pattern.column[to_size(k)] < free)
        wanted.block<3, 3>(3 * row, 3 * pattern.column[to_size(k)]) = Eigen::Map<const Mat3>(body.stiffness().block(k));
  ContactSpring spring;
  spring.vertex = {1, 2, 3, 4};  // the last one is held
  spring.weight = {1, -0.3, -0.5, -0.2};
  spring.normal = Vec3(1, -1, 2).normalized();
  spring.stiffness = 4000;
  std::vector<Eigen::Matrix3f> turn;
  for (Index v = 0; v < body.vertex_count(); ++v)
    turn.push_back(
        Eigen::AngleAxisf(0.3F * static_cast<float>(v), Eigen::Vector3f(1, 2, 3).normalized()).toRotationMatrix());
  for (const bool presses : {false, true, false}) {
    pressed.forget();
    pressed.press(presses ? std::span(&spring, 1) : std::span<ContactSpring>(), turn);
    VecX along = VecX::Zero(3 * free);
    for (std::size_t k = 0; k < 3 && presses; ++k)
      along.segment<3>(3 * spring.vertex[k]) =
          spring.weight[k] * turn[to_size(spring.vertex[k])].cast<double>().transpose() * spring.normal;
    const MatX whole = wanted + spring.stiffness * along * along.transpose();
    for (Eigen::Index entry = 0; entry < 3 * free; ++entry) {
      std::vector<float> y(3 * to_size(free), 0);
      y[to_size(entry)] = 1;
      pressed.solve(y.data());
      VecX solved(3 * free);
      for (Index i = 0; i < free; ++i)
        for (int c = 0; c < 3; ++c) solved[3 * pressed.order()[to_size(i)] + c] = y[to_size(3 * i + c)];
      const Eigen::Index row = 3 * pressed.order()[to_size(entry / 3)] + entry % 3;
      EXPECT_LT((whole * solved - VecX::Unit(3 * free, row)).norm(), 1e-4);
    }
  }
}

TEST(QuasistaticContact, APressedFactorIsThatOfTheMatrixWithItsSprings) {
  constexpr Index rows = 5, first = 7;
  auto pattern = std::make_shared<BlockPattern>();  // full, so that the incomplete factor is complete
  for (Index row = 0; row <= rows; ++row) pattern->row_begin.push_back(row * rows);
  for (Index k = 0; k < rows * rows; ++k) pattern->column.push_back(k % rows);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const MatX G = MatX::NullaryExpr(3 * rows, 3 * rows, [&] { return normal(random); });
  MatX wanted = G * G.transpose() + MatX::Identity(3 * rows, 3 * rows);
  BlockMatrix A(pattern);
  for (Index a = 0; a < rows; ++a)
    for (Index b = 0; b < rows; ++b) A.block_at(a, b) = wanted.block<3, 3>(3 * a, 3 * b);
  std::vector<Vec3> points;
  for (Index v = 0; v < rows; ++v) points.emplace_back(v, 0, 0);
  ContactSpring spring;
  spring.vertex = {first + 1, first + 3, 2, -1};  // one of them is none of the matrix's
  spring.weight = {1, -0.4, -0.6, 0};
  spring.normal = Vec3(1, -1, 2).normalized();
  spring.stiffness = 30;
  PressedFactor pressed(A, first, points);
  struct Try {
    bool presses;
    float angle;
  };
  for (const auto& [presses, angle] : {Try{true, 0.3F}, Try{false, 0.3F}, Try{true, 0.3F}, Try{true, 0.5F}}) {
    std::vector<Eigen::Matrix3f> turn;
    for (Index v = 0; v < first + rows; ++v)
      turn.push_back(
          Eigen::AngleAxisf(angle * static_cast<float>(v), Eigen::Vector3f(1, 2, 3).normalized()).toRotationMatrix());
    if (angle > 0.4F) pressed.forget();
    VecX along = VecX::Zero(3 * rows);
    for (std::size_t k = 0; k < 2 && presses; ++k)
      along.segment<3>(3 * (spring.vertex[k] - first)) =
          spring.weight[k] * turn[to_size(spring.vertex[k])].cast<double>().transpose() * spring.normal;
    pressed.press(presses ? std::span(&spring, 1) : std::span<ContactSpring>(), turn);
    const MatX whole = wanted + spring.stiffness * along * along.transpose();
    std::vector<float> y(3 * to_size(rows), 0);
    y[4] = 1;
    VecX right = VecX::Zero(3 * rows);
    const auto& order = pressed.factor().order().rows;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (int c = 0; c < 3; ++c) right[3 * order[i] + c] = y[3 * i + to_size(c)];
    pressed.factor().solve(y.data());
    VecX solved(3 * rows);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (int c = 0; c < 3; ++c) solved[3 * order[i] + c] = y[3 * i + to_size(c)];
    EXPECT_LT((whole * solved - right).norm(), 1e-4);
  }
}

TEST(QuasistaticContact, ForcesOfBothSidesCancel) {
  const Blocks blocks = two_blocks();
  const ExRotatedBody body = ExRotatedBody::create(blocks.mesh, blocks.held).value();
  SelfCollision contacts(body);
  const VecX x = positions(body, gap + 0.13);
  std::vector<ContactSpring> springs;
  contacts.find(x, springs);
  ASSERT_GT(springs.size(), 20u);
  VecX f = VecX::Zero(x.size());
  for (const ContactSpring& spring : springs)
    spring.add_force(spring.stiffness * spring.gap(x), body.vertex_count(), f);
  Vec3 sum = Vec3::Zero();
  double size = 0;
  for (Eigen::Index v = 0; v < f.size(); v += 3) {
    sum += f.segment<3>(v);
    size += f.segment<3>(v).norm();
  }
  EXPECT_GT(size, 1);
  EXPECT_LT(sum.norm(), 1e-12 * size);
}

/// A wedge whose edge comes down between two walls, nearer than an edge to both.
TEST(QuasistaticContact, WhatIsInACreaseTouchesBothOfItsSides) {
  constexpr double slot = 0.2, shift = 0.8;
  TetMesh mesh;
  std::vector<Index> held;
  const auto add = [&](TetMesh part, const auto& place) {
    const auto first = static_cast<Index>(mesh.vertices.size());
    for (const Vec3& x : part.vertices) {
      if (x[1] == 0 || x[1] == 1) held.push_back(static_cast<Index>(mesh.vertices.size()));
      mesh.vertices.push_back(place(x));
    }
    for (TetMesh::Element element : part.elements) {
      for (Index& v : element) v += first;
      mesh.elements.push_back(element);
    }
  };
  add(make_tet_box(Vec3(1, 1, 1), {5, 5, 5}), [](const Vec3& x) { return x; });
  add(make_tet_box(Vec3(1, 1, 1), {5, 5, 5}), [&](const Vec3& x) { return Vec3(x + Vec3(1 + slot, 0, 0)); });
  add(make_tet_box(Vec3(1, 1, 1), {2, 5, 5}),
      [&](const Vec3& x) { return Vec3(1 + 0.5 * slot + (x[0] - 0.5) * (0.05 + 0.25 * x[1]), x[1] + 2, x[2]); });
  set_uniform_material(mesh, {.name = "flesh", .young = 1000, .poisson = 0.2, .density = 1});
  std::erase_if(held, [&](Index v) { return mesh.vertices[to_size(v)][1] == 2; });  // the wedge's edge is free
  const ExRotatedBody body = ExRotatedBody::create(mesh, held).value();
  VecX x(3 * Eigen::Index{body.vertex_count()});
  for (Index v = 0; v < body.vertex_count(); ++v) {
    Vec3 X = body.rest()[to_size(v)];
    if (X[1] > 1.5) X[1] -= 1 + shift;
    x.segment<3>(3 * Eigen::Index{v}) = X;
  }
  SelfCollision contacts(body);
  std::vector<ContactSpring> springs;
  for (int k = 0; k < 3; ++k) contacts.find(x, springs);  // each may find one more side
  std::map<Index, std::vector<Vec3>> sides;
  for (const ContactSpring& spring : springs)
    if (body.rest()[to_size(spring.vertex[0])][1] == 2) sides[spring.vertex[0]].push_back(spring.normal);
  int both = 0;
  for (const auto& [vertex, normals] : sides)
    if (normals.size() == 2 && normals[0].dot(normals[1]) < -0.9) ++both;
  EXPECT_GE(both, 4);
  // A search that begins with what the last one found finds it again.
  std::vector<ContactSpring> again = springs;
  contacts.find(x, again);
  ASSERT_EQ(again.size(), springs.size());
  for (std::size_t k = 0; k < springs.size(); ++k) {
    EXPECT_EQ(again[k].key, springs[k].key);
    EXPECT_LT((again[k].normal - springs[k].normal).norm(), 1e-9);
  }
}

/// Searches that settle only within a fifth of the way, as where flesh would jump through other flesh.
TEST(QuasistaticContact, FarPosesAreApproachedInSteps) {
  double reached = 0, at = 0;
  std::vector<double> kept;
  const Approach approach{.solve =
                              [&](double share, int /*most_looks*/, bool again) {
                                EXPECT_EQ(again, share < 1 || !kept.empty());
                                at = share;
                                QuasistaticReport report;
                                report.converged = true;
                                report.contact_error = share - reached > 0.2 ? 1 : 0;
                                return report;
                              },
                          .keep =
                              [&] {
                                reached = at;
                                kept.push_back(at);
                              }};
  EXPECT_EQ(approach_pose({}, approach).contact_error, 0);
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(kept.size(), 8u);  // steps of an eighth, each kept once
  reached = 0.9;
  kept.clear();
  approach_pose({}, approach);
  EXPECT_EQ(kept, std::vector<double>{1});
}

/// A plate of which searches that know a contact follow what they know only.
class FollowedPlate final : public ContactSource {
 public:
  explicit FollowedPlate(const ExRotatedBody& body) : plate_(body, {plate()}) {}
  void find(const VecX& x, std::vector<ContactSpring>& springs) override {
    std::set<std::int64_t> known;
    for (const ContactSpring& spring : springs) known.insert(spring.key);
    plate_.find(x, springs);
    if (!known.empty()) std::erase_if(springs, [&](const ContactSpring& s) { return !known.contains(s.key); });
  }

 private:
  static Collider plate() {
    Collider collider;
    collider.at = Vec3(0, 0.1, 0);
    return collider;
  }
  ColliderContacts plate_;
};

TEST(QuasistaticContact, WhatSearchesLostIsToldAndSolvedFor) {
  TetMesh mesh = make_tet_box(Vec3(1, 2, 1), {4, 8, 4});
  set_uniform_material(mesh, {.name = "flesh", .young = 5000, .poisson = 0, .density = 1});
  std::vector<Index> top;
  for (Index v = 0; v < std::ssize(mesh.vertices); ++v)
    if (mesh.vertices[to_size(v)][1] == 2) top.push_back(v);
  for (const int takes : {0, 2}) {
    ExRotatedBody body = ExRotatedBody::create(mesh, top).value();
    FollowedPlate contacts(body);
    QuasistaticSolver solver(std::move(body), {.most_takes = takes});
    VecX x = positions(solver.body(), 0);
    QuasistaticSolver::Contacts known;
    contacts.find(x, known.found);
    ASSERT_GT(known.found.size(), 20u);
    std::erase_if(known.found, [&](const ContactSpring& s) { return x[3 * s.vertex[0]] > 0.1; });
    solver.recall(known);
    const QuasistaticReport report = solver.solve(no_turns(solver.body()), x, &contacts, Vec3::Zero(), true);
    double lowest = 1;
    for (Index v = 0; v < solver.body().vertex_count(); ++v) lowest = std::min(lowest, x[3 * v + 1]);
    EXPECT_TRUE(report.converged);
    EXPECT_GE(report.deepest, 0.1 - lowest - 1e-12);
    if (takes == 0)
      EXPECT_GT(report.deepest, 0.02);
    else
      EXPECT_LT(report.deepest, 0.02 * solver.body().mean_edge());
    EXPECT_EQ(report.takes, takes == 0 ? 0 : 1);
  }
}

/// Against blocks that overlap, whose depths are known.
TEST(QuasistaticContact, NothingIsDeeperThanIsTold) {
  const Blocks blocks = two_blocks();
  const ExRotatedBody body = ExRotatedBody::create(blocks.mesh, blocks.held).value();
  SelfCollision contacts(body);
  for (const double depth : {0.0, 0.13, 0.4}) {
    const VecX x = positions(body, gap + depth);
    const auto second = [&](Index v) { return body.rest()[to_size(v)][0] > 1.1; };
    double deepest = 0;
    for (Index v = 0; v < body.free().end; ++v) {
      const Vec3 p = x.segment<3>(3 * Eigen::Index{v});
      // The other block as it is: a box whose entered face is at x = 1, or at 1 − depth.
      const double in = second(v) ? 1 - p[0] : p[0] - (1 - depth);
      if (in > 1e-9) deepest = std::max(deepest, std::min({in, p[1], 1 - p[1], p[2], 1 - p[2]}));
    }
    EXPECT_GE(contacts.deepest(x), deepest - 1e-9);
    EXPECT_LE(contacts.deepest(x), depth + 1e-9);
  }
}

TEST(QuasistaticContact, NothingTouchesAtRestOrApart) {
  const Blocks blocks = two_blocks();
  const ExRotatedBody body = ExRotatedBody::create(blocks.mesh, blocks.held).value();
  SelfCollision contacts(body);
  std::vector<ContactSpring> springs;
  contacts.find(positions(body, 0), springs);
  EXPECT_TRUE(springs.empty());
}

/// A block that stands on a plate is shortened by what the plate is too high, as a rod is.
TEST(QuasistaticContact, APlatePressesABlockAsItWouldARod) {
  TetMesh mesh = make_tet_box(Vec3(1, 2, 1), {4, 8, 4});
  set_uniform_material(mesh, {.name = "flesh", .young = 5000, .poisson = 0, .density = 1});
  std::vector<Index> top;
  for (Index v = 0; v < std::ssize(mesh.vertices); ++v)
    if (mesh.vertices[to_size(v)][1] == 2) top.push_back(v);
  ExRotatedBody body = ExRotatedBody::create(mesh, top).value();
  Collider plate;
  plate.at = Vec3(0, 0.1, 0);
  ColliderContacts contacts(body, {plate});
  QuasistaticSolver solver(std::move(body), {.tolerance = 1e-7, .contact_tolerance = 1e-4});
  VecX x = positions(solver.body(), 0);
  const QuasistaticReport report = solver.solve(no_turns(solver.body()), x, &contacts);
  EXPECT_TRUE(report.converged);
  EXPECT_LT(report.deepest, 1e-4);
  // E A d / L through every section: what the plate bears is what flesh above it pushes down with.
  VecX f = VecX::Zero(x.size());
  solver.body().force(x, solver.body().free(), f);
  double borne = 0;
  for (Index v = 0; v < solver.body().free().end; ++v)
    if (solver.body().rest()[to_size(v)][1] == 0) borne -= f[3 * v + 1];
  EXPECT_NEAR(borne, 5000 * 1 * 0.1 / 2, 0.01 * 250);
}

TEST(QuasistaticContact, DistancesToCollidersAreThoseOfTheirShapes) {
  Collider box{.shape = Collider::Shape::box, .at = Vec3(1, 0, 0), .size = Vec3(2, 4, 6)};
  Collider sphere{.shape = Collider::Shape::sphere, .at = Vec3(0, 1, 0), .radius = 0.5};
  Collider capsule{.shape = Collider::Shape::capsule, .at = Vec3(0, 0, 0), .to = Vec3(0, 0, 2), .radius = 0.25};
  Collider plane{.normal = Vec3(0, 0, 2)};
  Vec3 out;
  EXPECT_NEAR(box.distance(Vec3(1.9, 0, 0), out), -0.1, 1e-12);
  EXPECT_EQ(out, Vec3(1, 0, 0));
  EXPECT_DOUBLE_EQ(box.distance(Vec3(5, -6, 0), out), 5);
  EXPECT_DOUBLE_EQ(sphere.distance(Vec3(0, 2, 0), out), 0.5);
  EXPECT_DOUBLE_EQ(capsule.distance(Vec3(1, 0, 1.3), out), 0.75);
  EXPECT_DOUBLE_EQ(capsule.distance(Vec3(0, 0, 3), out), 0.75);
  EXPECT_DOUBLE_EQ(plane.distance(Vec3(3, 4, -2), out), -2);
  // The way out is the gradient of the distance.
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-4, 4);
  for (const Collider& collider : {box, sphere, capsule, plane}) {
    for (int k = 0; k < 50; ++k) {
      const Vec3 x(number(random), number(random), number(random));
      collider.distance(x, out);
      Vec3 slope, unused;
      for (int a = 0; a < 3; ++a)
        slope[a] = (collider.distance(x + 1e-6 * Vec3::Unit(a), unused) -
                    collider.distance(x - 1e-6 * Vec3::Unit(a), unused)) /
                   2e-6;
      EXPECT_LT((slope - out).norm(), 1e-5);
    }
  }
}

TEST(TetTree, FindsTheTetrahedraAroundAPointAfterItMoved) {
  const TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {5, 5, 5});
  TetTree tree(mesh.elements, mesh.vertices);
  VecX x(3 * std::ssize(mesh.vertices));
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    x.segment<3>(3 * static_cast<Eigen::Index>(v)) = 2 * mesh.vertices[v] + Vec3(7, 0, 0);
  tree.refit(x);
  std::mt19937 random(9);
  std::uniform_real_distribution<double> number(-0.2, 2.2);
  for (int k = 0; k < 200; ++k) {
    const Vec3 point = Vec3(7, 0, 0) + Vec3(number(random), number(random), number(random));
    int inside = 0;
    tree.near(point, [&](Index e) {
      std::array<Vec3, 4> corners;
      for (std::size_t c = 0; c < 4; ++c) corners[c] = x.segment<3>(3 * Eigen::Index{mesh.elements[to_size(e)][c]});
      const Eigen::Vector4d w = barycentric_in(corners, point);
      if (w.minCoeff() < 0) return;
      ++inside;
      Vec3 back = Vec3::Zero();
      for (std::size_t c = 0; c < 4; ++c) back += w[static_cast<Eigen::Index>(c)] * corners[c];
      EXPECT_LT((back - point).norm(), 1e-12);
    });
    const Vec3 local = (point - Vec3(7, 0, 0)) / 2;
    EXPECT_EQ(inside, local.minCoeff() > 0 && local.maxCoeff() < 1 ? 1 : 0);
  }
}

}  // namespace
}  // namespace supple::quasistatic_contact_test
