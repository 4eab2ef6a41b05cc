// SPDX-License-Identifier: Apache-2.0
// Helper bones: what the report says is what the file plays; motion that helpers can make is found.
#include "supple/export/helper_bones.h"

#include "io/io_tools.h"
#include "supple/export/stretched_motion.h"
#include "supple/export/write_soft_glb.h"
#include "supple/io/gltf/write_character.h"
#include "support/rigs.h"
#include "support/soft_motions.h"

#include <fmt/format.h>

#include <functional>

namespace supple::helper_bones_test {
namespace {

/// A tube of some joints that bends.
GltfDocument bending_tube(Index joints = 3) {
  RawCharacter tube = make_tube(joints, 31, 16, 2.0, 0.3, 2);
  Clip clip{"bend", 1.0, {}};
  Channel channel{1, ChannelTarget::rotation, Interpolation::linear, 4, {0, 0.5, 1}, {}};
  for (const double degrees : {0.0, 60.0, 0.0}) {
    const Quat q = turn(degrees, Vec3(0, 0, 1));
    channel.values.insert(channel.values.end(), q.coeffs().begin(), q.coeffs().end());
  }
  clip.channels = {channel};
  tube.clips = {clip};
  return character_document(tube).value();
}

/// A bump on one side of the middle joint's flesh that moves so within the joint, around its middle: exactly what one
/// helper makes.
FormulaFrames::Formula bump(const RawCharacter& character, const std::function<Affine(double time)>& motion) {
  auto posed = std::make_shared<PosedMeshes>(character, std::vector<Index>{});
  auto at = std::make_shared<double>(-1.0);
  return [=, &character](Index, double time, std::size_t v) {
    if (*at != time) posed->pose(character.clips[0], time);
    *at = time;
    const CharacterMesh& mesh = character.meshes[0];
    const Vec3 x = mesh.surface.vertices[v];
    double weight = 0;
    for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e)
      if (mesh.weights.joint[to_size(e)] == 1) weight = mesh.weights.weight[to_size(e)];
    const double alpha = weight * std::exp(-(x - Vec3(0.3, 1.0, 0)).squaredNorm() / 0.06);
    const Vec3 p = character.skins[0].inverse_bind[1] * x;
    const Vec3 centre(0.3, 0.33, 0);
    const Vec3 moved = motion(time) * (p - centre) + centre;
    return Vec3(alpha * (posed->joints()[1].linear() * (moved - p)));
  };
}

FormulaFrames::Formula swinging_bump(const RawCharacter& character) {
  return bump(character, [](double time) {
    const double s = std::sin(2 * std::numbers::pi * time);
    Affine motion(turn(25 * s, Vec3(0, 0.3, 1)));
    motion.translation() = Vec3(0.05 * s, 0.04 * s, 0.08 * s * s);
    return motion;
  });
}

double played_error(const GltfDocument& source, const RawCharacter& character, const SoftMotion& motion,
                    const FittedBones& fitted, const FormulaFrames::Formula& formula) {
  GltfDocument document = source;
  const Status added = add_helper_bones(document, motion, fitted);
  EXPECT_TRUE(added.ok());
  const Result<GltfDocument> back = parse_gltf(encode_glb(document), "bones.glb", {});
  EXPECT_TRUE(back.ok()) << back.error().message;
  const RawCharacter played = read_character(*back).value();
  double largest = 0;
  // Helpers change weights, so the welded vertices of the two need not be the same: both are compared in file order.
  const CharacterRig a = CharacterRig::create(character).value(), b = CharacterRig::create(played).value();
  for (const double time : motion.clips[0].times) {
    const std::vector<Vec3> x = rig_positions(character, a, 0, time), y = rig_positions(played, b, 0, time);
    for (std::size_t m = 0; m < character.meshes.size(); ++m) {
      for (std::size_t p = 0; p < character.meshes[m].welded_vertex.size(); ++p) {
        const std::vector<Index>& from = character.meshes[m].welded_vertex[p];
        for (std::size_t i = 0; i < from.size(); ++i) {
          const auto v = to_size(a.first_vertex()[m] + from[i]);
          const auto w = to_size(b.first_vertex()[m] + played.meshes[m].welded_vertex[p][i]);
          largest = std::max(largest, (x[v] + formula(0, time, v) - y[w]).norm());
        }
      }
    }
  }
  return largest;
}

TEST(HelperBones, OneSwingingBumpIsFoundAndPlayed) {
  const GltfDocument source = bending_tube();
  const RawCharacter character = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 25)};
  const auto formula = swinging_bump(character);
  FormulaFrames frames(clips, formula);
  const SoftMotion motion{&character, {}, clips, &frames};
  const FittedBones fitted = fit_helper_bones(motion, {.tolerance = 1e-4, .most_bones = 1, .rounds = 60}).value();
  EXPECT_EQ(fitted.report.bones, 1);
  EXPECT_GT(fitted.report.peak_displacement, 0.08);
  EXPECT_LT(fitted.report.rms_error, 0.01 * fitted.report.peak_displacement);
  EXPECT_LT(fitted.report.largest_error, 0.04 * fitted.report.peak_displacement);
  EXPECT_NEAR(played_error(source, character, motion, fitted, formula), fitted.report.largest_error, 1e-5);
  for (std::size_t v = 0; v + 1 < fitted.meshes[0].weights.first.size(); ++v) {
    const Index first = fitted.meshes[0].weights.first[v], last = fitted.meshes[0].weights.first[v + 1];
    EXPECT_LE(last - first, 4);
    double sum = 0;
    for (Index e = first; e < last; ++e) sum += fitted.meshes[0].weights.weight[to_size(e)];
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
}

/// A bump that shears and swells: no rotation with a scale along its own axes does that, and a helper does.
TEST(HelperBones, FleshThatShearsIsFollowed) {
  const GltfDocument source = bending_tube();
  const RawCharacter character = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 25)};
  const auto formula = bump(character, [](double time) {
    const double s = std::sin(2 * std::numbers::pi * time);
    Affine motion = Affine::Identity();
    motion.linear() << 1 + 0.2 * s, 0.5 * s, 0.1 * s, 0, 1, 0.4 * s * s, -0.3 * s, 0, 1 - 0.1 * s;
    motion.translation() = Vec3(0.05 * s, 0.04 * s, 0.08 * s * s);
    return motion;
  });
  FormulaFrames frames(clips, formula);
  const SoftMotion motion{&character, {}, clips, &frames};
  const FittedBones fitted = fit_helper_bones(motion, {.tolerance = 1e-4, .most_bones = 1, .rounds = 60}).value();
  fmt::print("sheared bump: one bone keeps {:.2f} %\n", 100 * fitted.report.kept());
  EXPECT_GT(fitted.report.kept(), 0.99);
  EXPECT_NEAR(played_error(source, character, motion, fitted, formula), fitted.report.largest_error, 1e-5);
}

/// Players interpolate the parts of a motion one by one: half-way between keys they are to make what lies between.
TEST(HelperBones, StretchedMotionsAreExactAtKeysAndSmoothBetween) {
  const auto motion_at = [](double t) {
    Eigen::Matrix<double, 3, 4> motion;
    const Mat3 V = turn(90 * t, Vec3(0.2, 1, 0.4)).toRotationMatrix();
    const Vec3 stretch(1.3 - 0.5 * t, 0.8 + 0.4 * t, 1 + 0.1 * std::sin(7 * t));  // they change places on the way
    motion.leftCols<3>() =
        turn(140 * t, Vec3(1, 0.3, -0.5)).toRotationMatrix() * V * stretch.asDiagonal() * V.transpose();
    motion.col(3) = Vec3(t, -t, 0);
    return motion;
  };
  const auto matrix = [](const Transform& outer, const Quat& inner) {
    return Mat3(outer.rotation.toRotationMatrix() * outer.scale.asDiagonal() * inner.toRotationMatrix());
  };
  constexpr int keys = 40;
  StretchedMotion last = stretched_motion(motion_at(0), Quat::Identity());
  for (int k = 1; k <= keys; ++k) {
    const double t = static_cast<double>(k) / keys;
    const StretchedMotion next = stretched_motion(motion_at(t), last.turn);
    EXPECT_LT((matrix(next.outer, next.turn) - motion_at(t).leftCols<3>()).norm(), 1e-4) << t;
    Transform middle;
    middle.rotation = last.outer.rotation.slerp(0.5, next.outer.rotation);
    middle.scale = 0.5 * (last.outer.scale + next.outer.scale);
    const Mat3 expected = motion_at(t - 0.5 / keys).leftCols<3>();
    EXPECT_LT((matrix(middle, last.turn.slerp(0.5, next.turn)) - expected).norm(), 0.01) << t;
    last = next;
  }
}

TEST(HelperBones, StretchedMotionsMirrorAndFlattenWhereTheyMust) {
  Eigen::Matrix<double, 3, 4> motion = Eigen::Matrix<double, 3, 4>::Zero();
  for (const double depth : {-0.5, 0.0}) {
    motion.leftCols<3>() << 1, 0.2, 0, 0, 0.9, 0, 0, 0, depth;
    const StretchedMotion found = stretched_motion(motion, turn(30, Vec3(1, 1, 0)));
    const Mat3 made =
        found.outer.rotation.toRotationMatrix() * found.outer.scale.asDiagonal() * found.turn.toRotationMatrix();
    EXPECT_LT((made - motion.leftCols<3>()).norm(), 1e-4) << depth;
  }
}

TEST(HelperBones, MoreBonesComeCloserAndTheReportIsHonest) {
  const GltfDocument source = bending_tube();
  const RawCharacter character = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 21)};
  const auto waves = world_wobble(character, 0.05);
  const std::vector<Vec3> rest = rest_positions(character);
  const auto wobble = [&](Index clip, double time, std::size_t v) {
    Vec3 u = waves(clip, time, v);
    for (int k = 1; k <= 8; ++k)
      u += 0.01 * std::sin(2 * k * rest[v].y() + k) * std::sin(2 * std::numbers::pi * k * time) *
           Vec3(k % 2, k % 3 - 1, 1);
    return u;
  };
  FormulaFrames frames(clips, wobble);
  const SoftMotion motion{&character, {}, clips, &frames};
  double last = 1e300;
  for (const Index most : {2, 6, 20}) {
    const FittedBones fitted = fit_helper_bones(motion, {.most_bones = most}).value();
    fmt::print("{} bones: largest {:.2f} % rms {:.3f} % of the height, peak {:.2f} %\n", fitted.report.bones,
               100 * fitted.report.largest_error / fitted.report.height,
               100 * fitted.report.rms_error / fitted.report.height,
               100 * fitted.report.peak_displacement / fitted.report.height);
    EXPECT_LT(fitted.report.rms_error, last);
    last = fitted.report.rms_error;
    EXPECT_NEAR(played_error(source, character, motion, fitted, wobble), fitted.report.largest_error, 1e-5);
  }
  EXPECT_LT(last, 0.002 * 2.0);
}

/// Every vertex hangs on four joints, as exporters like to have it. Players blend no fifth: helpers must take the place
/// of joints, and carry on what these did.
TEST(HelperBones, VerticesWithAllInfluencesTakenAreHelpedToo) {
  RawCharacter tube = read_character(bending_tube(4)).value();
  CharacterMesh& mesh = tube.meshes[0];
  SkinWeights weights;
  weights.first.push_back(0);
  for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
    std::vector<double> share(4, 0.02);
    for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e)
      share[to_size(mesh.weights.joint[to_size(e)])] += 0.92 * mesh.weights.weight[to_size(e)];
    for (Index joint = 0; joint < 4; ++joint) {
      weights.joint.push_back(joint);
      weights.weight.push_back(share[to_size(joint)]);
    }
    weights.first.push_back(static_cast<Index>(weights.joint.size()));
  }
  mesh.weights = weights;
  const GltfDocument source = character_document(tube).value();
  const RawCharacter character = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 21)};
  const auto wobble = world_wobble(character, 0.05);
  FormulaFrames frames(clips, wobble);
  const SoftMotion motion{&character, {}, clips, &frames};
  const FittedBones fitted = fit_helper_bones(motion, {.most_bones = 16}).value();
  fmt::print("four influences: {} bones keep {:.1f} %\n", fitted.report.bones, 100 * fitted.report.kept());
  EXPECT_GT(fitted.report.kept(), 0.9);
  EXPECT_NEAR(played_error(source, character, motion, fitted, wobble), fitted.report.largest_error, 1e-5);
  const std::vector<Index>& first = fitted.meshes[0].weights.first;
  for (std::size_t v = 0; v + 1 < first.size(); ++v) EXPECT_LE(first[v + 1] - first[v], 4);
}

TEST(HelperBones, CharactersOfTheCollection) {
  const std::filesystem::path file = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged/khr_fox/Fox.glb";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no asset collection at " << file;
  const GltfDocument source = load_gltf(file).value();
  const RawCharacter character = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 13)};
  const auto wobble = world_wobble(character, 1.5);
  FormulaFrames frames(clips, wobble);
  const SoftMotion motion{&character, {}, clips, &frames};
  const FittedBones fitted = fit_helper_bones(motion).value();
  fmt::print("Fox: {} bones, largest {:.2f} % rms {:.3f} % of the height\n", fitted.report.bones,
             100 * fitted.report.largest_error / fitted.report.height,
             100 * fitted.report.rms_error / fitted.report.height);
  EXPECT_LT(fitted.report.rms_error, 0.2 * fitted.report.peak_displacement);
  EXPECT_NEAR(played_error(source, character, motion, fitted, wobble), fitted.report.largest_error, 1e-3);
}

/// Clips that weren't baked look as they did, though helpers have taken the place of joints.
TEST(HelperBones, OtherClipsStayAsTheyWere) {
  GltfDocument source = bending_tube();
  RawCharacter character = read_character(source).value();
  character.clips.push_back(character.clips[0]);
  character.clips[1].name = "other way";
  for (std::size_t k = 2; k < character.clips[1].channels[0].values.size(); k += 4)
    character.clips[1].channels[0].values[k] *= -1;
  source = character_document(character).value();
  character = read_character(source).value();
  ASSERT_EQ(character.clips.size(), 2u);
  const std::vector<SoftClip> clips = {even_frames(character, 0, 21)};
  FormulaFrames frames(clips, world_wobble(character, 0.05));
  const ScratchFolder folder;
  ASSERT_TRUE(write_soft_glb(folder / "b.glb", source, {&character, {}, clips, &frames}, {.helper_bones = true}).ok());
  const RawCharacter played = read_character(load_gltf(folder / "b.glb").value()).value();
  const CharacterRig a = CharacterRig::create(character).value(), b = CharacterRig::create(played).value();
  for (const double time : {0.2, 0.5, 0.9}) {
    const std::vector<Vec3> x = rig_positions(character, a, 1, time), y = rig_positions(played, b, 1, time);
    const std::vector<Index>&from = character.meshes[0].welded_vertex[0], &to = played.meshes[0].welded_vertex[0];
    for (std::size_t i = 0; i < from.size(); ++i)
      EXPECT_LT((x[to_size(from[i])] - y[to_size(to[i])]).norm(), 0.004) << i;  // 0.2 % of the height
  }
}

TEST(HelperBones, AWrittenFileKeepsItsAnimation) {
  const GltfDocument source = bending_tube();
  const RawCharacter character = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 21)};
  FormulaFrames frames(clips, world_wobble(character, 0.05));
  const ScratchFolder folder;
  const SoftGlbReport report =
      write_soft_glb(folder / "b.glb", source, {&character, {}, clips, &frames}, {.helper_bones = true}).value();
  const RawCharacter played = read_character(load_gltf(folder / "b.glb").value()).value();
  EXPECT_EQ(played.skins[0].joints.size(), 3u + to_size(report.bones.bones));
  EXPECT_EQ(played.clips.size(), 1u);
  EXPECT_EQ(played.clips[0].channels[0].values, character.clips[0].channels[0].values);
}

}  // namespace
}  // namespace supple::helper_bones_test
