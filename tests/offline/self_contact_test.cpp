// SPDX-License-Identifier: Apache-2.0
// Contacts of bodies whose contacts are known, what constraints do to their modes, and skins that are pushed apart.
#include "supple/offline/contact/self_contact.h"

#include "supple/mesh/bounds.h"
#include "supple/mesh/topology.h"
#include "supple/offline/contact/push_apart.h"
#include "supple/offline/modes/constrained_modes.h"

#include "support/bodies.h"

#include <numbers>
#include <set>

namespace supple::self_contact_test {
namespace {

/// A hand of two fingers along y: a palm below y = 1, fingers at x < 2 and x > 3, up to y = 4.
TetMesh two_fingers() {
  TetMesh mesh = make_tet_box(Vec3(5, 4, 1), {10, 8, 4});
  set_uniform_material(mesh, {.name = "flesh", .young = 1000, .poisson = 0.4, .density = 1});
  std::erase_if(mesh.elements, [&](const TetMesh::Element& tet) {
    Vec3 centre = Vec3::Zero();
    for (const Index v : tet) centre += 0.25 * mesh.vertices[to_size(v)];
    return centre[0] > 2 && centre[0] < 3 && centre[1] > 1;
  });
  return mesh;
}

bool used(const TetMesh& mesh, Index vertex) {
  const Vec3& x = mesh.vertices[to_size(vertex)];
  return !(x[0] > 2 && x[0] < 3 && x[1] > 1);
}

/// Each finger moved towards the other by `shift` where y ≥ 2; they touch at 0.5.
std::vector<Vec3> pressed(const TetMesh& mesh, double shift) {
  std::vector<Vec3> x = mesh.vertices;
  for (Vec3& p : x) p[0] += (p[0] < 2.5 ? 1 : -1) * shift * std::clamp(p[1] - 1, 0.0, 1.0);
  return x;
}

/// The vertices of the sides that meet: `inner`, away from the rims, and with the rims.
std::set<Index> meeting_sides(const TetMesh& mesh, bool inner) {
  std::set<Index> result;
  for (Index v = 0; v < std::ssize(mesh.vertices); ++v) {
    const Vec3& x = mesh.vertices[to_size(v)];
    const bool side = (x[0] == 2 || x[0] == 3) && x[1] >= 2;
    const bool rim = x[1] < 2.4 || x[1] > 3.9 || x[2] < 0.1 || x[2] > 0.9;
    if (side && !(inner && rim)) result.insert(v);
  }
  return result;
}

std::set<Index> touching_vertices(const std::vector<SelfContact>& contacts) {
  std::set<Index> result;
  for (const SelfContact& contact : contacts) result.insert(contact.vertex);
  return result;
}

bool contains(const std::set<Index>& all, const std::set<Index>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

TEST(SelfContact, PressedFingersMeetWithTheirFacingSidesOnly) {
  const TetMesh mesh = two_fingers();
  for (const double shift : {0.5, 0.53, 0.47}) {
    SCOPED_TRACE(shift);
    const std::vector<Vec3> x = pressed(mesh, shift);
    const auto contacts = must(find_self_contacts(mesh, x));
    const std::set<Index> touching = touching_vertices(contacts);
    EXPECT_TRUE(contains(touching, meeting_sides(mesh, true)));
    EXPECT_TRUE(contains(meeting_sides(mesh, false), touching));
    for (const SelfContact& contact : contacts) {
      const double side = mesh.vertices[to_size(contact.vertex)][0];
      Vec3 point = Vec3::Zero();
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(mesh.vertices[to_size(contact.triangle[k])][0], 5 - side);
        point += contact.weights[static_cast<Eigen::Index>(k)] * x[to_size(contact.triangle[k])];
      }
      // Where overlapping fingers begin to touch, the sloping skin below is nearer.
      const bool begins = mesh.vertices[to_size(contact.vertex)][1] < 2.4;
      EXPECT_NEAR(contact.gap, 1 - 2 * shift, begins ? 0.01 : 1e-12);
      EXPECT_NEAR((x[to_size(contact.vertex)] - point).norm(), std::abs(contact.gap), 1e-12);
      EXPECT_GT(contact.normal[0] * (side == 3 ? 1 : -1), begins ? 0.8 : 1 - 1e-12);
    }
  }
}

TEST(SelfContact, NothingTouchesBeforeTheFingersDo) {
  const TetMesh mesh = two_fingers();
  EXPECT_TRUE(must(find_self_contacts(mesh, mesh.vertices)).empty());
  EXPECT_TRUE(must(find_self_contacts(mesh, pressed(mesh, 0.4))).empty());
  EXPECT_TRUE(must(find_self_contacts(mesh, pressed(mesh, 0.49), {.tolerance = 0})).empty());
  EXPECT_FALSE(must(find_self_contacts(mesh, pressed(mesh, 0.5), {.tolerance = 0})).empty());
  EXPECT_FALSE(must(find_self_contacts(mesh, pressed(mesh, 0.53), {.tolerance = 0})).empty());
  EXPECT_FALSE(must(find_self_contacts(mesh, pressed(mesh, 0.4), {.tolerance = 0.5})).empty());  // on request
  EXPECT_FALSE(find_self_contacts(mesh, std::vector<Vec3>(3)).ok());
}

TEST(SelfContact, AreTheSameAnywhereAndAtAnyScale) {
  const TetMesh mesh = two_fingers();
  const std::vector<Vec3> x = pressed(mesh, 0.53);
  const auto expected = must(find_self_contacts(mesh, x));
  for (const double scale : {1e-3, 1.0, 250.0}) {
    TetMesh scaled = mesh;
    for (Vec3& p : scaled.vertices) p *= scale;
    std::vector<Vec3> moved = x;
    for (Vec3& p : moved) p = scale * (some_rotation() * p + Vec3(3, -7, 2));
    const auto contacts = must(find_self_contacts(scaled, moved));
    // On the rims rounding decides which of several triangles at the same distance is the nearest.
    ASSERT_EQ(touching_vertices(contacts), touching_vertices(expected));
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      EXPECT_NEAR(contacts[k].gap / scale, expected[k].gap, 1e-9);
      EXPECT_LT((contacts[k].normal - some_rotation() * expected[k].normal).norm(), 1e-6);
    }
  }
}

/// A round bar along y, radius 0.5, from −2 to 2.
TetMesh round_bar() {
  TetMesh mesh = make_tet_box(Vec3(2, 8, 2), {6, 24, 6});
  set_uniform_material(mesh, {.name = "flesh", .young = 1000, .poisson = 0.4, .density = 1});
  for (Vec3& x : mesh.vertices) {
    const Eigen::Vector2d square(x[0] - 1, x[2] - 1);
    const double ring = square.cwiseAbs().maxCoeff();
    const Eigen::Vector2d round = ring > 0 ? Eigen::Vector2d(0.5 * ring * square.normalized()) : Eigen::Vector2d(0, 0);
    x = Vec3(round[0], 0.5 * (x[1] - 4), round[1]);
  }
  return mesh;
}

/// Linear skinning of a hinge about z at the origin: the upper half turns towards +x.
std::vector<Vec3> elbow(const TetMesh& mesh, double degrees) {
  const Mat3 turn = Eigen::AngleAxisd(-degrees * std::numbers::pi / 180, Vec3::UnitZ()).toRotationMatrix();
  std::vector<Vec3> x = mesh.vertices;
  for (Vec3& p : x) {
    const double w = std::clamp(0.5 + p[1] / 0.5, 0.0, 1.0);
    p = (1 - w) * p + w * (turn * p);
  }
  return x;
}

TEST(SelfContact, ABentElbowTouchesOnItsInnerSideOnly) {
  const TetMesh mesh = round_bar();
  EXPECT_TRUE(must(find_self_contacts(mesh, elbow(mesh, 20))).empty());
  const auto contacts = must(find_self_contacts(mesh, elbow(mesh, 120)));
  int above = 0, below = 0;
  for (const SelfContact& contact : contacts) {
    const Vec3& X = mesh.vertices[to_size(contact.vertex)];
    EXPECT_GT(X[0], 0) << X.transpose();              // the side that the forearm comes to
    EXPECT_LT(std::abs(X[1]), 1.2) << X.transpose();  // a radius or two from the hinge
    if (X[1] != 0) ++(X[1] > 0 ? above : below);
    for (const Index corner : contact.triangle) EXPECT_LE(mesh.vertices[to_size(corner)][1] * X[1], 0) << X.transpose();
  }
  EXPECT_GT(above, 5);
  EXPECT_NEAR(above, below, 0.3 * above);
}

TEST(SelfContact, ThinPartsDontTouchThemselves) {
  // An ear: opposite sides are near and look away from each other.
  TetMesh mesh = make_tet_box(Vec3(4, 4, 0.05), {16, 16, 1});
  EXPECT_TRUE(must(find_self_contacts(mesh, mesh.vertices, {.tolerance = 3})).empty());
}

TEST(SelfContact, PartsThatAreBuiltIntoEachOtherDontTouch) {
  // A nail half inside the tip of a finger: it makes no contacts, the sides of the fingers still do.
  TetMesh mesh = two_fingers();
  const TetMesh nail = make_tet_box(Vec3(0.3, 0.3, 0.3), {2, 2, 2});
  const auto first = static_cast<Index>(mesh.vertices.size());
  for (const Vec3& x : nail.vertices) mesh.vertices.push_back(x + Vec3(0.3, 3.8, 0.31));
  for (TetMesh::Element tet : nail.elements) {
    for (Index& v : tet) v += first;
    mesh.elements.push_back(tet);
  }
  EXPECT_TRUE(must(find_self_contacts(mesh, mesh.vertices, {.tolerance = 0})).empty());
  for (const double shift : {0.5, 0.53}) {
    const std::set<Index> touching = touching_vertices(must(find_self_contacts(mesh, pressed(mesh, shift))));
    EXPECT_TRUE(contains(touching, meeting_sides(mesh, true)));
    EXPECT_TRUE(contains(meeting_sides(mesh, false), touching));
  }
}

// ---- modes ----------------------------------------------------------------------------------------------------------

struct PressedHand {
  TetMesh mesh = two_fingers();
  std::vector<Vec3> positions = pressed(mesh, 0.5);
  ElasticBody body = body_of(mesh, MaterialModel::stvk);
  std::vector<Index> fixed = vertices_where(body, [](const Vec3& X) { return X[1] < 0.1; });
  std::vector<SelfContact> contacts = must(find_self_contacts(mesh, positions));

  ElasticBody posed() const {
    VecX x(body.dof_count());
    for (Index v = 0; v < body.vertex_count(); ++v) x.segment<3>(3 * v) = positions[to_size(v)];
    return body.posed(x);
  }
};

/// How far a motion opens (positive) or closes the contacts at most, relative to the largest displacement.
double largest_opening(const std::vector<SelfContact>& contacts, const VecX& u) {
  double worst = 0;
  for (const SelfContact& contact : contacts)
    worst = std::max(worst, std::abs(contact.normal.dot(contact.relative(u))));
  return worst / u.cwiseAbs().maxCoeff();
}
double largest_slip(const std::vector<SelfContact>& contacts, const VecX& u) {
  double worst = 0;
  for (const SelfContact& contact : contacts) worst = std::max(worst, contact.relative(u).norm());
  return worst / u.cwiseAbs().maxCoeff();
}

TEST(SelfContact, ModesUnderContactCannotPenetrateDeeper) {
  const PressedHand hand;
  ASSERT_TRUE(used(hand.mesh, hand.contacts.front().vertex));
  const ElasticBody body = hand.posed();
  const Index n = body.vertex_count();
  const MatX loose = must(constrained_modes({body, hand.fixed, {}, {}}, {.count = 12})).shapes;
  const ConstrainedBody sliding =
      must(ConstrainedBody::create({body, hand.fixed, {}, contact_constraints(hand.contacts, n)}));
  const ConstrainedBody fixed =
      must(ConstrainedBody::create({body, hand.fixed, {}, contact_constraints(hand.contacts, n, ContactKind::fixed)}));
  // Vertices of both sides coincide here, so that each pair says the same twice.
  EXPECT_LE(sliding.constraint_count(), std::ssize(hand.contacts) / 2 + 2);
  const Modes slide = must(sliding.modes({.count = 12})), stick = must(fixed.modes({.count = 12}));
  const MatX bent = must(sliding.derivatives(slide, 6)).shapes;
  double loosest = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const VecX q = random_vector(12, seed);
    loosest = std::max(loosest, largest_opening(hand.contacts, loose * q));
    EXPECT_LT(largest_opening(hand.contacts, slide.shapes * q), 1e-9);
    EXPECT_GT(largest_slip(hand.contacts, slide.shapes * q), 1e-3);
    EXPECT_LT(largest_slip(hand.contacts, stick.shapes * q), 1e-9);
    EXPECT_LT(largest_opening(hand.contacts, bent * random_vector(bent.cols(), seed)), 1e-9);
  }
  EXPECT_GT(loosest, 0.1);
}

TEST(SelfContact, AgainstTheWorldTheSidesStandStill) {
  const PressedHand hand;
  const ElasticBody body = hand.posed();
  const Index n = body.vertex_count();
  const auto moved = [&](ContactAgainst against) {
    const SparseConstraints C = contact_constraints(hand.contacts, n, ContactKind::fixed, against);
    EXPECT_EQ(C.rows(), 3 * std::ssize(hand.contacts));
    const VecX u = must(constrained_modes({body, hand.fixed, {}, C}, {.count = 1})).shapes.col(0);
    double most = 0;
    for (const SelfContact& contact : hand.contacts) most = std::max(most, u.segment<3>(3 * contact.vertex).norm());
    return most / u.cwiseAbs().maxCoeff();
  };
  EXPECT_LT(moved(ContactAgainst::world), 1e-10);
  EXPECT_GT(moved(ContactAgainst::opposite), 0.3);
}

// ---- pushing apart --------------------------------------------------------------------------------------------------

Surface bar_skin(const TetMesh& mesh, const std::vector<Vec3>& x) {
  const BoundarySurface boundary = boundary_surface(mesh);
  Surface skin = boundary.surface;
  for (std::size_t v = 0; v < skin.vertices.size(); ++v) skin.vertices[v] = x[to_size(boundary.volume_vertex[v])];
  return skin;
}

double deepest(const Surface& skin, double slack) {
  const std::vector<double> depths = buried_depths(skin, slack);
  return *std::max_element(depths.begin(), depths.end());
}

TEST(PushApart, UnburiesABentElbowAndLeavesTheRest) {
  const TetMesh mesh = round_bar();
  const double slack = 0.01;
  EXPECT_EQ(deepest(bar_skin(mesh, mesh.vertices), slack), 0);
  Surface skin = bar_skin(mesh, elbow(mesh, 120));
  EXPECT_GT(deepest(skin, slack), 0.1);
  const std::vector<Vec3> pushes = pushed_apart(skin, slack);
  const Surface rest = bar_skin(mesh, mesh.vertices);
  for (std::size_t v = 0; v < pushes.size(); ++v) {
    skin.vertices[v] += pushes[v];
    if (std::abs(rest.vertices[v][1]) > 1.7) {
      EXPECT_EQ(pushes[v].norm(), 0);
    }
  }
  EXPECT_LT(deepest(skin, slack), 2 * slack);
}

/// The skin of the bar as a rig of one parameter, the angle of its elbow in degrees.
class ElbowRig final : public Rig {
 public:
  ElbowRig(TetMesh mesh, std::vector<Index> vertices) : mesh_(std::move(mesh)), vertices_(std::move(vertices)) {
    layout_.add_scalar("elbow", 0.0, "deg", 0.02);
  }
  const PoseLayout& layout() const override { return layout_; }
  Index vertex_count() const override { return static_cast<Index>(vertices_.size()); }
  std::unique_ptr<RigWorkspace> make_workspace(Index) const override { return std::make_unique<RigWorkspace>(); }
  void evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                RigWorkspace&) const override {
    const std::vector<Vec3> x = elbow(mesh_, p[0]);
    for (std::size_t k = 0; k < vertices.size(); ++k) positions[k] = x[to_size(vertices_[to_size(vertices[k])])];
  }

 private:
  TetMesh mesh_;
  std::vector<Index> vertices_;
  PoseLayout layout_;
};

TEST(PushApart, CorrectsAPoseOfARigWithSeams) {
  const TetMesh mesh = round_bar();
  const BoundarySurface boundary = boundary_surface(mesh);
  // Every triangle has vertices of its own, as in a file with flat shading.
  Surface cut;
  std::vector<Index> source;
  for (const Triangle& t : boundary.surface.triangles) {
    const auto first = static_cast<Index>(cut.vertices.size());
    for (const Index corner : t) {
      cut.vertices.push_back(boundary.surface.vertices[to_size(corner)]);
      source.push_back(boundary.volume_vertex[to_size(corner)]);
    }
    cut.triangles.push_back({first, first + 1, first + 2});
  }
  const auto rig = std::make_shared<const ElbowRig>(mesh, source);
  const PoseCorrection correction = contact_correction(*rig, cut, {120.0});
  ASSERT_EQ(correction.displacements.size(), cut.vertices.size());
  std::map<Index, Vec3> first;
  for (std::size_t v = 0; v < source.size(); ++v)  // seams stay closed
    EXPECT_EQ(first.emplace(source[v], correction.displacements[v]).first->second, correction.displacements[v]);
  const auto corrected = must(PoseSpaceRig::create(rig, {correction}));
  const double slack = 0.002 * bounds_of(cut.vertices).size().maxCoeff();
  const auto depth = [&](const Rig& which) {
    Surface posed = cut;
    posed.vertices = evaluate_all(which, std::vector<double>{120.0});
    return deepest(weld(posed).surface, slack);
  };
  EXPECT_GT(depth(*rig), 0.1);
  EXPECT_LT(depth(*corrected), 2 * slack);
}

TEST(PushApart, LeavesWhatIsBuriedInTheNeutralPose) {
  // An eye inside the bar, far from the elbow.
  TetMesh mesh = round_bar();
  Surface skin = boundary_surface(mesh).surface;
  const auto outer = skin.vertices.size();
  const Surface eye = boundary_surface(make_tet_box(Vec3(0.2, 0.2, 0.2), {2, 2, 2})).surface;
  for (const Vec3& x : eye.vertices) skin.vertices.push_back(x + Vec3(0.1, -1.5, -0.1));
  for (const Triangle& t : eye.triangles) {
    const auto shift = static_cast<Index>(outer);
    skin.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  }
  ASSERT_GT(deepest(skin, 0.01), 0);
  const std::vector<double> depths = buried_depths(skin, 0.01);
  std::vector<char> ignored;
  for (const double d : depths) ignored.push_back(d > 0);
  for (const Vec3& push : pushed_apart(skin, 0.01, ignored)) EXPECT_EQ(push.norm(), 0);
}

}  // namespace
}  // namespace supple::self_contact_test
