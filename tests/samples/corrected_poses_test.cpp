// SPDX-License-Identifier: Apache-2.0
// Poses that an artist has corrected: the model is built on the corrected shape, whatever moves the joints into it.
#include "samples/creature_files.h"
#include "samples/creatures.h"
#include "supple/pipeline/character/build_posespace.h"
#include "supple/rig/motion/clip_motion.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace supple::corrected_poses_test {
namespace {

class CorrectedPoses : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_corrected_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    const Creature arm = make_arm();
    ASSERT_TRUE(write_creature(folder() / "arm.glb", arm, make_character(arm, 800)).ok());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static Recipe recipe() { return first_recipe(read_character_file(folder() / "arm.glb").value(), "arm.glb", 600); }
  static const RecipePoseState& pose(const CharacterSource& source, std::string_view name) {
    for (const RecipePoseState& state : source.poses)
      if (state.name == name) return state;
    throw std::runtime_error("no such pose");
  }
};

TEST_F(CorrectedPoses, HaveTheirCorrectionInTheModel) {
  const CharacterSource source = load_source(recipe(), folder()).value();
  int corrected = 0;
  for (const RecipePoseState& state : source.poses) {
    if (!state.corrected) continue;
    ++corrected;
    const std::vector<double> p = pose_parameters(source.rig, state);
    CharacterPose plain = source.rig.neutral();
    source.rig.set_joints(state.locals, plain);
    const std::vector<Vec3> with = evaluate_all(*source.rig.rig(), p),
                            without = evaluate_all(*source.rig.rig(), plain.p);
    double farthest = 0;
    for (std::size_t v = 0; v < with.size(); ++v) farthest = std::max(farthest, (with[v] - without[v]).norm());
    double sculpted = 0;
    for (const CharacterMesh& mesh : source.character.meshes)
      for (const MorphTarget& target : mesh.targets)
        if (target.name == state.name)
          for (const Vec3& d : target.displacements) sculpted = std::max(sculpted, d.norm());
    EXPECT_GT(sculpted, 1e-3) << state.name;
    EXPECT_GT(farthest, 0.5 * sculpted) << state.name;
  }
  EXPECT_EQ(corrected, 9);
}

TEST_F(CorrectedPoses, MomentsOfClipsKeepTheWeightsOfTheClip) {
  Recipe asked = recipe();
  asked.poses.push_back({"moment", "flex", 0.4});
  const CharacterSource source = load_source(asked, folder()).value();
  const Clip* flex = nullptr;
  for (const Clip& clip : source.character.clips)
    if (clip.name == "flex") flex = &clip;
  ASSERT_NE(flex, nullptr);
  CharacterPose expected = source.rig.neutral();
  source.rig.sample(*flex, 0.4, ClipWrap::hold, expected);
  const std::vector<double> p = pose_parameters(source.rig, source.poses.back());
  ASSERT_EQ(p.size(), expected.p.size());
  double heaviest = 0;
  for (const CharacterRig::MorphSlot& slot : source.rig.morphs()) {
    for (std::size_t k = 0; k < slot.neutral.size(); ++k) {
      EXPECT_NEAR(p[to_size(slot.first) + k], expected.p[to_size(slot.first) + k], 1e-12);
      heaviest = std::max(heaviest, p[to_size(slot.first) + k]);
    }
  }
  EXPECT_GT(heaviest, 0.1);
}

TEST_F(CorrectedPoses, CorrectionsFollowJointsThatKeyframesMove) {
  Recipe asked = recipe();
  asked.keyframes = {
      {"bend", Interpolation::linear, {{"elbow", 0, Vec3(0, 0, 0), {}, {}}, {"elbow", 1, Vec3(0, -115, 0), {}, {}}}}};
  const CharacterSource source = load_source(asked, folder()).value();
  const Clip& bend = source.character.clips.back();
  ASSERT_EQ(bend.name, "bend");
  CharacterPose sampled = source.rig.neutral();
  source.rig.sample(bend, 1, ClipWrap::hold, sampled);
  const std::vector<Index> places = morph_places(source.rig, "elbow_bent");
  ASSERT_FALSE(places.empty());
  for (const Index place : places) EXPECT_NEAR(sampled.p[to_size(place)], 1, 1e-6);
  source.rig.sample(bend, 0, ClipWrap::hold, sampled);
  for (const Index place : places) EXPECT_NEAR(sampled.p[to_size(place)], 0, 1e-6);
}

TEST_F(CorrectedPoses, MorphTargetsCountByHowFarTheyMoveTheSkin) {
  const CharacterSource source = load_source(recipe(), folder()).value();
  const PoseLayout& layout = source.rig.rig()->layout();
  const std::vector<double> p = pose_parameters(source.rig, pose(source, "elbow_bent"));
  std::vector<double> without = p;
  for (const Index place : morph_places(source.rig, "elbow_bent")) without[to_size(place)] = 0;
  // A bulge of 18 mm on an arm of 0.7 m, not a turn by a radian.
  EXPECT_LT(pose_distance(layout, p, without), 0.1);
  EXPECT_GT(pose_distance(layout, p, without), 0.01);
}

TEST_F(CorrectedPoses, ContactActsInPosesOfClipsAsWell) {
  Recipe asked = recipe();
  asked.poses.clear();
  asked.flesh.size = 8;
  asked.flesh.poses = 3;
  asked.flesh.contact = true;
  const BuiltCharacter built = build_character(asked, folder()).value();
  EXPECT_EQ(built.reduced.contacts.size(), built.reduced.poses.size());
  EXPECT_GT(built.reduced.poses.size(), 1u);
}

TEST_F(CorrectedPoses, MaterialsOfPosesAreTunedAsTheBodyIs) {
  const CharacterSource source = load_source(recipe(), folder()).value();
  CharacterBody body = make_body(source).value();
  const auto elements = static_cast<Eigen::Index>(body.body.mesh.elements.size());
  PosePaint paint{{"a", "b"}, MatX::Constant(elements, 2, 2.0), VecX::Constant(elements, 2.0)};
  paint.values.col(1).setConstant(0.5);
  body.pose_paints.emplace_back(PaintQuantity::softness, paint);
  TetMesh tuned = body.body.mesh;
  std::vector<ElasticMaterial> materials;
  for (std::size_t e = 0; e < tuned.elements.size(); ++e) {
    materials.push_back(tuned.material_of(e));
    materials.back().young *= 3 + static_cast<double>(e % 5);
  }
  set_element_materials(tuned, materials);
  const std::vector<ElasticMaterial> same = materials_in_pose(body, tuned, 0),
                                     firmer = materials_in_pose(body, tuned, 1);
  for (std::size_t e = 0; e < materials.size(); ++e) {
    EXPECT_DOUBLE_EQ(same[e].young, materials[e].young);
    EXPECT_DOUBLE_EQ(firmer[e].young, 4 * materials[e].young);
  }
}

}  // namespace
}  // namespace supple::corrected_poses_test
