// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/vertex_selection.h"

#include "supple/mesh/box.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace supple::vertex_selection_test {
namespace {

using Indices = std::vector<Index>;

/// On the x axis at 0, 1, 2, 3.
const std::vector<Vec3> line = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(2, 0, 0), Vec3(3, 0, 0)};

Indices select(const std::string& words) {
  const Result<Indices> chosen = select_vertices(words, line);
  EXPECT_TRUE(chosen.ok()) << words << ": " << (chosen.ok() ? "" : chosen.error().message);
  return chosen.ok() ? *chosen : Indices{};
}

TEST(VertexSelection, HalfSpaces) {
  EXPECT_EQ(select("x<1"), (Indices{0}));
  EXPECT_EQ(select("x<=1"), (Indices{0, 1}));
  EXPECT_EQ(select("x > 1"), (Indices{2, 3}));
  EXPECT_EQ(select(" x >= 1 "), (Indices{1, 2, 3}));
  EXPECT_EQ(select("y>-1e-3"), (Indices{0, 1, 2, 3}));
}

TEST(VertexSelection, Ends) {
  EXPECT_EQ(select("min-x"), (Indices{0}));
  EXPECT_EQ(select("max-x"), (Indices{3}));
  EXPECT_EQ(select("max-y"), (Indices{0, 1, 2, 3}));  // a flat mesh is all end
  // 0.1 % of the extent counts as the end: 0.003 here.
  std::vector<Vec3> rough = line;
  rough.emplace_back(0.0029, 0, 0);
  rough.emplace_back(0.0031, 0, 0);
  EXPECT_EQ(*select_vertices("min-x", rough), (Indices{0, 4}));
}

TEST(VertexSelection, Shapes) {
  EXPECT_EQ(select("box:0.5,-1,-1,2,1,1"), (Indices{1, 2}));
  EXPECT_EQ(select("box:2,1,1,0.5,-1,-1"), (Indices{1, 2}));
  EXPECT_EQ(select("sphere:3,0,0,1"), (Indices{2, 3}));
  EXPECT_EQ(select("all"), (Indices{0, 1, 2, 3}));
}

TEST(VertexSelection, IndicesCountFromZeroOnce) { EXPECT_EQ(select("vertices:3, 0,3"), (Indices{0, 3})); }

TEST(VertexSelection, FilesCountFromOne) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string name = "supple_selection_" + std::to_string(::getpid()) + ".bou";
  std::ofstream(folder / name) << "4, 2,\n";
  EXPECT_EQ(*select_vertices(name, line, folder), (Indices{1, 3}));
  EXPECT_EQ(*select_vertices("file:" + name, line, folder), (Indices{1, 3}));
  EXPECT_EQ(*select_vertices((folder / name).string(), line, "/elsewhere"), (Indices{1, 3}));
  std::filesystem::remove(folder / name);
}

TEST(VertexSelection, UnionOfSeveral) {
  const std::vector<std::string> words = {"max-x", "x<1.5", "min-x"};
  EXPECT_EQ(*select_vertices(words, line), (Indices{0, 1, 3}));
}

TEST(VertexSelection, RefusesWithASentence) {
  for (const char* words :
       {"", "x<", "x<a", "x<nan", "w<1", "min-w", "min-", "box:1,2,3", "box:1,2,3,4,5,6,7", "box:", "sphere:0,0,0,-1",
        "sphere:0,0,0", "vertices:", "vertices:a", "vertices:4", "vertices:-1", "no_such_file.bou", "file:", "x>7"}) {
    const Result<Indices> chosen = select_vertices(words, line);
    ASSERT_FALSE(chosen.ok()) << words;
    EXPECT_EQ(chosen.error().kind, ErrorKind::input) << words;
    EXPECT_FALSE(chosen.error().message.empty());
  }
  EXPECT_NE(select_vertices("x>7", line).error().message.find("(0, 0, 0) and (3, 0, 0)"), std::string::npos);
}

}  // namespace
}  // namespace supple::vertex_selection_test
