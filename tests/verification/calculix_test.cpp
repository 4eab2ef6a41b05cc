// SPDX-License-Identifier: Apache-2.0
// The same mesh, material and supports in CalculiX 2.20. Its C3D8 is the trilinear brick with 2×2×2 points, its C3D4
// the linear tetrahedron (for frequencies as a tied C3D10, see calculix.h), and with NLGEOM its *ELASTIC ties the
// second Piola stress to Green's strain linearly, which is St. Venant-Kirchhoff. Hence the discrete problems are the
// same, and so must the answers be, up to the seven digits it prints.
#include "verification/calculix.h"
#include "supple/fem/modes.h"
#include "supple/fem/statics.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/mesh/vertex_list.h"

#include "support/bodies.h"

namespace supple::calculix_test {
namespace {

const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/tet";

class CalculixTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Calculix::installed()) GTEST_SKIP() << "CalculiX is not installed (Debian package calculix-ccx)";
    if (!std::filesystem::exists(assets)) GTEST_SKIP() << "the shared meshes are not here: " << assets;
  }

  template <class Mesh>
  static Mesh load(const std::string& name) {
    Result<LoadedMesh> loaded = load_mesh(assets / name);
    if (!loaded.ok()) throw std::runtime_error(loaded.error().message);
    return std::get<Mesh>(loaded->mesh);
  }
  template <class Mesh>
  static std::vector<Index> load_fixed(const std::string& name, const Mesh& mesh) {
    return must(load_vertex_list(assets / name, mesh.vertices.size()));
  }

  /// Largest relative difference of the first 20 frequencies.
  template <class Mesh>
  static double difference(const Mesh& mesh, const std::vector<Index>& fixed) {
    constexpr int count = 20;
    const Result<Modes> ours = compute_modes(body_of(mesh, MaterialModel::stvk), fixed, {.count = count});
    if (!ours.ok()) throw std::runtime_error(ours.error().message);
    const std::vector<double> theirs = Calculix().frequencies(mesh, fixed, count);
    double largest = 0;
    for (int k = 0; k < count; ++k) {
      largest = std::max(largest, std::abs(ours->frequencies[k] / theirs[to_size(k)] - 1));
    }
    measured("first frequency [Hz]", ours->frequencies[0]);
    measured("20th frequency [Hz]", ours->frequencies[count - 1]);
    measured("largest relative difference of 20 frequencies", largest);
    return largest;
  }
};

TEST_F(CalculixTest, FrequenciesOfTheBeam) {
  const auto mesh = load<TetMesh>("vega_beam3/beam3_tet.veg");
  EXPECT_LT(difference(mesh, load_fixed("vega_beam3/beam3.bou", mesh)), 1e-6);
}

TEST_F(CalculixTest, FrequenciesOfTheTurtleOfTwoMaterials) {
  const auto mesh = load<TetMesh>("vega_turtle/turtle-volumetric-heterogeneous.veg");
  ASSERT_GE(mesh.materials.size(), 2u);
  EXPECT_LT(difference(mesh, load_fixed("vega_turtle/turtle-volumetric.bou", mesh)), 1e-6);
}

TEST_F(CalculixTest, FrequenciesOfTheBridge) {
  const auto mesh = load<TetMesh>("vega_bridge/simpleBridge-ic_128_0.15_.1.veg");
  EXPECT_LT(difference(mesh, load_fixed("vega_bridge/simpleBridge.bou", mesh)), 1e-6);
}

TEST_F(CalculixTest, FrequenciesOfTheOctocatOnItsFeet) {
  auto mesh = load<TetMesh>("ipc_octocat/32770_octocat.msh");
  for (Vec3& x : mesh.vertices) x *= 0.01;  // its file has no unit; now it is 0.93 m tall
  set_uniform_material(mesh, {.name = "rubber", .young = 1e7, .poisson = 0.4, .density = 1100});
  double lowest = 1e300;
  for (const Vec3& x : mesh.vertices) lowest = std::min(lowest, x[1]);
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (mesh.vertices[v][1] < lowest + 0.02) fixed.push_back(static_cast<Index>(v));
  }
  ASSERT_GE(fixed.size(), 3u);
  EXPECT_LT(difference(mesh, fixed), 1e-6);
}

template <class Mesh>
void compare_large_deflection(const Mesh& mesh) {
  const ElasticBody body = body_of(mesh, MaterialModel::stvk);
  const auto fixed = left_face(body);
  const auto end = vertices_where(body, [](const Vec3& X) { return X[0] > 1 - 1e-9; });
  VecX load = VecX::Zero(body.dof_count());
  for (const Index v : end) load.segment<3>(3 * v) = Vec3(0, 10, -90) / static_cast<double>(end.size());
  const Index tip = end.back();
  const Result<StaticsResult> ours = solve_static(body, fixed, load, {.load_steps = 4});
  ASSERT_TRUE(ours.ok()) << ours.error().message;
  const Vec3 u = ours->u.segment<3>(3 * tip);
  const Vec3 theirs = Calculix().static_displacement(mesh, fixed, load, tip);
  ASSERT_GT(u.norm(), 1.0 / 3) << "the deflection must be large";
  measured("deflection / length", u.norm());
  measured("relative difference of the tip displacement", (u - theirs).norm() / theirs.norm());
  EXPECT_LT((u - theirs).norm() / theirs.norm(), 1e-5);
}

const BoxSpec cantilever{.size = Vec3(1, 0.15, 0.15),
                         .cells = {16, 3, 3},
                         .material = {.name = "beam", .young = 1e6, .poisson = 0.3, .density = 1000}};

TEST_F(CalculixTest, LargeDeflectionOfACantileverOfTets) { compare_large_deflection(tet_box(cantilever)); }
TEST_F(CalculixTest, LargeDeflectionOfACantileverOfBricks) { compare_large_deflection(brick_box(cantilever)); }

TEST_F(CalculixTest, FrequenciesOfTheBrickBeam) {
  const auto mesh = load<HexMesh>("vega_beam3/beam3.veg");
  EXPECT_LT(difference(mesh, load_fixed("vega_beam3/beam3.bou", mesh)), 1e-6);
}

TEST_F(CalculixTest, FrequenciesOfDistortedBricksOfThreeMaterials) {
  const BoxSpec spec{.size = Vec3(1, 0.5, 0.4),
                     .cells = {7, 4, 3},
                     .distortion = 0.2,
                     .distort_surface = false,
                     .heterogeneous = true};
  const HexMesh mesh = brick_box(spec);
  EXPECT_LT(difference(mesh, left_face(body_of(mesh, MaterialModel::stvk))), 1e-6);
}

}  // namespace
}  // namespace supple::calculix_test
