// SPDX-License-Identifier: Apache-2.0
// Recipes followed to the embedded body, on characters of our own.
#include "supple/pipeline/character/character_body.h"

#include "samples/creatures.h"
#include "supple/io/gltf/write_character.h"
#include "supple/io/motion/bvh.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace supple::recipe_character_test {
namespace {

class RecipeCharacterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_recipe_character_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    const Creature creature = make_x_shape();
    const RawCharacter character = make_character(creature, 1200);
    CharacterLook look;
    for (const CreaturePose& pose : creature.poses) look.poses.push_back(pose.pose);
    ASSERT_TRUE(write_character(folder() / "x.glb", character, look).ok());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }

  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static Recipe plain() {
    Recipe recipe;
    recipe.input = "x.glb";
    recipe.tets = 1500;
    return recipe;
  }
  static CharacterSource prepared(const Recipe& recipe) { return load_source(recipe, folder()).value(); }
  static void expect_refusal(const Recipe& recipe, const std::string& words) {
    const Result<CharacterSource> result = load_source(recipe, folder());
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
  }
};

std::vector<Vec3> posed(const RawCharacter& character, double time) {
  const CharacterRig rig = CharacterRig::create(character).value();
  CharacterPose pose = rig.neutral();
  rig.sample(character.clips.at(0), time, ClipWrap::hold, pose);
  std::vector<Vec3> positions = evaluate_all(*rig.rig(), pose.p);
  for (Vec3& x : positions) x = pose.placement * x;
  return positions;
}

TEST_F(RecipeCharacterTest, ScaleIsThatOfEveryLength) {
  Recipe large = plain();
  large.scale = 7;
  const std::vector<Vec3> a = posed(prepared(plain()).character, 0.4), b = posed(prepared(large).character, 0.4);
  ASSERT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t v = 0; v < a.size(); ++v) worst = std::max(worst, (b[v] - 7 * a[v]).norm());
  EXPECT_LT(worst, 1e-9);
  EXPECT_GT((a[0] - prepared(plain()).character.meshes[0].surface.vertices[0]).norm(), 0);
}

TEST_F(RecipeCharacterTest, PosesComeFromTheFileAndFromClips) {
  Recipe recipe = plain();
  const std::string clip = prepared(plain()).character.clips.at(0).name;
  recipe.poses = {{"bent_forward", "", 0}, {"moment", clip, 0.25}};
  const CharacterSource result = prepared(recipe);
  ASSERT_EQ(result.poses.size(), 2u);
  const Creature creature = make_x_shape();
  const Skeleton made_of = make_character(creature, 1200).skeleton;
  for (const CreaturePose& made : creature.poses) {
    if (made.pose.name != "bent_forward") continue;
    ASSERT_FALSE(made.pose.rotations.empty());
    for (const JointRotation& r : made.pose.rotations) {
      const Index j = find_joint(result.character.skeleton, made_of.joints[to_size(r.joint)].name);
      EXPECT_LT(result.poses[0].locals[to_size(j)].rotation.angularDistance(r.rotation), 1e-6);
    }
  }
  Pose moment = rest_pose(result.character.skeleton);
  sample_clip(result.character.clips[0], 0.25, ClipWrap::hold, moment);
  for (std::size_t j = 0; j < moment.size(); ++j)
    EXPECT_LT(moment[j].rotation.angularDistance(result.poses[1].locals[j].rotation), 1e-12);
  recipe.poses = {{"bent_forwards", "", 0}};
  expect_refusal(recipe, "did you mean \"bent_forward\"?");
  recipe.poses = {{"late", clip, 1e5}};
  expect_refusal(recipe, "which ends at");
}

TEST_F(RecipeCharacterTest, ClipsAreChosenAndAdded) {
  Recipe recipe = plain();
  const std::string joint = prepared(plain()).character.skeleton.joints.at(1).name;
  recipe.clips.emplace();
  recipe.keyframes = {{"nod",
                       Interpolation::linear,
                       {{joint, 0, Vec3(0, 0, 0), std::nullopt, std::nullopt},
                        {joint, 2, Vec3(0, 0, 30), std::nullopt, std::nullopt}}}};
  const CharacterSource result = prepared(recipe);
  ASSERT_EQ(result.character.clips.size(), 1u);
  EXPECT_EQ(result.character.clips[0].name, "nod");
  EXPECT_EQ(result.character.clips[0].duration, 2);
  recipe.clips = {"nothing"};
  expect_refusal(recipe, "there is no clip \"nothing\"");
  recipe = plain();
  recipe.exclude = {"x_shap"};
  expect_refusal(recipe, "did you mean \"x_shape\"?");
  recipe.exclude = {"x_shape"};
  expect_refusal(recipe, "nothing is left");
}

TEST_F(RecipeCharacterTest, NamesThatDontExistAreToldWithTheirLines) {
  struct Row {
    std::string text, words;
  };
  const std::string head = "input = \"x.glb\"\n";  // line 1
  for (const Row& row :
       {Row{"clips = [\n\"bend\",\n\"bent\"]", "line 4: there is no clip \"bent\" in x.glb; did you mean \"bend\"?"},
        Row{"[body]\nexclude = [\"x_shap\"]",
            "line 3: there is no mesh \"x_shap\" in x.glb; did you mean \"x_shape\"?"},
        Row{"[bones]\nsoft = [\"midle\"]", "line 3: there is no joint \"midle\" in x.glb; did you mean \"middle\"?"},
        Row{"[bones]\n\nrigid = [\"up_1\",\n \"upp_2\"]", "line 5: there is no joint \"upp_2\""},
        Row{"[[pose]]\nname = \"straigth\"",
            "line 3: there is no pose \"straigth\" in x.glb; did you mean \"straight\"?"},
        Row{"[[pose]]\nname = \"a\"\nclip = \"bnd\"\ntime = 0", "line 4: there is no clip \"bnd\""},
        Row{"[[pose]]\nname = \"late\"\nclip = \"bend\"\ntime = 99", "line 3: the pose \"late\" is at 99 s"},
        Row{"[[wire]]\nname = \"w\"\nhandles = [\"up_1\", \"dwn_1\"]", "line 4: there is no joint \"dwn_1\""},
        Row{"[[keyframes]]\nname = \"k\"\n[[keyframes.key]]\njoint = \"up_11\"\ntime = 0\nrotation = [0, 0, 1]",
            "line 5: there is no joint \"up_11\" in x.glb; did you mean \"up_1\"?"}}) {
    SCOPED_TRACE(row.text);
    const Result<Recipe> recipe = parse_recipe(head + row.text + "\n", "bent.toml", folder());
    ASSERT_TRUE(recipe.ok()) << recipe.error().message;
    expect_refusal(*recipe, "bent.toml, " + row.words);
  }
}

TEST(RecipeMotions, FramesOfABvhFileBecomeAClip) {
  const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets";
  const std::filesystem::path motion = assets / "mocap/cmu_02_01/02_01.bvh";
  if (!std::filesystem::exists(motion)) GTEST_SKIP() << "the shared assets aren't there";
  Recipe recipe;
  recipe.input = "rigged/khr_cesiumman/CesiumMan.glb";
  recipe.clips.emplace();
  recipe.motions = {{"mocap/cmu_02_01/02_01.bvh", "", "", std::nullopt},
                    {"mocap/cmu_02_01/02_01.bvh", "part", "", std::array{12, 60}}};
  const Result<CharacterSource> result = load_source(recipe, assets);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const std::vector<Clip>& clips = result->character.clips;
  ASSERT_EQ(clips.size(), 2u);
  EXPECT_EQ(clips[0].name, motion.stem().string());
  EXPECT_EQ(clips[1].name, "part");
  const BvhMotion bvh = load_bvh(motion).value();
  EXPECT_NEAR(clips[1].duration, 48 * bvh.frame_time, 1e-9);
  EXPECT_EQ(clips[1].channels[0].times.size(), 49u);
  // The same frame of the motion. Feet and the reference pose are found among other frames, so it is not quite the
  // same.
  Pose whole = rest_pose(result->character.skeleton), part = whole;
  sample_clip(clips[0], 42 * bvh.frame_time, ClipWrap::hold, whole);
  sample_clip(clips[1], 30 * bvh.frame_time, ClipWrap::hold, part);
  const Index knee = find_joint(result->character.skeleton, "leg_joint_L_2");
  ASSERT_GE(knee, 0);
  EXPECT_GT(
      whole[to_size(knee)].rotation.angularDistance(result->character.skeleton.joints[to_size(knee)].rest.rotation),
      0.01);
  EXPECT_LT(whole[to_size(knee)].rotation.angularDistance(part[to_size(knee)].rotation), 0.15);
  recipe.motions[1].frames = {12, 100000};
  EXPECT_FALSE(load_source(recipe, assets).ok());
}

TEST_F(RecipeCharacterTest, PaintReachesTheBody) {
  Recipe recipe = plain();
  recipe.poses = {{"straight", "", 0}, {"bent_forward", "", 0}};
  const CharacterSource character = prepared(recipe);
  const CharacterBody bare = make_body(character).value();
  ASSERT_EQ(bare.body.mesh.materials.size(), 1u);
  EXPECT_NEAR(bare.body.mesh.materials[0].young, bare.base.young, 1e-9 * bare.base.young);

  // The upper half is painted soft in one pose, and half the density everywhere; the lowest tenth is held.
  const std::vector<Vec3>& skin = bare.body.skin.vertices;
  double low = 1e9, high = -1e9;
  for (const Vec3& x : skin) low = std::min(low, x[1]), high = std::max(high, x[1]);
  std::ofstream soft(folder() / "soft.txt"), held(folder() / "held.txt"), light(folder() / "light.txt");
  for (const std::vector<Index>& primitive : character.character.meshes[0].welded_vertex) {
    for (const Index v : primitive) {
      const double h = (skin[to_size(v)][1] - low) / (high - low);
      soft << (h > 0.5 ? 1 : 0) << "\n";
      held << (h < 0.1 ? 1 : 0) << "\n";
      light << 500 << "\n";
    }
  }
  soft.close(), held.close(), light.close();
  RecipePaint softness, fixity, density;
  softness.file = "soft.txt";
  softness.pose = "bent_forward";
  softness.range = PaintRange{1, 10};
  fixity.quantity = PaintQuantity::fixity;
  fixity.file = "held.txt";
  density.quantity = PaintQuantity::density;
  density.file = "light.txt";
  recipe.paints = {softness, fixity, density};
  const CharacterBody body = make_body(prepared(recipe)).value();
  EXPECT_GT(body.body.fixed_vertices.size(), bare.body.fixed_vertices.size());
  EXPECT_TRUE(std::is_sorted(body.body.fixed_vertices.begin(), body.body.fixed_vertices.end()));
  EXPECT_NEAR(body.body.mesh.material_of(0).density, 500, 1e-6);
  EXPECT_NEAR(body.body.mesh.material_of(0).young, bare.base.young, 1e-9 * bare.base.young);
  ASSERT_EQ(body.pose_paints.size(), 1u);
  const PosePaint& paint = body.pose_paints[0].second;
  EXPECT_EQ(paint.poses, (std::vector<std::string>{"straight", "bent_forward"}));
  EXPECT_EQ(paint.values.col(0).maxCoeff(), 1);
  EXPECT_GT(paint.values.col(1).maxCoeff(), 8);
  EXPECT_LT(paint.values.col(1).minCoeff(), 1.3);
}

/// What is wrong with paint is told with the line that asks for it, also where the same file is asked for twice.
TEST_F(RecipeCharacterTest, WrongPaintIsNamedWithItsLine) {
  std::ofstream(folder() / "short.txt") << "1 2 3\n";
  std::ofstream(folder() / "word.txt") << "1\nsoft\n";
  std::ofstream negative(folder() / "negative.txt");
  const CharacterSource whole = prepared(plain());
  for (const std::vector<Index>& primitive : whole.character.meshes[0].welded_vertex)
    for (std::size_t v = 0; v < primitive.size(); ++v) negative << "-1\n";
  negative.close();
  const auto expect = [&](const std::string& paint, const std::string& line, const std::string& words) {
    const std::string text = "input = \"x.glb\"\n[body]\ntets = 1500\n[[paint]]\nquantity = \"young\"\n" + paint;
    const Recipe recipe = parse_recipe(text, "x.toml", folder()).value();
    const Result<CharacterSource> character = load_source(recipe, folder());
    Error error;
    if (character.ok())
      error = make_body(*character).error();
    else
      error = character.error();
    EXPECT_EQ(error.kind, ErrorKind::input);
    EXPECT_EQ(error.message.find("x.toml, " + line + ": "), 0u) << error.message;
    EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
  };
  expect("attribute = \"COLOR_9\"\n", "line 6", "no mesh has the attribute \"COLOR_9\"");
  expect("range = [1e3, 1e5]\nfile = \"short.txt\"\n", "line 7", "3 numbers for");
  expect("file = \"word.txt\"\n", "line 6", "word.txt");
  expect("file = \"negative.txt\"\n", "line 6", "must be positive");
  expect("tets = \"short.txt\"\n", "line 6", "tetrahedra");
  expect("attribute = \"color\"\nrange = [1e3, 1e5]\n[[paint]]\nquantity = \"poisson\"\nfile = \"short.txt\"\n",
         "line 10", "3 numbers for");
}

}  // namespace
}  // namespace supple::recipe_character_test
