// SPDX-License-Identifier: Apache-2.0
// [body] mesh: tetrahedra that the user brings, around a character of our own.
#include "supple/pipeline/character/character_body.h"

#include "samples/creatures.h"
#include "supple/io/gltf/write_character.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"
#include "supple/pipeline/character/build_cache.h"
#include "supple/pipeline/character/build_posespace.h"
#include "supple/pipeline/character/engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace supple::own_body_test {
namespace {

class OwnBodyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_own_body_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    const RawCharacter character = make_character(make_x_shape(), 1200);
    ASSERT_TRUE(write_character(folder() / "x.glb", character, {}).ok());
    made() = make_body(load_source(plain(), folder()).value()).value().body;
    ASSERT_TRUE(save_mesh(made().mesh, folder() / "x.msh").ok());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }

  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  /// The mesher's body, which the others are compared with.
  static EmbeddedBody& made() {
    static EmbeddedBody body;
    return body;
  }
  static Recipe plain() {
    Recipe recipe;
    recipe.input = "x.glb";
    recipe.tets = 1500;
    recipe.flesh.size = 10;
    return recipe;
  }
  static Recipe own(const std::string& mesh) {
    Recipe recipe = plain();
    recipe.body_mesh = mesh;
    return recipe;
  }
  static Result<CharacterBody> body_of(const Recipe& recipe) {
    const Result<CharacterSource> source = load_source(recipe, folder());
    SUPPLE_RETURN_IF_ERROR(source);
    return make_body(*source);
  }
  static void expect_refusal(const Recipe& recipe, const std::string& words) {
    const Result<CharacterBody> body = body_of(recipe);
    ASSERT_FALSE(body.ok());
    EXPECT_EQ(body.error().kind, ErrorKind::input);
    EXPECT_NE(body.error().message.find(words), std::string::npos) << body.error().message;
  }
};

TEST_F(OwnBodyTest, TheMeshersOwnOutputGivesTheSameBody) {
  for (const char* name : {"x.msh", "x.mesh", "x.node", "x.veg"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(save_mesh(made().mesh, folder() / name).ok());
    const Result<CharacterBody> body = body_of(own(name));
    ASSERT_TRUE(body.ok()) << body.error().message;
    EXPECT_EQ(body->body.mesh.elements, made().mesh.elements);
    double worst = 0;
    for (std::size_t v = 0; v < made().mesh.vertices.size(); ++v)
      worst = std::max(worst, (body->body.mesh.vertices[v] - made().mesh.vertices[v]).norm());
    EXPECT_LT(worst, 1e-12);
    EXPECT_EQ(body->body.fixed_vertices, made().fixed_vertices);
    EXPECT_EQ(body->body.embedding.element, made().embedding.element);
    EXPECT_TRUE(body->body.warnings.empty()) << body->body.warnings.front();
  }
}

TEST_F(OwnBodyTest, TheRecipesScaleIsThatOfTheTetrahedra) {
  Recipe large = own("x.msh");
  large.scale = 100;
  const Result<CharacterBody> body = body_of(large);
  ASSERT_TRUE(body.ok()) << body.error().message;
  EXPECT_NEAR(bounds_of(body->body.mesh.vertices).diagonal(), 100 * bounds_of(made().mesh.vertices).diagonal(), 1e-9);
}

TEST_F(OwnBodyTest, MaterialsOfTheFileAreKeptWhereTheRecipeSaysNothing) {
  TetMesh mesh = made().mesh;
  ElementSet upper{"upper", {}};
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    if (mesh.vertices[to_size(mesh.elements[e][0])][1] > 0.3) upper.elements.push_back(static_cast<Index>(e));
  ASSERT_FALSE(upper.elements.empty());
  ASSERT_LT(upper.elements.size(), mesh.elements.size());
  mesh.sets = {upper};
  mesh.materials = {{"firm", 4e6, 0.3, 2000}};
  mesh.regions = {{0, 0}};
  assign_materials_from_regions(mesh);
  ASSERT_TRUE(save_mesh(mesh, folder() / "firm.veg").ok());
  const CharacterBody body = body_of(own("firm.veg")).value();
  EXPECT_TRUE(body.file_materials);
  const auto in_upper = to_size(upper.elements.front());
  EXPECT_NEAR(body.body.mesh.material_of(in_upper).young, 4e6, 1);
  EXPECT_NEAR(body.body.mesh.material_of(in_upper).density, 2000, 1e-6);
  std::size_t below = 0;
  while (std::binary_search(upper.elements.begin(), upper.elements.end(), static_cast<Index>(below))) ++below;
  EXPECT_NEAR(body.body.mesh.material_of(below).young, body.base.young, 1e-9 * body.base.young);
  Recipe said = own("firm.veg");
  said.file_materials = false;
  const CharacterBody uniform = body_of(said).value();
  EXPECT_FALSE(uniform.file_materials);
  EXPECT_EQ(uniform.body.mesh.materials.size(), 1u);
  // The stiffness that somebody measured isn't tuned to a frequency.
  const Result<BuiltCharacter> built = build_character(load_source(own("firm.veg"), folder()).value());
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_NEAR(built->reduced.young, 4e6, 4e6);
}

TEST_F(OwnBodyTest, WhatIsNoBodyIsRefused) {
  ASSERT_TRUE(save_mesh(boundary_surface(made().mesh).surface, folder() / "skin.obj").ok());
  expect_refusal(own("skin.obj"), "skin.obj: the file holds a surface without tetrahedra");
  TetMesh aside = made().mesh;
  for (Vec3& x : aside.vertices) x[0] += 10;
  ASSERT_TRUE(save_mesh(aside, folder() / "aside.msh").ok());
  expect_refusal(own("aside.msh"), "aside.msh: its tetrahedra don't surround the skin: 100.0 % of the skin's vertices");
  TetMesh folded = made().mesh;
  const auto& element = folded.elements[0];
  const Vec3 centre = (folded.vertices[to_size(element[1])] + folded.vertices[to_size(element[2])] +
                       folded.vertices[to_size(element[3])]) /
                      3;
  Vec3& corner = folded.vertices[to_size(element[0])];
  corner = centre + (centre - corner);  // through the opposite face
  ASSERT_TRUE(save_mesh(folded, folder() / "folded.msh").ok());
  expect_refusal(own("folded.msh"), "are inverted");
  ASSERT_TRUE(save_mesh(make_hex_box(Vec3(1, 1, 1), {2, 2, 2}), folder() / "bricks.veg").ok());
  expect_refusal(own("bricks.veg"), "bricks.veg: the file holds bricks");
}

/// The cache tells bodies apart by what is in their files, not by their names.
TEST_F(OwnBodyTest, AChangedFileIsBuiltAnew) {
  BuildCache cache(folder() / "cache");
  const CharacterEngine& engine = *find_engine("posespace").value();
  const auto build = [&] {
    auto source = std::make_shared<const CharacterSource>(load_source(own("changing.msh"), folder()).value());
    EXPECT_TRUE(engine.build(source, Progress::silent(), cache).ok());
  };
  ASSERT_TRUE(save_mesh(made().mesh, folder() / "changing.msh").ok());
  build();
  EXPECT_TRUE(cache.found().empty());
  build();
  const std::vector<std::string> found = cache.found();
  EXPECT_EQ(std::count(found.begin(), found.end(), "character"), 1);
  TetMesh changed = made().mesh;
  for (Vec3& x : changed.vertices) x *= 1.001;
  ASSERT_TRUE(save_mesh(changed, folder() / "changing.msh").ok());
  BuildCache again(folder() / "cache");
  auto source = std::make_shared<const CharacterSource>(load_source(own("changing.msh"), folder()).value());
  ASSERT_TRUE(engine.build(source, Progress::silent(), again).ok());
  EXPECT_TRUE(again.found().empty());
}

}  // namespace
}  // namespace supple::own_body_test
