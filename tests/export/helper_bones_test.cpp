// SPDX-License-Identifier: Apache-2.0
// Helper bones: what the report says is what the file plays; motion that helpers can make is found.
#include "supple/export/helper_bones.h"

#include "io/io_tools.h"
#include "supple/export/write_soft_glb.h"
#include "supple/io/gltf/write_character.h"
#include "support/rigs.h"
#include "support/soft_motions.h"

#include <fmt/format.h>

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

/// A bump on one side of the middle joint's flesh that swings rigidly: exactly what one helper makes.
FormulaFrames::Formula swinging_bump(const RawCharacter& character) {
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
    const double s = std::sin(2 * std::numbers::pi * time);
    const Quat R = turn(25 * s, Vec3(0, 0.3, 1));
    const Vec3 centre(0.3, 0.33, 0);
    const Vec3 moved = R * (p - centre) + centre + Vec3(0.05 * s, 0.04 * s, 0.08 * s * s);
    return Vec3(alpha * (posed->joints()[1].linear() * (moved - p)));
  };
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

TEST(HelperBones, MoreBonesComeCloserAndTheReportIsHonest) {
  const GltfDocument source = bending_tube();
  const RawCharacter character = read_character(source).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 21)};
  const auto wobble = world_wobble(character, 0.05);
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
