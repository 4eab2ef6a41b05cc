// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/recipe.h"

#include "supple/io/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace supple::recipe_test {
namespace {

/// A folder with empty files of the names that the recipes below use.
class RecipeTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("supple_recipe_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    for (const char* name :
         {"hero.glb", "walk.bvh", "more.glb", "map.txt", "soft.txt", "tets.txt", "hero.msh", "hero.tgf", "hero.dmat"})
      ASSERT_TRUE(write_file_atomically(folder / name, "").ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Result<Recipe> parse(const std::string& text) const { return parse_recipe(text, "hero.toml", folder); }
  void expect_refusal(const std::string& text, const std::string& where, const std::string& words) const {
    const Result<Recipe> recipe = parse("input = \"hero.glb\"\n" + text);
    ASSERT_FALSE(recipe.ok()) << text;
    EXPECT_EQ(recipe.error().kind, ErrorKind::input);
    EXPECT_NE(recipe.error().message.find("hero.toml, " + where + ":"), std::string::npos) << recipe.error().message;
    EXPECT_NE(recipe.error().message.find(words), std::string::npos) << recipe.error().message;
  }

  std::filesystem::path folder;
};

/// No key as it is by default.
Recipe full_recipe() {
  Recipe recipe;
  recipe.input = "hero.glb";
  recipe.scale = 0.01;
  recipe.clips = {"Arm|walk", "say \"hi\"", "back\\slash", "tab\there"};
  recipe.handles = {"hero.tgf", "hero.dmat", {"map.txt", "soft.txt"}, 23.976};
  recipe.dual_quaternions = true;
  recipe.body_mesh = "hero.msh";
  recipe.file_materials = false;
  recipe.tets = 12345;
  recipe.keep_separate = false;
  recipe.graded = true;
  recipe.exclude = {"Sword", "Шлем"};
  recipe.bone_radius = 0.025;
  recipe.soft = {"belly"};
  recipe.rigid = std::vector<std::string>{"hand.l", "hand.r"};
  recipe.find_hard_parts = false;
  recipe.material = {MaterialModel::corotational, 1.0 / 3e-5, {}, 0.1 + 0.2, 1060.5};
  RecipePaint colour;
  colour.quantity = PaintQuantity::young;
  colour.attribute = "COLOR_1";
  colour.channel = 2;
  colour.range = PaintRange{1e3, 1e6};
  colour.smoothness = 0.07;
  RecipePaint file;
  file.quantity = PaintQuantity::poisson;
  file.file = "soft.txt";
  file.pose = "bent";
  RecipePaint tets;
  tets.quantity = PaintQuantity::fixity;
  tets.tets = "tets.txt";
  recipe.paints = {colour, file, tets};
  recipe.locals = {{"he\"ad", {"neck", "head"}, {}, {}, 20},
                   {"tail", {}, {Vec3(0, 1.0 / 3, -0.5)}, {{Vec3(0, 1, 0), Vec3(1e-7, 2, 3)}}, 0}};
  recipe.poses = {{"bent", "", 0}, {"stride", "Arm|walk", 0.3}};
  recipe.corrections = {{"elbow_fix", {"arm"}, {Vec3(0, 0.1 + 0.2, 90)}, "", 0},
                        {"both", {"arm", "hand"}, {Vec3(1, 0, 0), Vec3(0, 1, 0)}, "", 0},
                        {"moment", {"arm"}, {}, "Arm|walk", 0.7},
                        {"whole", {}, {}, "Arm|walk", 0}};
  recipe.flesh.angle = 30;
  recipe.flesh.fit = true;
  recipe.flesh.local = true;
  recipe.motions = {{"walk.bvh", "stroll", "map.txt", std::array{10, 250}}, {"more.glb", "", "", std::nullopt}};
  recipe.keyframes = {{"wave",
                       Interpolation::cubic,
                       {{"arm", 0, Vec3(0, 0, 90), std::nullopt, std::nullopt},
                        {"arm", 0.7, Vec3(1.5, -2, 1e-7), Vec3(0, 1, 0), Vec3(1, 2, 1)}}}};
  recipe.reaches = {
      {"grab", "should\"er", "hand", "Arm|walk", 59.94, {0.25, 1.0 / 3}, std::nullopt, {{0.1, Vec3(0, 1, 2)}}},
      {"wipe",
       "shoulder",
       "hand",
       "",
       30,
       {},
       Vec3(0, -1, 1e-7),
       {{0, Vec3(0.1 + 0.2, 1, 0)}, {1.0 / 3, Vec3(1, 1, 0)}}}};
  return recipe;
}

TEST_F(RecipeTest, WhatIsWrittenIsRead) {
  const Recipe recipe = full_recipe();
  const Result<Recipe> read =
      parse(write_recipe(recipe, {{"", "A hero"}, {"body.tets", "line\nline \x01 with what TOML forbids"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(*read == recipe) << write_recipe(*read);
  Recipe other = recipe;
  other.keyframes[0].keys[1].scale = Vec3(1, 2, 1.5);
  EXPECT_FALSE(other == recipe);
  other = recipe;
  other.reaches[1].keys[1].target[2] = 1e-9;
  EXPECT_FALSE(other == recipe);
}

TEST_F(RecipeTest, DefaultsAreRead) {
  Recipe plain;
  plain.input = "hero.glb";
  const Result<Recipe> shortest = parse("input = \"hero.glb\"");
  ASSERT_TRUE(shortest.ok()) << shortest.error().message;
  EXPECT_TRUE(*shortest == plain);
  const Result<Recipe> written = parse(write_recipe(plain));
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_TRUE(*written == plain);
}

TEST_F(RecipeTest, OwnBodiesKeepTheirMaterialsUnlessTheRecipeSaysSome) {
  const auto kept = [&](const std::string& text) {
    const Result<Recipe> recipe = parse("input = \"hero.glb\"\n[body]\nmesh = \"hero.msh\"\n" + text);
    EXPECT_TRUE(recipe.ok()) << recipe.error().message;
    return recipe.ok() && recipe->file_materials && recipe->body_mesh == "hero.msh";
  };
  EXPECT_TRUE(kept(""));
  EXPECT_TRUE(kept("[material]\nmodel = \"stvk\""));
  EXPECT_FALSE(kept("[material]\nfrequency = 3"));
  EXPECT_FALSE(kept("[material]\ndensity = 900"));
  EXPECT_TRUE(kept("materials = \"mesh\"\n[material]\nfrequency = 3"));
  EXPECT_FALSE(kept("materials = \"recipe\""));
  expect_refusal("[body]\nmesh = \"none.msh\"", "line 3", "doesn't exist");
  expect_refusal("[body]\nmaterials = \"mesh\"", "line 3", "those of a \"mesh\"");
  expect_refusal("[body]\nmesh = \"hero.msh\"\nmaterials = \"steel\"", "line 4", "mesh, recipe");
}

TEST_F(RecipeTest, CorrectionsSayTheirPose) {
  const auto read = [&](const std::string& text) { return parse("input = \"hero.glb\"\n" + text).value().corrections; };
  EXPECT_FALSE(read(""));
  EXPECT_TRUE(read("correction = []")->empty());
  Recipe none;
  none.input = "hero.glb";
  none.corrections.emplace();
  EXPECT_EQ(parse(write_recipe(none)).value(), none);
  const std::string start = "[[correction]]\ntarget = \"fix\"\n";  // lines 2 and 3
  EXPECT_EQ(read(start + "joint = \"arm\"\nrotation = [0, 0, 90]")->at(0).rotations.at(0), Vec3(0, 0, 90));
  expect_refusal(start, "line 2", "needs the pose that it is for");
  expect_refusal(start + "joint = \"arm\"", "line 2", "needs the pose that it is for");
  expect_refusal(start + "joints = [\"a\", \"b\"]\nrotations = [[0, 0, 90]]", "line 2", "as many \"joints\"");
  expect_refusal(start + "joint = \"a\"\njoints = [\"b\"]\nrotation = [0, 0, 90]", "line 5", "not both");
  expect_refusal(start + "joint = \"a\"\nrotation = [0, 90]", "line 5", "rotation");
  expect_refusal(start + "clip = \"walk\"", "line 2", "\"clip\" and \"time\" together");
  expect_refusal(start + "joint = \"a\"\nrotation = [0, 0, 9]\nclip = \"walk\"\ntime = 1", "line 2",
                 "leave one of them");
  expect_refusal("[[correction]]\njoint = \"a\"\nrotation = [0, 0, 9]", "line 2", "needs the key \"target\"");
  const std::string turned = start + "joint = \"a\"\nrotation = [0, 0, 9]\n";
  expect_refusal(turned + turned, "line 6", "two corrections have the target \"fix\"");
}

TEST_F(RecipeTest, HandlesAreReadWithTheirParts) {
  const Result<Recipe> recipe =
      parse("input = \"hero.msh\"\n[rig]\nhandles = \"hero.tgf\"\nweights = \"hero.dmat\"\nmotions = [\"map.txt\"]");
  ASSERT_TRUE(recipe.ok()) << recipe.error().message;
  EXPECT_EQ(recipe->handles, (RecipeHandles{"hero.tgf", "hero.dmat", {"map.txt"}, 30}));
  expect_refusal("[rig]\nweights = \"hero.dmat\"", "line 3", "belongs to \"handles\"");
  expect_refusal("[rig]\nhandles = \"none.tgf\"", "line 3", "doesn't exist");
  expect_refusal("[rig]\nhandles = \"hero.tgf\"\nmotions = [\"none.txt\"]", "line 4", "none.txt, which doesn't exist");
  expect_refusal("[rig]\nhandles = \"hero.tgf\"\nrate = 0", "line 4", "frames per second");
}

TEST_F(RecipeTest, LongListsAndRemarksAreBroken) {
  Recipe recipe;
  recipe.input = "hero.glb";
  recipe.clips.emplace();
  std::string remark;
  for (int k = 0; k < 60; ++k) recipe.clips->push_back("clip number " + std::to_string(k)), remark += "some words, ";
  const std::string text = write_recipe(recipe, {{"clips", remark}});
  std::size_t longest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  EXPECT_LE(longest, 110u) << text;
  ASSERT_TRUE(parse(text).ok()) << text;
  EXPECT_TRUE(*parse(text) == recipe);
}

TEST_F(RecipeTest, UnknownKeysAreNamedWithLineAndSuggestion) {
  expect_refusal("[body]\ntest = 5\n", "line 3", "did you mean \"tets\"?");
  expect_refusal("[bones]\n\nraduis = 5\n", "line 4", "did you mean \"radius\"?");
  expect_refusal("[materail]\nyoung = 5\n", "line 2", "did you mean \"material\"?");
  expect_refusal("[[paint]]\nquantity = \"softnes\"\nattribute = \"color\"\n", "line 3", "softness, young");
}

TEST_F(RecipeTest, WrongUnitsAreToldWhatToWrite) {
  expect_refusal("[material]\nyoung = \"25 kPa\"\n", "line 3", "write 25000 instead of \"25 kPa\"");
  expect_refusal("[material]\ndensity = \"1.06g/cm3\"\n", "line 3", "write 1060 instead");
  expect_refusal("[material]\nfrequency = \"soft\"\n", "line 3", "a bare number in hertz, not \"soft\"");
  expect_refusal("[material]\nyoung = \"25 kg\"\n", "line 3", "a bare number in pascals, not");
  expect_refusal("[bones]\nradius = \"2 %\"\n", "line 3", "write 0.02 instead");
  const std::string key = "[[keyframes]]\nname = \"k\"\n[[keyframes.key]]\njoint = \"arm\"\n";
  expect_refusal(key + "time = \"500 ms\"\nrotation = [0, 0, 1]\n", "line 6", "write 0.5 instead");
  expect_refusal(key + "time = 0\nrotation = [0, 0, \"45 deg\"]\n", "line 7", "write 45 instead of \"45 deg\"");
  expect_refusal(key + "time = 0\nrotation = [0, 0, \"0.5 rad\"]\n", "line 7", "write 28.6479 instead");
  expect_refusal("[material]\nyoung = 0.05\n", "line 3", "it is in pascals");
  expect_refusal("[material]\ndensity = 1060000\n", "line 3", "it is in kg/m³");
}

TEST_F(RecipeTest, PatchesAreRefusedWithTheirLine) {
  expect_refusal("[flesh]\nlocal = false\n[[local]]\nname = \"a\"\njoints = [\"b\"]\n", "line 3",
                 "\"local = false\" would not use");
  expect_refusal("[[local]]\njoints = [\"head\"]\n", "line 2", "needs the key \"name\"");
  expect_refusal("[[local]]\nname = \"head\"\n", "line 2", "to say where it is");
  expect_refusal("[[local]]\nname = \"a\"\njoint = [\"head\"]\n", "line 4", "did you mean \"joints\"?");
  expect_refusal("[[local]]\nname = \"a\"\npoints = [0, 1, 2]\n", "line 4", "[[0, 1.6, 0.1]]");
  expect_refusal("[[local]]\nname = \"a\"\npoints = [[0, 1, nan]]\n", "line 4", "a list of places");
  expect_refusal("[[local]]\nname = \"a\"\nsegments = [[[0, 1, 2]]]\n", "line 4", "pairs of places");
  expect_refusal("[[local]]\nname = \"a\"\njoints = [\"b\"]\nmodes = 0\n", "line 5", "whole number of at least 1");
  expect_refusal("[[local]]\nname = \"a\"\njoints = [\"b\"]\nmodes = 401\n", "line 5", "at most 400");
  expect_refusal("[[local]]\nname = \"a\"\njoints = [\"b\"]\n[[local]]\nname = \"a\"\njoints = [\"c\"]\n", "line 5",
                 "two patches");
}

TEST_F(RecipeTest, NamedPatchesAreUsed) {
  const std::string patch = "[[local]]\nname = \"head\"\njoints = [\"neck\"]\n";
  const Result<Recipe> named = parse("input = \"hero.glb\"\n" + patch);
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_TRUE(named->flesh.local);
  expect_refusal("[flesh]\nlocal = false\n" + patch, "line 3", "leave one out");
}

TEST_F(RecipeTest, ReachesAreRefusedWithTheirLine) {
  const std::string head = "[[reach]]\nname = \"r\"\nroot = \"a\"\ntip = \"b\"\n";  // lines 2 to 5
  const std::string key = "[[reach.key]]\ntime = 1\ntarget = [0, 1, 2]\n";
  expect_refusal("[[reach]]\nroot = \"a\"\ntip = \"b\"\n" + key, "line 2", "needs the key \"name\"");
  expect_refusal("[[reach]]\nname = \"r\"\ntip = \"b\"\n" + key, "line 2", "needs the key \"root\"");
  expect_refusal("[[reach]]\nname = \"r\"\nroot = \"a\"\n" + key, "line 2", "needs the key \"tip\"");
  expect_refusal(head, "line 2", "needs the key \"key\"");
  expect_refusal(head + "key = []\n", "line 6", "[[reach.key]] at least");
  expect_refusal(head + "key = [1]\n", "line 6", "list of tables");
  expect_refusal("[reach]\nname = \"r\"\n", "line 2", "write [[reach]]");
  expect_refusal(head + "ratte = 30\n" + key, "line 6", "did you mean \"rate\"?");
  expect_refusal(head + "rate = 0\n" + key, "line 6", "between 1 and 1000");
  expect_refusal(head + "rate = \"30 Hz\"\n" + key, "line 6", "frames per second");
  expect_refusal(head + "clip = 3\n" + key, "line 6", "must be a text");
  for (const char* wrong : {"0.5", "[0.5, 2]", "[-0.1]", "[nan]", "[\"stiff\"]"})
    expect_refusal(head + "stiffness = " + wrong + "\n" + key, "line 6", "numbers from 0 to 1");
  expect_refusal(head + "pole = [0, 1]\n" + key, "line 6", "three finite numbers");
  expect_refusal(head + "pole = [0, 1, 2]\nstiffness = [0.5]\n" + key, "line 6", "leave one of them out");
  expect_refusal(head + "[[reach.key]]\ntime = 1\n", "line 6", "needs the key \"target\"");
  expect_refusal(head + "[[reach.key]]\ntarget = [0, 1, 2]\n", "line 6", "needs the key \"time\"");
  expect_refusal(head + "[[reach.key]]\ntime = 1\ntarget = [0, 1, nan]\n", "line 8", "three finite numbers");
  expect_refusal(head + "[[reach.key]]\ntime = 1\ntarget = [0, 1, \"20 cm\"]\n", "line 8", "write 0.2 instead");
  expect_refusal(head + "[[reach.key]]\ntime = -1\ntarget = [0, 1, 2]\n", "line 7", "between 0 and 3600");
  expect_refusal(head + "[[reach.key]]\njoint = \"a\"\n", "line 7", "no key \"joint\"");
  expect_refusal(head + key + key, "line 10", "in the order of their times, but 1 s comes after 1 s");
  expect_refusal(head + key + head + key, "line 9", "two reaches are named \"r\"");
}

TEST_F(RecipeTest, MissingFilesAreNamedWithTheirLine) {
  const Result<Recipe> recipe = parse("\ninput = \"hreo.glb\"\n");
  ASSERT_FALSE(recipe.ok());
  EXPECT_NE(recipe.error().message.find("line 2: \"input\" names the file hreo.glb, which doesn't exist"),
            std::string::npos)
      << recipe.error().message;
  expect_refusal("[[motion]]\nfile = \"gone.bvh\"\n", "line 3", "gone.bvh");
  expect_refusal("[[motion]]\nfile = \"walk.bvh\"\njoint_map = \"gone.txt\"\n", "line 4", "gone.txt");
  expect_refusal("[[paint]]\nquantity = \"fixity\"\ntets = \"gone.txt\"\n", "line 4", "gone.txt");
  EXPECT_FALSE(parse("scale = 1\n").ok());
}

TEST_F(RecipeTest, WhatContradictsItselfIsRefused) {
  expect_refusal("[material]\nyoung = 1e4\nfrequency = 3\n", "line 4", "leave one of them out");
  expect_refusal("[material]\npoisson = 0.5\n", "line 3", "less than 0.5");
  expect_refusal("[[motion]]\nfile = \"more.glb\"\nframes = [0, 5]\n", "line 4", "for BVH");
  expect_refusal("[[motion]]\nfile = \"walk.bvh\"\nframes = [5, 5]\n", "line 4", "the first below the last");
  expect_refusal("[[paint]]\nquantity = \"young\"\n", "line 2", "needs one of");
  expect_refusal("[[paint]]\nquantity = \"young\"\nattribute = \"color\"\npose = \"bent\"\n", "line 5", "no [[pose]]");
  expect_refusal("[[paint]]\nquantity = \"poisson\"\nattribute = \"color\"\nrange = [0.3, 0.6]\n", "line 5", "0.6");
  const std::string paint = "[[paint]]\nquantity = \"young\"\nattribute = \"color\"\n";
  expect_refusal(paint + paint, "line 5", "painted twice");
  expect_refusal("[[pose]]\nname = \"a\"\ntime = 3\n", "line 2", "together");
  expect_refusal("[[pose]]\nname = \"a\"\n[[pose]]\nname = \"a\"\n", "line 4", "two poses");
  expect_refusal("[[keyframes]]\nname = \"k\"\n[[keyframes.key]]\njoint = \"a\"\ntime = 0\n", "line 4", "a key needs");
}

TEST_F(RecipeTest, FeelAndAmount) {
  const Recipe plain = *parse("input = \"hero.glb\"\n");
  EXPECT_EQ(plain.flesh.feel, Feel::natural);
  EXPECT_FALSE(plain.rigid.has_value());  // the head, where it is found
  const Recipe asked =
      *parse("input = \"hero.glb\"\n[bones]\nrigid = []\n[flesh]\nfeel = \"jelly\"\namount = \"5 %\"\nlimit = false\n");
  EXPECT_EQ(asked.flesh.feel, Feel::jelly);
  EXPECT_DOUBLE_EQ(asked.flesh.share, 0.05);
  EXPECT_FALSE(asked.flesh.limit);
  EXPECT_EQ(asked.rigid, std::vector<std::string>{});
  EXPECT_EQ(wanted_damping(asked), 0.08);
  EXPECT_EQ(bearable_share(asked), 0);
  EXPECT_EQ(*parse(write_recipe(asked)), asked);
  EXPECT_DOUBLE_EQ(parse("input = \"hero.glb\"\n[flesh]\namount = 1.5\n")->flesh.amount, 1.5);
  expect_refusal("[flesh]\nfeel = \"hard\"\n", "line 3", "natural");
  expect_refusal("[flesh]\namount = \"much\"\n", "line 3", "share of the height");
  expect_refusal("[flesh]\namount = -1\n", "line 3", "a gain");
}

TEST(Feel, SofterWordsAreSlowerAndRingLonger) {
  FeelNumbers last;
  last.frequency = last.damping = 1e9;
  for (const Feel feel : {Feel::subtle, Feel::natural, Feel::bouncy, Feel::jelly}) {
    EXPECT_EQ(feel_from(to_string(feel)), feel);
    const FeelNumbers numbers = numbers_of(feel);
    EXPECT_LT(numbers.frequency, last.frequency);
    EXPECT_LT(numbers.damping, last.damping);
    EXPECT_GT(numbers.bearable, last.bearable);
    last = numbers;
  }
}

TEST(RecipeMaterial, FrequencyIsThatOfALayer) {
  // A layer of thickness t, held below: wave speed c = √(G/ρ), a quarter wave fits, f = c / 4t.
  Recipe recipe;
  recipe.material.frequency = 3;
  recipe.material.poisson = 0.4;
  recipe.material.density = 900;
  const ElasticMaterial material = recipe.base_material(1.7);
  const double shear = material.young / (2 * 1.4);
  EXPECT_NEAR(std::sqrt(shear / 900) / (4 * 0.17), 3, 1e-12);
  recipe.material.young = 5000;
  EXPECT_EQ(recipe.base_material(1.7).young, 5000);
}

}  // namespace
}  // namespace supple::recipe_test
