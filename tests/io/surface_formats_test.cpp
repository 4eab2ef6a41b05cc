// SPDX-License-Identifier: Apache-2.0
// The odd corners of OBJ, OFF, STL and PLY files, each in a tiny file of its own.
#include "io/io_tools.h"
#include "supple/io/bytes.h"
#include "supple/io/mesh/obj.h"
#include "supple/io/mesh/off.h"
#include "supple/io/mesh/ply.h"
#include "supple/io/mesh/stl.h"

namespace supple::surface_formats_test {
namespace {

TEST(Obj, TakesEveryWayToWriteAFace) {
  const Result<LoadedMesh> loaded = parse_obj(
      "# comment\r\nv 0 0 0\r\nv 1 0 0 1.0\r\nv 1 1 0\r\nv 0 1 0\r\nvt 0 0\r\nvn 0 0 1\r\n"
      "f 1/1/1 2//1 3/1 4\r\nf -4 -3 \\\r\n  -2\r\nf 1 2\r\nl 1 2 3\r\ncurv 0 1\r\n",
      "a.obj");
  const auto surface = get_mesh<Surface>(loaded);
  EXPECT_EQ(surface.vertices.size(), 4u);
  EXPECT_EQ(surface.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}}));
  EXPECT_TRUE(surface.parts.empty());
  EXPECT_TRUE(surface.attributes.empty());
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_EQ(loaded->warnings[0], "Left out 1 faces with fewer than three corners.");
}

TEST(Obj, PartsFollowGroupsObjectsAndMaterials) {
  const auto surface =
      get_mesh<Surface>(parse_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no body\ng empty\ng arm left\nf 1 2 3\nf 1 2 "
                                  "3\nusemtl skin\nf 1 2 3\ng arm left\nf 3 2 1\n",
                                  "a.obj"));
  ASSERT_EQ(surface.parts.size(), 4u);
  EXPECT_EQ(surface.parts[0].name, "");
  EXPECT_EQ(surface.parts[1].name, "arm left");
  EXPECT_EQ(surface.parts[1].triangle_count, 2);
  EXPECT_EQ(surface.parts[2].name, "arm left/skin");
  EXPECT_EQ(surface.parts[3].first_triangle, 4);
}

TEST(Obj, ColoursMayBeginLate) {
  const auto surface = get_mesh<Surface>(
      parse_obj("v 0 0 0\nv 1 0 0 0.5 0 1\nv 0 1 0 1 0.25 0 0\nv 0 0 1\nf 1 2 3\nf 2 3 4\n", "a.obj"));
  ASSERT_EQ(surface.attributes.size(), 1u);
  EXPECT_EQ(surface.attributes[0].values, (std::vector<float>{1, 1, 1, 0.5, 0, 1, 0.25, 0, 0, 1, 1, 1}));
}

TEST(Obj, SaysWhichLineIsWrong) {
  const std::string three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  expect_refused(parse_obj(three + "f 1 2 4\nf 1 2 3\n", "a.obj"),
                 "a.obj, line 4: a face uses vertex 4 but the file has only 3");
  expect_refused(parse_obj(three + "f 1 2 0\n", "a.obj"), "line 4");
  expect_refused(parse_obj(three + "f 1 2 -4\n", "a.obj"), "line 4: a face counts back");
  expect_refused(parse_obj(three + "f 1 2 99999999999999999999\n", "a.obj"), "line 4");
  expect_refused(parse_obj(three + "\n# c\nv 0 nan 0\n", "a.obj"),
                 "line 6: expected a finite number but found \"nan\"");
  expect_refused(parse_obj(three + "v 0 0\n", "a.obj"), "the line ends");
  expect_refused(parse_obj(three, "a.obj"), "no faces");
  EXPECT_EQ(get_mesh<Surface>(parse_obj("f 1 2 3\n" + three, "a.obj")).triangles.size(), 1u);  // faces first are fine
}

TEST(Off, TakesCommentsBlankLinesAndVariants) {
  const auto plain = get_mesh<Surface>(parse_off(
      "OFF 5 2 0 # counts\n\n0 0 0\n1 0 0\n# c\n1 1 0\n0 1 0\n9 9 9\n\n4 0 1 2 3 255 0 0\n3 0 1 2\n", "a.off"));
  EXPECT_EQ(plain.vertices.size(), 5u);
  EXPECT_EQ(plain.triangles.size(), 3u);
  const auto bytes = get_mesh<Surface>(
      parse_off("COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 51\n0 1 0 0 0 255 0\n3 0 1 2\n", "a.off"));
  ASSERT_EQ(bytes.attributes.size(), 1u);
  EXPECT_EQ(bytes.attributes[0].components, 4);
  EXPECT_FLOAT_EQ(bytes.attributes[0].values[0], 1);
  EXPECT_FLOAT_EQ(bytes.attributes[0].values[7], 0.2F);
  const auto normals = get_mesh<Surface>(
      parse_off("CNOFF\n3 1\n0 0 0 7 7 7 1 0 0.5\n1 0 0 7 7 7 0 1 0\n0 1 0 7 7 7 0 0 1\n3 0 1 2\n", "a.off"));
  EXPECT_FLOAT_EQ(normals.attributes[0].values[2], 0.5F);
  EXPECT_EQ(get_mesh<Surface>(parse_off("NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n", "a.off"))
                .triangles.size(),
            1u);
  EXPECT_EQ(get_mesh<Surface>(parse_off("3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "a.off")).triangles.size(), 1u);
}

TEST(Off, RefusesBadIndicesAndCounts) {
  const std::string three = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n";
  expect_refused(parse_off(three + "3 0 1 3\n", "a.off"), "a.off, line 6: a face uses vertex 3");
  expect_refused(parse_off(three + "3 0 1 -1\n", "a.off"), "line 6");
  expect_refused(parse_off(three, "a.off"), "cut short");
  expect_refused(parse_off(three + "2000000000 0 1 2\n", "a.off"), "more corners");
  expect_refused(parse_off("OFF\n2000000000 2000000000 0\n0 0 0\n", "a.off"), "more than the rest of the file");
  expect_refused(parse_off("OFF BINARY\n", "a.off"), "binary OFF");
  expect_refused(parse_off("4OFF\n1 1 1\n", "a.off"), "doesn't start with OFF");
}

TEST(Stl, WeldsCornersAtExactlyTheSamePlace) {
  const std::string facet =
      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
  const std::string other =
      "FACET NORMAL nan 0 1 OUTER LOOP VERTEX -0.0 0 0 VERTEX 1 0 0.0000001 VERTEX 0 1 0 ENDLOOP ENDFACET\n";
  const auto surface = get_mesh<Surface>(
      parse_stl("solid a b\n" + facet + other + "endsolid a b\nsolid c\n" + facet + "endsolid\n", "a.stl"));
  EXPECT_EQ(surface.vertices.size(), 4u);
  EXPECT_EQ(surface.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 3, 2}, {0, 1, 2}}));
  ASSERT_EQ(surface.parts.size(), 2u);
  EXPECT_EQ(surface.parts[0].name, "a b");
  EXPECT_TRUE(get_mesh<Surface>(parse_stl("solid\n" + facet + "endsolid\n", "a.stl")).parts.empty());
  expect_refused(parse_stl("solid\n" + facet, "a.stl"), "cut short");
  expect_refused(parse_stl("solid\nfacet normal 0 0 1\nouter loop\nvertex 0 inf 0\n", "a.stl"), "finite");
}

TEST(Stl, BinaryFilesThatBeginWithSolidAreBinary) {
  std::string bytes = encode_stl_binary(sample_surface());
  bytes.replace(0, 5, "solid");
  const Result<LoadedMesh> loaded = parse_stl(bytes, "a.stl");
  EXPECT_EQ(get_mesh<Surface>(loaded).triangles.size(), 4u);
  EXPECT_EQ(loaded->format, "STL binary");
  const Result<LoadedMesh> longer = parse_stl(bytes.replace(0, 5, "other") + "tail", "a.stl");
  ASSERT_TRUE(longer.ok());
  EXPECT_EQ(longer->warnings.size(), 1u);
  expect_refused(parse_stl(bytes.substr(0, bytes.size() - 1), "a.stl"), "announces 4 triangles but holds 3");
}

const std::string ply_header =
    "comment c\nobj_info i\nelement vertex 4\nproperty float x\nproperty float32 y\nproperty double z\nproperty uchar "
    "red\n"
    "property uchar green\nproperty uchar blue\nproperty short quality\nelement face 2\nproperty uchar flags\n"
    "property list uchar int vertex_index\nproperty list ushort float texcoord\nelement edge 1\nproperty int "
    "a\nproperty int b\n"
    "end_header\n";

void check_ply(const Surface& surface) {
  EXPECT_EQ(surface.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 1, 2}, {0, 2, 3}}));
  EXPECT_EQ(surface.vertices[3], Vec3(0, 0.5, -1));
  ASSERT_EQ(surface.attributes.size(), 2u);
  EXPECT_FLOAT_EQ(surface.attributes[0].values[0], 0.2F);
  EXPECT_EQ(surface.attributes[1].name, "quality");
  EXPECT_EQ(surface.attributes[1].values.size(), 4u);
}

TEST(Ply, SkipsWhatItDoesntKnow) {
  check_ply(get_mesh<Surface>(parse_ply("ply\nformat ascii 1.0\n" + ply_header +
                                            "0 0 0 51 0 0 1\n1 0 0 0 255 0 1\n0 1 0 0 0 255 1\n0 0.5 -1 9 9 9 1\n"
                                            "1 3 0 1 2 0\n1 4 0 1 2 3 2 .5 .5\n0 1\n",
                                        "a.ply")));
}

template <bool Swap>
std::string binary_ply() {
  std::string bytes =
      std::string("ply\r\nformat ") + (Swap ? "binary_big_endian" : "binary_little_endian") + " 1.0\r\n";
  bytes += ply_header.substr(0, ply_header.size() - 1) + "\r\n";
  const auto put = [&](auto value) { append_bytes(bytes, Swap ? byte_swapped(value) : value); };
  const float xy[4][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 0.5}};
  for (int i = 0; i < 4; ++i) {
    put(xy[i][0]), put(xy[i][1]), put(i == 3 ? -1.0 : 0.0);
    put(std::uint8_t{51}), put(std::uint8_t{0}), put(std::uint8_t{255}), put(std::int16_t{-1});
  }
  put(std::uint8_t{1}), put(std::uint8_t{3});
  for (const std::int32_t k : {0, 1, 2}) put(k);
  put(std::uint16_t{0}), put(std::uint8_t{1}), put(std::uint8_t{4});
  for (const std::int32_t k : {0, 1, 2, 3}) put(k);
  put(std::uint16_t{2}), put(0.5F), put(0.5F), put(std::int32_t{0}), put(std::int32_t{1});
  return bytes;
}

TEST(Ply, ReadsBothByteOrders) {
  check_ply(get_mesh<Surface>(parse_ply(binary_ply<false>(), "a.ply")));
  check_ply(get_mesh<Surface>(parse_ply(binary_ply<true>(), "a.ply")));
}

TEST(Ply, RefusesDamage) {
  const std::string start =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string faces = "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n";
  EXPECT_TRUE(parse_ply(start + faces + "3 0 1 2\n", "a.ply").ok());
  expect_refused(parse_ply(start + faces + "3 0 1 3\n", "a.ply"), "uses vertex 3");
  expect_refused(parse_ply(start + faces + "3 0 1 -1\n", "a.ply"), "impossible vertex number");
  expect_refused(parse_ply(start + faces + "1000000000 0 1\n", "a.ply"), "longer than the file");
  expect_refused(parse_ply(start + faces + "3 0 1", "a.ply"), "cut short");
  expect_refused(parse_ply(start + "end_header\n0 0 0\n0 0 0\n0 0 inf\n", "a.ply"), "isn't finite, number 2");
  expect_refused(parse_ply(start + "end_header\n0 0 0\n0 0 0\n0 0 0\n", "a.ply"), "no faces");
  expect_refused(parse_ply("ply\nformat ascii 1.0\nelement vertex 2000000000\nproperty float x\nproperty float y\n"
                           "property float z\nend_header\n",
                           "a.ply"),
                 "announces 2000000000");
  expect_refused(parse_ply("ply\nelement vertex 3\nproperty quaternion x\n", "a.ply"), "line 3");
  expect_refused(parse_ply("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n0\n0\n0\n", "a.ply"),
                 "without x, y and z");
}

TEST(Ply, OtherScalarsOfVerticesAreAttributes) {
  const std::string text =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float softness\nproperty float y\n"
      "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty float nx\n"
      "property uchar held\nproperty double huge\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
      "0 0.5 0 0 255 0 0 9 1 1e300\n1 0.25 0 0 0 255 0 9 0 -2\n0 nan 1 0 0 0 255 9 200 3\n3 0 1 2\n";
  const Result<LoadedMesh> loaded = parse_ply(text, "painted.ply");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Surface& surface = std::get<Surface>(loaded->mesh);
  ASSERT_EQ(surface.attributes.size(), 4u);
  EXPECT_EQ(surface.attributes[0].components, 3);
  EXPECT_EQ(surface.attributes[0].values, (std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(surface.attributes[1].name, "softness");
  EXPECT_EQ(surface.attributes[1].components, 1);
  EXPECT_EQ(surface.attributes[1].values[0], 0.5f);
  EXPECT_EQ(surface.attributes[1].values[1], 0.25f);
  EXPECT_TRUE(std::isnan(surface.attributes[1].values[2]));
  EXPECT_EQ(surface.attributes[2].name, "held");
  EXPECT_EQ(surface.attributes[2].values, (std::vector<float>{1, 0, 200}));
  EXPECT_EQ(surface.attributes[3].values, (std::vector<float>{std::numeric_limits<float>::max(), -2, 3}));
}

}  // namespace
}  // namespace supple::surface_formats_test
