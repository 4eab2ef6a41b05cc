// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/box.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"
#include "supple/offline/painting/carry_paint.h"
#include "supple/offline/painting/paint_sources.h"
#include "supple/offline/painting/painted_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace supple::painting_test {
namespace {

using Field = std::function<double(const Vec3&)>;

/// A box and a skin on it, which is as fine as another box.
struct Body {
  TetMesh mesh;
  Surface skin;
  Embedding embedding;

  Body(const std::array<int, 3>& cells, const std::array<int, 3>& skin_cells) {
    const Vec3 size(2, 1, 1);
    mesh = make_tet_box(size, cells);
    skin = boundary_surface(make_tet_box(size, skin_cells)).surface;
    embedding = embed(mesh, skin.vertices).value();
  }

  std::vector<double> paint(const Field& field) const {
    std::vector<double> values;
    for (const Vec3& x : skin.vertices) values.push_back(field(x));
    return values;
  }
  std::vector<double> carried(const Field& field, double smoothness = 0.01) const {
    return carry_paint(mesh, skin, embedding, paint(field), {smoothness}).value();
  }
  Vec3 center(std::size_t e) const {
    Vec3 sum = Vec3::Zero();
    for (const Index v : mesh.elements[e]) sum += mesh.vertices[to_size(v)];
    return sum / 4;
  }
  double largest_difference(const std::vector<double>& values, const Field& field) const {
    double most = 0;
    for (std::size_t e = 0; e < values.size(); ++e) most = std::max(most, std::abs(values[e] - field(center(e))));
    return most;
  }
  /// Mean by volume of the elements whose centre is in a slab across x.
  double mean_at(const std::vector<double>& values, double x, double half_width) const {
    const std::vector<double> volumes = element_volumes(mesh);
    double sum = 0, volume = 0;
    for (std::size_t e = 0; e < values.size(); ++e) {
      if (std::abs(center(e)[0] - x) > half_width) continue;
      sum += volumes[e] * values[e];
      volume += volumes[e];
    }
    return sum / volume;
  }
};

TEST(CarryPaint, EvenPaintStaysEven) {
  const Body body({8, 4, 4}, {10, 5, 5});
  const std::vector<double> values = body.carried([](const Vec3&) { return 7.5; });
  for (const double value : values) EXPECT_NEAR(value, 7.5, 1e-9);
}

TEST(CarryPaint, LinearPaintStaysNearlyLinear) {
  const Body body({16, 8, 8}, {32, 16, 16});
  const Field linear = [](const Vec3& x) { return x[0] - 0.5 * x[1] + 0.25 * x[2]; };
  // A cell is 1/8 wide, over which the paint changes by 0.2; its range is 2.75.
  EXPECT_LT(body.largest_difference(body.carried(linear, 1e-3), linear), 0.1);
}

TEST(CarryPaint, NeverLeavesThePaintedRange) {
  const Body body({8, 4, 4}, {10, 5, 5});
  const std::vector<double> values = body.carried([](const Vec3& x) { return x[0] > 1.1 ? 0.499 : 0.1; });
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.1 - 1e-12);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 0.499 + 1e-12);
}

TEST(CarryPaint, SmoothnessGoesFromThePaintToItsMean) {
  const Body body({8, 4, 4}, {16, 8, 8});
  const Field stripes = [](const Vec3& x) { return std::sin(6 * x[0]); };
  // Loose: elements that hold skin vertices have the area's mean of just these.
  const std::vector<double> loose = body.carried(stripes, 1e-9);
  std::vector<double> sum(loose.size(), 0.0), count(loose.size(), 0.0);
  const std::vector<double> paint = body.paint(stripes);
  for (std::size_t v = 0; v < paint.size(); ++v) {
    const auto e = to_size(body.embedding.element[v]);
    sum[e] += paint[v];
    count[e] += 1;
  }
  for (std::size_t e = 0; e < loose.size(); ++e) {
    if (count[e] == 1) {
      EXPECT_NEAR(loose[e], sum[e], 1e-5);
    }
  }
  // Stiff: one number, the mean over the skin's area. ∫ sin 6x over the long sides (4 m wide) and the two ends.
  const double expected = (4 * (1 - std::cos(12.0)) / 6 + std::sin(12.0)) / 10;
  const std::vector<double> stiff = body.carried(stripes, 100);
  for (const double value : stiff) EXPECT_NEAR(value, expected, 0.01);
}

TEST(CarryPaint, DoesNotDependOnTheFinenessOfEitherMesh) {
  const Field step = [](const Vec3& x) { return x[0] > 1 ? 1.0 : 0.0; };
  const Body coarse({16, 8, 8}, {20, 10, 10}), fine({28, 14, 14}, {20, 10, 10}), fine_skin({16, 8, 8}, {60, 30, 30});
  // A smoothing length of 12 cm, wide against the coarse cells.
  const std::vector<double> a = coarse.carried(step, 0.05), b = fine.carried(step, 0.05),
                            c = fine_skin.carried(step, 0.05);
  for (const double x : {0.25, 0.5, 0.75, 1.25, 1.5, 1.75}) {
    EXPECT_NEAR(coarse.mean_at(a, x, 0.125), fine.mean_at(b, x, 0.125), 0.03) << x;
    EXPECT_NEAR(coarse.mean_at(a, x, 0.125), fine_skin.mean_at(c, x, 0.125), 0.03) << x;
  }
  EXPECT_LT(coarse.mean_at(a, 0.25, 0.125), 0.1);
  EXPECT_GT(coarse.mean_at(a, 1.75, 0.125), 0.9);
}

TEST(CarryPaint, SmoothAcrossNeighbours) {
  const Body body({16, 8, 8}, {20, 10, 10});
  const std::vector<double> values = body.carried([](const Vec3& x) { return x[0] > 1 ? 1.0 : 0.0; }, 0.05);
  // No jump between the elements of neighbouring slabs: cells are 0.125 m wide, the paint's step is 1.
  for (double x = 0.25; x < 1.75; x += 0.125)
    EXPECT_LT(std::abs(body.mean_at(values, x + 0.0625, 0.0625) - body.mean_at(values, x - 0.0625, 0.0625)), 0.35) << x;
}

TEST(CarryPaint, RepeatedVerticesOfASeamChangeNothing) {
  const Body whole({8, 4, 4}, {10, 5, 5});
  Body cut({8, 4, 4}, {10, 5, 5});
  // Every triangle gets vertices of its own, as the worst of files would have it.
  Surface apart;
  for (const Triangle& t : cut.skin.triangles) {
    const auto first = static_cast<Index>(apart.vertices.size());
    for (const Index v : t) apart.vertices.push_back(cut.skin.vertices[to_size(v)]);
    apart.triangles.push_back({first, first + 1, first + 2});
  }
  cut.skin = apart;
  cut.embedding = embed(cut.mesh, cut.skin.vertices).value();
  const Field field = [](const Vec3& x) { return std::cos(2 * x[0]) * x[1]; };
  const std::vector<double> a = whole.carried(field), b = cut.carried(field);
  for (std::size_t e = 0; e < a.size(); ++e) EXPECT_NEAR(a[e], b[e], 1e-9);
}

TEST(CarryPaint, UnpaintedSkinAndPieces) {
  Body body({4, 2, 2}, {8, 4, 4});
  // A second box, out of the paint's reach.
  const auto offset = static_cast<Index>(body.mesh.vertices.size());
  const std::size_t painted = body.mesh.elements.size();
  const TetMesh other = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  for (const Vec3& x : other.vertices) body.mesh.vertices.push_back(x + Vec3(5, 0, 0));
  for (TetMesh::Element e : other.elements) {
    for (Index& v : e) v += offset;
    body.mesh.elements.push_back(e);
  }
  const auto only_end = [](const Vec3& x) { return x[0] < 0.5 ? 3.0 : unpainted; };
  const std::vector<double> values = body.carried(only_end);
  ASSERT_GT(values.size(), painted);
  for (const double value : values) EXPECT_NEAR(value, 3.0, 1e-9);
  const auto nothing =
      carry_paint(body.mesh, body.skin, body.embedding, body.paint([](const Vec3&) { return unpainted; }));
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().message.find("nothing is painted"), std::string::npos);
}

// ---- meaning --------------------------------------------------------------------------------------------------------

TEST(PaintedBody, RangesRunGeometricallyOrLinearly) {
  const std::vector<double> paint{0, 0.5, 1};
  const std::vector<double> young = to_quantity(PaintQuantity::young, paint, PaintRange{1e4, 1e6}).value();
  EXPECT_NEAR(young[1], 1e5, 1e-6);
  const std::vector<double> density = to_quantity(PaintQuantity::density, paint, PaintRange{900, 1100}).value();
  EXPECT_NEAR(density[1], 1000, 1e-9);
}

TEST(PaintedBody, PoissonStaysBelowOneHalf) {
  const std::vector<double> fluid{0.3, 0.5};
  EXPECT_EQ(to_quantity(PaintQuantity::poisson, fluid).value(), (std::vector<double>{0.3, 0.499}));
  const std::vector<double> wrong{0.3, 0.51};
  const auto refused = to_quantity(PaintQuantity::poisson, wrong);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("0.51"), std::string::npos);
  const std::vector<double> black{0.0};
  EXPECT_NE(to_quantity(PaintQuantity::softness, black).error().message.find("range"), std::string::npos);
}

TEST(PaintedBody, MaterialsAreWithinOnePercentAndEvenPaintIsExact) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {6, 6, 6});
  PaintedQuantity softness{PaintQuantity::softness, {}}, poisson{PaintQuantity::poisson, {}};
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const double t = static_cast<double>(e) / static_cast<double>(mesh.elements.size());
    softness.values.push_back(std::pow(100.0, t));
    poisson.values.push_back(0.2 + 0.299 * t);
  }
  const ElasticMaterial base{"flesh", 2e4, 0.45, 1060};
  paint_materials(mesh, base, std::vector<PaintedQuantity>{softness, poisson});
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const ElasticMaterial& own = mesh.material_of(e);
    EXPECT_NEAR(own.young * softness.values[e] / 2e4, 1.0, 0.01);
    EXPECT_NEAR((1 - 2 * own.poisson) / (1 - 2 * poisson.values[e]), 1.0, 0.01);
    EXPECT_NEAR(own.density, 1060, 1e-9);
  }
  EXPECT_LT(mesh.materials.size(), mesh.elements.size());
  const PaintedQuantity even{PaintQuantity::young, std::vector<double>(mesh.elements.size(), 12345.6)};
  paint_materials(mesh, base, std::vector<PaintedQuantity>{even});
  ASSERT_EQ(mesh.materials.size(), 1u);
  EXPECT_DOUBLE_EQ(mesh.materials[0].young, 12345.6);
}

TEST(PaintedBody, FixityHoldsOneSide) {
  const Body body({8, 4, 4}, {16, 8, 8});
  const std::vector<double> fixity = body.carried([](const Vec3& x) { return x[0] < 0.6 ? 1.0 : 0.0; });
  const std::vector<Index> fixed = vertices_fixed_by(body.mesh, fixity);
  ASSERT_FALSE(fixed.empty());
  for (std::size_t v = 0; v < body.mesh.vertices.size(); ++v) {
    const double x = body.mesh.vertices[v][0];
    const bool held = std::binary_search(fixed.begin(), fixed.end(), static_cast<Index>(v));
    if (x < 0.3) {
      EXPECT_TRUE(held) << x;
    }
    if (x > 0.9) {
      EXPECT_FALSE(held) << x;
    }
  }
}

TEST(PaintedBody, PosesAreInterpolated) {
  const std::vector<std::string> poses{"neutral", "bent", "raised"};
  const PosePaint paint = make_pose_paint(poses, std::vector<double>{1, 2}, {{"bent", {5, 6}}}).value();
  std::vector<double> out(2);
  paint.interpolate(std::vector<double>{0.25, 0.5, 0.25}, out);
  EXPECT_DOUBLE_EQ(out[0], 3.0);
  EXPECT_DOUBLE_EQ(out[1], 4.0);
  const auto wrong = make_pose_paint(poses, std::vector<double>{1, 2}, {{"bemt", {5, 6}}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("did you mean \"bent\""), std::string::npos);
}

// ---- sources --------------------------------------------------------------------------------------------------------

RawCharacter two_meshes() {
  RawCharacter character;
  character.meshes.resize(2);
  character.meshes[0].name = "body";
  character.meshes[0].surface.vertices.resize(2);
  character.meshes[0].surface.attributes = {{"color", 3, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f}}};
  character.meshes[0].welded_vertex = {{0, 1}, {1}};  // a seam between two primitives repeats vertex 1
  character.meshes[1].name = "hat";
  character.meshes[1].surface.vertices.resize(1);
  character.meshes[1].welded_vertex = {{0}};
  return character;
}

TEST(PaintSources, Attributes) {
  const RawCharacter character = two_meshes();
  const std::vector<double> green = paint_from_attribute(character, "color", 1).value();
  ASSERT_EQ(green.size(), 3u);
  EXPECT_FLOAT_EQ(static_cast<float>(green[0]), 0.2f);
  EXPECT_FLOAT_EQ(static_cast<float>(green[1]), 0.5f);
  EXPECT_TRUE(std::isnan(green[2]));
  EXPECT_NE(paint_from_attribute(character, "colour").error().message.find("did you mean \"color\""),
            std::string::npos);
  EXPECT_NE(paint_from_attribute(character, "color", 3).error().message.find("3 channels"), std::string::npos);
}

TEST(PaintSources, Texts) {
  const RawCharacter character = two_meshes();
  const std::vector<double> paint = paint_from_text(character, "1 # first\n2\n4\nnan\n", "soft.txt").value();
  EXPECT_EQ(paint[0], 1);
  EXPECT_EQ(paint[1], 3);  // the mean over the seam
  EXPECT_TRUE(std::isnan(paint[2]));
  EXPECT_NE(paint_from_text(character, "1 2", "soft.txt").error().message.find("2 numbers for 4"), std::string::npos);
  EXPECT_NE(paint_from_text(character, "1\n2\nx", "soft.txt").error().message.find("line 3"), std::string::npos);
  EXPECT_EQ(tet_paint_from_text("1, 2, 3", "t", 3).value().size(), 3u);
  EXPECT_FALSE(tet_paint_from_text("1, nan, 3", "t", 3).ok());
}

}  // namespace
}  // namespace supple::painting_test
