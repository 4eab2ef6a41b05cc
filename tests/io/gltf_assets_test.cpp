// SPDX-License-Identifier: Apache-2.0
// Every character of the asset collection, against the counts of its manifest, which other programs made.
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/rest_surface.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace supple::gltf_assets_test {
namespace {

const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets";

struct Row {
  std::string path, what;
};

std::vector<Row> rigged_rows() {
  std::vector<Row> rows;
  std::ifstream file(assets / "MANIFEST.tsv");
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    if (cells.size() >= 6 && cells[0].starts_with("rigged/") && cells[5].starts_with("glTF:"))
      rows.push_back({cells[0], cells[5]});
  }
  return rows;
}

double number_in(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? std::stod(match[1]) : -1;
}

std::size_t file_vertices(const RawCharacter& character) {
  std::size_t count = 0;
  for (const CharacterMesh& mesh : character.meshes)
    for (const auto& primitive : mesh.welded_vertex) count += primitive.size();
  return count;
}

std::size_t most_influences(const RawCharacter& character) {
  Index most = 0;
  for (const CharacterMesh& mesh : character.meshes)
    for (std::size_t v = 1; v < mesh.weights.first.size(); ++v)
      most = std::max(most, mesh.weights.first[v] - mesh.weights.first[v - 1]);
  return to_size(most);
}

void check_clips(const Row& row, const RawCharacter& character) {
  EXPECT_EQ(character.clips.size(), number_in(row.what, "(\\d+) anim"));
  const std::regex first("anim\\(s\\) \\[(.*?) ([0-9.]+)s[;\\]]");
  std::smatch match;
  if (character.clips.empty() || !std::regex_search(row.what, match, first)) return;
  // The manifest leaves out the armature that Blender puts in front: "Armature|Swim".
  const std::string name = match[1];
  EXPECT_TRUE(name == "unnamed" || character.clips[0].name.ends_with(name)) << character.clips[0].name;
  EXPECT_NEAR(character.clips[0].duration, std::stod(match[2]), 5.1e-4);
}

void check_row(const Row& row) {
  SCOPED_TRACE(row.path);
  const Result<GltfDocument> document = load_gltf(assets / row.path);
  ASSERT_TRUE(document.ok()) << document.error().message;
  const Result<RawCharacter> character = read_character(*document, {.require_skin = false});
  ASSERT_TRUE(character.ok()) << character.error().message;
  std::size_t triangles = 0, targets = 0;
  for (const CharacterMesh& mesh : character->meshes) {
    triangles += mesh.surface.triangles.size();
    targets = std::max(targets, mesh.targets.size());
  }
  EXPECT_EQ(triangles, number_in(row.what, "(\\d+) tris"));
  EXPECT_EQ(file_vertices(*character), number_in(row.what, "(\\d+) verts"));
  EXPECT_EQ(character->skins.size(), number_in(row.what, "(\\d+) skin"));
  EXPECT_EQ(targets, number_in(row.what, "(\\d+) morph"));
  const double influences = number_in(row.what, "max ([1-9]\\d*) influences");
  EXPECT_TRUE(influences <= 0 || most_influences(*character) == influences) << most_influences(*character);
  if (!character->skins.empty()) {
    std::set<double> counts;
    for (const Skin& skin : character->skins) counts.insert(static_cast<double>(skin.joints.size()));
    EXPECT_EQ(*counts.begin(), number_in(row.what, "joints \\[(\\d+)"));
  }
  check_clips(row, *character);
  EXPECT_TRUE(rest_surface(*character).ok());
}

TEST(GltfAssets, EveryCharacterHasWhatItsManifestSays) {
  const std::vector<Row> rows = rigged_rows();
  if (rows.empty()) GTEST_SKIP() << "there are no shared assets";
  EXPECT_GE(rows.size(), 28u);
  for (const Row& row : rows) check_row(row);
}

// Places of all vertices, as the manifest counts them: one mesh, no morph targets, so that places decide alone.
TEST(GltfAssets, WeldingJoinsTheSeams) {
  for (const auto& [name, welded] :
       std::initializer_list<std::pair<const char*, std::size_t>>{{"khr_fox/Fox.glb", 290},
                                                                  {"khr_riggedfigure/RiggedFigure.glb", 130},
                                                                  {"khr_riggedsimple/RiggedSimple.glb", 96}}) {
    const auto path = assets / "rigged" / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "there are no shared assets";
    const Result<RawCharacter> character = read_character(*load_gltf(path));
    ASSERT_TRUE(character.ok());
    EXPECT_EQ(character->meshes[0].surface.vertices.size(), welded) << name;
  }
}

std::vector<Vec3> placed(const RawCharacter& character, const CharacterMesh& mesh) {
  const Transform& rest = character.skeleton.joints[to_size(mesh.node)].rest;
  std::vector<Vec3> places;
  for (const Vec3& x : mesh.surface.vertices) places.push_back(rest.matrix() * x - rest.translation);
  return places;
}

// The cubes of this file are the same cube in every combination of codec, version and filter.
TEST(GltfAssets, MeshoptCodecsAgree) {
  const auto path = assets / "rigged/khr_meshoptcube/MeshoptCubeTest.gltf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there are no shared assets";
  const Result<RawCharacter> character = read_character(*load_gltf(path), {.require_skin = false});
  ASSERT_TRUE(character.ok());
  std::vector<Vec3> reference;
  std::size_t cubes = 0;
  for (const CharacterMesh& mesh : character->meshes) {
    const std::string& name = character->skeleton.joints[to_size(mesh.node)].name;
    if (!name.starts_with("Cube")) continue;
    const std::vector<Vec3> places = placed(*character, mesh);
    if (cubes++ == 0) reference = places;
    for (const Vec3& x : places) {
      double nearest = 1e300;
      for (const Vec3& y : reference) nearest = std::min(nearest, (x - y).norm());
      EXPECT_LT(nearest, 1e-3) << name;
    }
  }
  EXPECT_EQ(cubes, 25u);
}

}  // namespace
}  // namespace supple::gltf_assets_test
