// SPDX-License-Identifier: Apache-2.0
// Readers of handles: graphs, weights, motion as text and as JSON; and what each refuses.
#include "supple/io/motion/dmat.h"
#include "supple/io/motion/handle_json.h"
#include "supple/io/motion/handle_motion.h"
#include "supple/io/motion/tgf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numbers>

namespace supple::handle_files_test {
namespace {

template <class T>
void expect_refusal(const Result<T>& result, const std::string& words) {
  ASSERT_FALSE(result.ok()) << words;
  EXPECT_EQ(result.error().kind, ErrorKind::input);
  EXPECT_TRUE(result.error().message.starts_with("file")) << result.error().message;
  EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
}

/// A trunk with two branches, the first with a tip, and a point beside them.
constexpr const char* tree =
    "1 0 0 0\n2 0 1 0\n3 1 2 0\n4 -1 2 0\n5 2 2 0\n9 5 5 5\n#\n1 2 1 0 0 0\n3 5 1 0 0 0\n2 3 1 0 0\n2 4 1\n1 9 0 1 0\n";

TEST(HandleFiles, GraphsGivePointsThenBones) {
  const HandleRig rig = parse_tgf(tree, "file").value();
  ASSERT_EQ(rig.size(), 5);
  EXPECT_TRUE(rig.has_bones());
  EXPECT_FALSE(rig.handles[0].bone);
  EXPECT_EQ(rig.handles[0].head, Vec3(5, 5, 5));
  EXPECT_EQ(rig.handles[0].name, "handle1");
  EXPECT_EQ(rig.handles[4].name, "handle5");
  const Index parents[] = {-1, -1, 3, 1, 1};  // the bone from 3 to 5 stands before the one that it hangs on
  for (std::size_t h = 0; h < 5; ++h) EXPECT_EQ(rig.handles[h].parent, parents[h]) << h;
  EXPECT_EQ(rig.handles[2].head, Vec3(1, 2, 0));
  EXPECT_EQ(rig.handles[2].tail, Vec3(2, 2, 0));
  const std::vector<Index> order = parents_first(rig, "file").value();
  const auto place = [&](Index h) { return std::find(order.begin(), order.end(), h) - order.begin(); };
  EXPECT_LT(place(3), place(2));
  EXPECT_LT(place(1), place(3));
}

TEST(HandleFiles, BadGraphsAreRefused) {
  expect_refusal(parse_tgf("", "file"), "no handle");
  expect_refusal(parse_tgf("1 0 0\n#\n", "file"), "line 1");
  expect_refusal(parse_tgf("1 0 0 nan\n#\n", "file"), "line 1");
  expect_refusal(parse_tgf("1 0 0 0\n1 1 0 0\n#\n", "file"), "line 2: the place 1 comes twice");
  expect_refusal(parse_tgf("1 0 0 0\n#\n1 2 1\n", "file"), "line 3: there is no place 2");
  expect_refusal(parse_tgf("1 0 0 0\n#\n1 1 1\n", "file"), "two different places");
  expect_refusal(parse_tgf("1 0 0 0\n2 0 1 0\n#\n1 2 0 0 1\n", "file"), "cage");
  expect_refusal(parse_tgf("1 0 0 0\n2 0 1 0\n#\n1 2 1\n2 1 1\n", "file"), "circle");
}

TEST(HandleFiles, MatricesRunColumnAfterColumn) {
  MatX expected(3, 2);
  expected << 0, 1, 0.5, 0.5, 1, -1e-13;
  EXPECT_EQ(parse_dmat("2 3\n0\n0.5\n1\n1\n0.5\n-1e-13\n", "file").value(), expected);
  EXPECT_EQ(parse_dmat(encode_dmat(expected), "file").value(), expected);
  std::string binary = "0 0\n2 3\n";
  binary.append(reinterpret_cast<const char*>(expected.data()), 6 * sizeof(double));
  EXPECT_EQ(parse_dmat(binary, "file").value(), expected);
}

TEST(HandleFiles, BadMatricesAreRefused) {
  expect_refusal(parse_dmat("", "file"), "line 1");
  expect_refusal(parse_dmat("2 0\n", "file"), "a row and a column");
  expect_refusal(parse_dmat("-1 -1\n", "file"), "a row and a column");
  expect_refusal(parse_dmat("1000000 1000000\n1\n", "file"), "ends before");
  expect_refusal(parse_dmat("1 2\n1\n", "file"), "");
  expect_refusal(parse_dmat("1 2\n1\n2\n3\n", "file"), "more numbers");
  expect_refusal(parse_dmat("1 1\ninf\n", "file"), "line 2");
  expect_refusal(parse_dmat("0 0\n1 2\n12345678", "file"), "too soon");
}

/// Two points: one moves by (1, 0, 0), the other turns about itself by a quarter.
TEST(HandleFiles, PointsMoveOnTheirOwn) {
  const HandleRig rig = parse_tgf("1 0 0 0\n2 0 5 0\n#\n", "file").value();
  const char* text = "2 1\n0 0 0\n0 0 0\n0 5 0\n0 30 0\n1 0 0\n0 0 0\n0 5 0\n0 120 0\n";
  const HandleMotion motion = parse_handle_motion(text, "file", rig).value();
  ASSERT_EQ(motion.frames.size(), 1u);
  EXPECT_TRUE((motion.frames[0][0] * Vec3(3, 4, 5)).isApprox(Vec3(4, 4, 5)));
  EXPECT_TRUE((motion.frames[0][1] * Vec3(0, 5, 0)).isApprox(Vec3(0, 5, 0)));
  EXPECT_TRUE((motion.frames[0][1] * Vec3(0, 5, 1)).isApprox(Vec3(1, 5, 0)));
  EXPECT_TRUE(motion.root.empty());
}

/// The angles of a bone are about its own axes at rest: here its x axis is the world's z axis turned by -90° about y.
TEST(HandleFiles, BonesTurnAboutTheirAxesAndCarryTheirChildren) {
  const HandleRig rig = parse_tgf("1 0 0 0\n2 1 0 0\n3 2 0 0\n#\n1 2 1\n2 3 1\n", "file").value();
  // Rest: place and angles of the whole, then the axes of each bone; a frame: the whole's angles and place, then bones.
  const char* text = "2 1\n0 0 0\n0 0 0\n0 -90 0\n0 0 0\n0 0 0\n0 0 7\n90 0 0\n0 0 90\n";
  const HandleMotion motion = parse_handle_motion(text, "file", rig).value();
  // Bone 1 turns by 90° about its own x axis, which is the world's z: x → y. The whole has moved by 7 along z.
  EXPECT_TRUE((motion.frames[0][0] * Vec3(1, 0, 0)).isApprox(Vec3(0, 1, 7)));
  // Bone 2 hangs on it and turns by another 90° about z.
  EXPECT_TRUE((motion.frames[0][1] * Vec3(1, 0, 0)).isApprox(Vec3(0, 1, 7)));
  EXPECT_TRUE((motion.frames[0][1] * Vec3(2, 0, 0)).isApprox(Vec3(-1, 1, 7)));
  ASSERT_EQ(motion.root.size(), 1u);
  EXPECT_TRUE((motion.root[0] * Vec3(1, 0, 0)).isApprox(Vec3(1, 0, 7)));
}

TEST(HandleFiles, SeveralFirstBonesTurnWithTheWhole) {
  const HandleRig rig = parse_tgf("1 0 0 0\n2 1 0 0\n3 -1 0 0\n#\n1 2 1\n1 3 1\n", "file").value();
  const char* text = "2 1\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 90\n0 0 0\n0 0 0\n0 0 0\n";
  const HandleMotion motion = parse_handle_motion(text, "file", rig).value();
  for (const Affine& map : {motion.frames[0][0], motion.frames[0][1], motion.root[0]})
    EXPECT_TRUE((map * Vec3(1, 0, 0)).isApprox(Vec3(0, 1, 0)));
}

TEST(HandleFiles, BadMotionIsRefused) {
  const HandleRig points = parse_tgf("1 0 0 0\n#\n", "file").value();
  expect_refusal(parse_handle_motion("2 1\n", "file", points), "it moves 2 handles, but the rig has 1");
  expect_refusal(parse_handle_motion("1 0\n0 0 0 0 0 0\n", "file", points), "no frame");
  expect_refusal(parse_handle_motion("1 99999999\n0 0 0\n", "file", points), "");
  expect_refusal(parse_handle_motion("1 1\n0 0 0\n0 0 0\n0 0 0\n0 0\n", "file", points), "");
  expect_refusal(parse_handle_motion("1 1\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n1\n", "file", points), "more numbers");
  const HandleRig both = parse_tgf(tree, "file").value();
  expect_refusal(parse_handle_motion("5 1\n0 0 0\n0 0 0\n", "file", both), "bones and points together");
}

constexpr const char* rig_json =
    R"({"pI": [-1, 0], "p0": [[[2,0,0,0],[0,2,0,1],[0,0,2,0]], [[1,0,0,0],[0,0,-1,3],[0,1,0,0]]], "lengths": [1, 0.5],
        "W": [[1,0],[0.5,0.5],[0,1]], "V": [[0,0,0],[1,0,0],[0,1,0]], "F": [[0,1,2]]})";

TEST(HandleFiles, RigsComeAsJson) {
  const auto parsed = parse_handle_json(rig_json, "file").value();
  const JsonRig& rig = std::get<JsonRig>(parsed);
  ASSERT_EQ(rig.rig.size(), 2);
  EXPECT_EQ(rig.rig.handles[1].parent, 0);
  EXPECT_TRUE(rig.rig.handles[0].tail.isApprox(Vec3(0, 3, 0)));  // a length of one along a y axis of length two
  EXPECT_TRUE(rig.rig.handles[1].tail.isApprox(Vec3(0, 3, 0.5)));
  EXPECT_EQ(rig.weights(1, 1), 0.5);
  EXPECT_EQ(rig.surface.triangles.size(), 1u);
  const char* frames = R"({"P": [[[[2,0,0,5],[0,2,0,1],[0,0,2,0]], [[1,0,0,0],[0,0,-1,3],[0,1,0,0]]]]})";
  const HandleMotion motion = parse_handle_frames(frames, "file", rig.rig).value();
  EXPECT_TRUE((motion.frames[0][0] * Vec3(1, 2, 3)).isApprox(Vec3(6, 2, 3)));
  EXPECT_TRUE((motion.frames[0][1] * Vec3(1, 2, 3)).isApprox(Vec3(1, 2, 3)));
}

TEST(HandleFiles, ExamplesNameTheirParts) {
  const auto parsed =
      parse_handle_json(R"({"mesh_file": "a.mesh", "handle_file": "a.tgf", "anim_file": "a.txt", "dt": 0.01})", "file");
  const HandleExample& example = std::get<HandleExample>(parsed.value());
  EXPECT_EQ(example.mesh, "a.mesh");
  EXPECT_EQ(example.handles, "a.tgf");
  EXPECT_EQ(example.weights, "");
  EXPECT_EQ(example.frame_time, 0.01);
}

TEST(HandleFiles, BadJsonIsRefused) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = rig_json;
    return text.replace(text.find(from), from.size(), to);
  };
  expect_refusal(parse_handle_json("{", "file"), "it isn't JSON");
  expect_refusal(parse_handle_json("[]", "file"), "");
  expect_refusal(parse_handle_json("{}", "file"), "it is no rig");
  expect_refusal(parse_handle_json(R"({"handle_file": 3})", "file"), "must name a file");
  expect_refusal(parse_handle_json(changed("[-1, 0]", "[-1]"), "file"), "one entry for each bone");
  expect_refusal(parse_handle_json(changed("[-1, 0]", "[-1, 7]"), "file"), "\"pI\" of bone 1");
  expect_refusal(parse_handle_json(changed("[-1, 0]", "[1, 0]"), "file"), "circle");
  expect_refusal(parse_handle_json(changed("[2,0,0,0]", "[-2,0,0,0]"), "file"), "mirror nothing");
  expect_refusal(parse_handle_json(changed("[2,0,0,0]", "[2,0,0]"), "file"), "three rows of four numbers");
  expect_refusal(parse_handle_json(changed("[[0,1,2]]", "[[0,1,3]]"), "file"), "\"F\" must be");
  expect_refusal(parse_handle_json(changed("[[1,0],[0.5,0.5]", "[[1,0],[0.5]"), "file"), "row 1 of \"W\"");
  expect_refusal(parse_handle_json(changed("[[1,0],[0.5,0.5],", "[[1,0],"), "file"), "2 rows for 3 places");
  const HandleRig rig = std::get<JsonRig>(parse_handle_json(rig_json, "file").value()).rig;
  expect_refusal(parse_handle_frames("{}", "file", rig), "there is no motion in it");
  expect_refusal(parse_handle_frames(R"({"P": [[[[1,0,0,0],[0,1,0,0],[0,0,1,0]]]]})", "file", rig),
                 "frame 0 must have");
}

}  // namespace
}  // namespace supple::handle_files_test
