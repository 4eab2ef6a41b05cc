// SPDX-License-Identifier: Apache-2.0
// What is told of bodies that their bones don't hold as one would think.
#include "supple/offline/fitting/whole_mesh.h"
#include "supple/mesh/box.h"

#include <gtest/gtest.h>

namespace supple::whole_mesh_test {
namespace {

/// A box with a bone along it, held by the vertices at its lower end.
EmbeddedBody boned_box() {
  EmbeddedBody body;
  body.mesh = make_tet_box(Vec3(1, 2, 1), {2, 4, 2});
  for (std::size_t v = 0; v < body.mesh.vertices.size(); ++v)
    if (body.mesh.vertices[v].y() == 0) body.fixed_vertices.push_back(static_cast<Index>(v));
  body.bones = {{0, Vec3(0.5, 0, 0.5), Vec3(0.5, 1, 0.5)}, {1, Vec3(0.5, 1, 0.5), Vec3(0.5, 2, 0.5)}};
  return body;
}

/// The fault, or the remarks one after the other.
std::string told(const EmbeddedBody& body) {
  WholeMeshModel model;
  const Status taken =
      take_mesh(body, MaterialModel::corotational, {}, default_material().young, Progress::silent(), model);
  if (!taken.ok()) return (taken.error().kind == ErrorKind::input ? "refused: " : "failed: ") + taken.error().message;
  std::string all;
  for (const std::string& warning : model.warnings) all += warning + "\n";
  return all;
}

TEST(WholeMesh, SaysNothingOfABodyThatItsBonesHold) { EXPECT_EQ(told(boned_box()), ""); }

TEST(WholeMesh, TellsOfBonesFarOutside) {
  EmbeddedBody body = boned_box();
  for (BoneSegment& bone : body.bones) bone.from.x() += 5;
  EXPECT_EQ(told(body).rfind("2 of 2 bones begin far outside of the flesh", 0), 0u) << told(body);
  body.bones[0].from.x() -= 5;
  EXPECT_EQ(told(body).rfind("1 of 2 bones begins far outside of the flesh", 0), 0u) << told(body);
}

TEST(WholeMesh, RefusesABodyThatNoBoneCrosses) {
  EmbeddedBody body = boned_box();
  body.fixed_vertices.clear();
  EXPECT_EQ(told(body).rfind("refused: no bone of the skeleton crosses the flesh", 0), 0u) << told(body);
}

TEST(WholeMesh, TellsOfAPartWithoutABone) {
  EmbeddedBody body = boned_box();
  const TetMesh other = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  const auto first = static_cast<Index>(body.mesh.vertices.size());
  for (const Vec3& x : other.vertices) body.mesh.vertices.push_back(x + Vec3(3, 0, 0));
  for (TetMesh::Element element : other.elements) {
    for (Index& v : element) v += first;
    body.mesh.elements.push_back(element);
  }
  EXPECT_EQ(told(body).rfind("1 of 2 pieces of flesh is crossed by no bone", 0), 0u) << told(body);
}

}  // namespace
}  // namespace supple::whole_mesh_test
