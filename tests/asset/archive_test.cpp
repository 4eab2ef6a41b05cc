// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/archive.h"

#include "supple/asset/subspace_archive.h"
#include "supple/io/file.h"
#include "supple/mesh/box.h"
#include "supple/offline/forces/cubic_forces.h"
#include "support/memory_archive.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace supple::archive_test {
namespace {

std::string small_archive() {
  ArchiveWriter writer("test");
  writer.add("matrix", MatX::Constant(3, 2, 1.25));
  const std::vector<Index> values = {1, 2, 3};
  writer.add("indices", std::span<const Index>(values));
  writer.add("text", std::string_view("hello"));
  writer.add_singles("singles", Eigen::MatrixXf::Constant(1, 5, 0.1f));
  writer.add_shorts("shorts", MatXs::Constant(2, 2, -32767));
  return writer.bytes();
}

SubspaceModel small_model() {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {2, 1, 1});
  mesh.materials = {{"a", 1e5, 0.3, 1000}, {"b", 2e5, 0.4, 1100}};
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) mesh.element_material.push_back(static_cast<Index>(e % 2));
  MatX basis(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 4);
  for (Eigen::Index k = 0; k < basis.size(); ++k) basis.data()[k] = std::sin(1.0 + static_cast<double>(k * k));
  SubspaceModel model = build_subspace_model(mesh, basis).value();
  model.fixed_vertices = {0, 3};
  return model;
}

TEST(Archive, GivesBackWhatWasPutIn) {
  std::vector<double> storage;
  const Result<Archive> archive = parse_archive(small_archive(), storage);
  ASSERT_TRUE(archive.ok()) << archive.error().message;
  EXPECT_EQ(archive->kind(), "test");
  EXPECT_EQ(archive->matrix("matrix").value(), MatX::Constant(3, 2, 1.25));
  EXPECT_EQ(archive->indices("indices").value()[2], 3);
  EXPECT_EQ(archive->text("text").value(), "hello");
  EXPECT_EQ(archive->single_matrix("singles").value(), Eigen::MatrixXf::Constant(1, 5, 0.1f));
  EXPECT_EQ(archive->short_matrix("shorts").value(), MatXs::Constant(2, 2, -32767));
  EXPECT_FALSE(archive->matrix("text").ok());
  EXPECT_FALSE(archive->matrix("singles").ok());
  EXPECT_FALSE(archive->matrix("nothing").ok());
}

TEST(Archive, AnyDamagedByteIsDetected) {
  const std::string good = small_archive();
  std::vector<double> storage;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {1, 128, 255}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      EXPECT_FALSE(parse_archive(bad, storage).ok()) << "byte " << at;
    }
  }
}

TEST(Archive, AnyTruncationIsDetected) {
  const std::string good = small_archive();
  std::vector<double> storage;
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_archive(good.substr(0, size), storage).ok()) << size;
  EXPECT_FALSE(parse_archive(good + "x", storage).ok());
}

TEST(Archive, AnotherVersionIsRefusedWithItsNumber) {
  std::string bytes = small_archive();
  bytes[8] = 9;
  std::vector<double> storage;
  const Result<Archive> archive = parse_archive(bytes, storage);
  ASSERT_FALSE(archive.ok());
  EXPECT_EQ(archive.error().kind, ErrorKind::input);
  EXPECT_NE(archive.error().message.find("version 9"), std::string::npos) << archive.error().message;
}

TEST(Archive, MissingFilesAndFoldersAreRefused) {
  EXPECT_FALSE(Archive::open("/does/not/exist.supple").ok());
  EXPECT_FALSE(Archive::open(std::filesystem::temp_directory_path()).ok());
}

TEST(SubspaceArchive, RoundTripIsExact) {
  const SubspaceModel model = small_model();
  const auto path = std::filesystem::temp_directory_path() / ("supple_archive_test_" + std::to_string(::getpid()));
  ASSERT_TRUE(write_file_atomically(path, encode_subspace_model(model)).ok());
  const Result<SubspaceModel> loaded = load_subspace_model(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->basis, model.basis);
  EXPECT_EQ(loaded->rest_positions, model.rest_positions);
  ASSERT_EQ(loaded->groups.size(), 2u);
  EXPECT_EQ(loaded->groups[1].material.name, "b");
  EXPECT_EQ(loaded->groups[1].material.poisson, 0.4);
  EXPECT_EQ(loaded->groups[1].mu.quadratic, model.groups[1].mu.quadratic);
  EXPECT_EQ(loaded->groups[0].moments.second, model.groups[0].moments.second);
  EXPECT_EQ(loaded->groups[1].moments.first, model.groups[1].moments.first);
  EXPECT_EQ(loaded->groups[1].moments.volume, model.groups[1].moments.volume);
  EXPECT_EQ(loaded->elements, model.elements);
  EXPECT_EQ(loaded->element_group, model.element_group);
  EXPECT_EQ(loaded->fixed_vertices, model.fixed_vertices);
  EXPECT_EQ(loaded->surface.rest_positions, model.surface.rest_positions);
  EXPECT_EQ(loaded->surface.triangles, model.surface.triangles);
  EXPECT_EQ(loaded->surface.basis, model.surface.basis);
}

TEST(SubspaceArchive, AnotherKindIsRefused) {
  std::vector<double> storage;
  EXPECT_FALSE(decode_subspace_model(parse_archive(small_archive(), storage).value()).ok());
}

}  // namespace
}  // namespace supple::archive_test
