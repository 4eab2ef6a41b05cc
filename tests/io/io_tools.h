// SPDX-License-Identifier: Apache-2.0
// What the tests of readers and writers share: a folder of their own, sample meshes, exact comparison.
#pragma once

#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace supple {

/// A folder that disappears with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "supple_io_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }
  std::size_t file_count() const { return to_size(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::filesystem::path path_;
};

/// Numbers that only survive exact writing.
inline Vec3 awkward(std::size_t i) {
  const auto k = static_cast<double>(i);
  return {1e-9 / (3 + k), 1e-7 * std::sqrt(k + 2), -1e-8 * std::exp(0.01 * k)};
}

template <class Mesh>
Mesh with_sets(Mesh mesh) {
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) mesh.vertices[i] += awkward(i);
  mesh.vertices.push_back({1.0 / 3, 5e-324, -1.7976931348623157e+308});  // belongs to no element, and is kept
  const auto count = static_cast<Index>(mesh.elements.size());
  mesh.sets = {{"first", {0, 1}}, {"overlap", {1, count - 1}}, {"last", {count - 1}}};
  return mesh;
}

template <class Mesh>
Mesh with_materials(Mesh mesh) {
  mesh.materials = {{"soft", 1e5 / 3, 0.1 + 0.2, 1000.1}, {"stiff", 1e9, -0.3, 1e-3}};
  std::vector<Index> all(mesh.elements.size());
  for (std::size_t e = 0; e < all.size(); ++e) all[e] = static_cast<Index>(e);
  mesh.sets.push_back({"allElements", all});
  mesh.regions = {{3, 0}, {1, 1}};
  assign_materials_from_regions(mesh);
  return mesh;
}

inline TetMesh sample_tets() { return with_sets(make_tet_box(Vec3(1, 2, 3), {2, 1, 2})); }
inline HexMesh sample_bricks() { return with_sets(make_hex_box(Vec3(1, 2, 3), {2, 2, 2})); }

/// Vertices in the order in which triangles first use them, so that welding on reading restores the same order.
inline Surface sample_surface() {
  Surface surface;
  for (std::size_t i = 0; i < 6; ++i) surface.vertices.push_back(awkward(i) + Vec3(i % 2 == 0, i % 3 == 0, double(i)));
  surface.triangles = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {3, 5, 4}};
  surface.parts = {{"upper arm", 0, 1}, {"hand", 1, 3}};
  return surface;
}

inline void expect_same_sets(const std::vector<ElementSet>& a, const std::vector<ElementSet>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(a[k].name, b[k].name);
    EXPECT_EQ(a[k].elements, b[k].elements);
  }
}

template <int Nodes>
void expect_same_geometry(const VolumeMesh<Nodes>& a, const VolumeMesh<Nodes>& b) {
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.elements, b.elements);
}

inline void expect_same_geometry(const Surface& a, const Surface& b) {
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.triangles, b.triangles);
}

inline void expect_same_parts(const Surface& a, const Surface& b) {
  ASSERT_EQ(a.parts.size(), b.parts.size());
  for (std::size_t k = 0; k < a.parts.size(); ++k) {
    EXPECT_EQ(a.parts[k].name, b.parts[k].name);
    EXPECT_EQ(a.parts[k].first_triangle, b.parts[k].first_triangle);
    EXPECT_EQ(a.parts[k].triangle_count, b.parts[k].triangle_count);
  }
}

/// The mesh of a result that must be there and of this kind.
template <class Mesh>
Mesh get_mesh(const Result<LoadedMesh>& loaded) {
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.error().message;
    return {};
  }
  if (!std::holds_alternative<Mesh>(loaded->mesh)) {
    ADD_FAILURE() << "another kind of mesh than expected";
    return {};
  }
  return std::get<Mesh>(loaded->mesh);
}

/// A refusal must be one sentence about the file that holds the given words.
template <class T>
void expect_refused(const Result<T>& loaded, const std::string& words) {
  ASSERT_FALSE(loaded.ok()) << "loaded although it should be refused for: " << words;
  EXPECT_NE(loaded.error().message.find(words), std::string::npos) << loaded.error().message;
  EXPECT_TRUE(loaded.error().message.ends_with('.')) << loaded.error().message;
  EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos);
}

}  // namespace supple
