// SPDX-License-Identifier: Apache-2.0
// The seam between engines: what bake and compare see of them, on a small character of our own.
#include "supple/pipeline/character/engine.h"

#include "samples/creatures.h"
#include "supple/fem/free_vertices.h"
#include "supple/io/file.h"
#include "supple/io/gltf/write_character.h"
#include "supple/pipeline/character/bake.h"
#include "supple/pipeline/character/compare_engines.h"
#include "supple/pipeline/character/compare_full.h"
#include "supple/pipeline/character/engine_posespace.h"
#include "supple/pipeline/character/exaggeration.h"
#include "supple/pipeline/character/feel.h"
#include "supple/rig/motion/clip_motion.h"
#include "support/soft_motions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace supple::engine_test {
namespace {

using Soft = std::unique_ptr<SoftCharacter>;

class EngineSeam : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_engine_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    ASSERT_TRUE(write_character(folder() / "x.glb", make_character(make_x_shape(), 600)).ok());
    recipe().input = "x.glb";
    recipe().tets = 700;
    recipe().flesh.size = 8;
    source() = std::make_shared<const CharacterSource>(load_source(recipe(), folder()).value());
    reduced() = build("posespace");
    full() = build("full");
  }
  static void TearDownTestSuite() {
    reduced().reset(), full().reset(), source().reset();
    std::filesystem::remove_all(folder());
  }
  static Soft build(std::string_view engine) { return find_engine(engine).value()->build(source()).value(); }

  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static Recipe& recipe() {
    static Recipe recipe;
    return recipe;
  }
  static std::shared_ptr<const CharacterSource>& source() {
    static std::shared_ptr<const CharacterSource> source;
    return source;
  }
  static Soft& reduced() {
    static Soft soft;
    return soft;
  }
  static Soft& full() {
    static Soft soft;
    return soft;
  }
  static const Clip& clip() { return source()->character.clips.at(0); }
  static SimulateSettings half_a_second() {
    SimulateSettings settings;
    settings.to = 0.5;
    return settings;
  }
  static void expect_words(const Error& error, const std::string& words) {
    EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
  }
};

TEST_F(EngineSeam, NamesAreFoundAndTyposHelped) {
  for (const CharacterEngine* engine : all_engines()) EXPECT_EQ(find_engine(engine->name()).value(), engine);
  const Result<const CharacterEngine*> typo = find_engine("ful");
  ASSERT_FALSE(typo.ok());
  EXPECT_EQ(typo.error().kind, ErrorKind::usage);
  expect_words(typo.error(), "there is no engine \"ful\"; did you mean \"full\"?");
  expect_words(find_engine("clothsolver").error(), "there are posespace, full");
}

// Every vertex is free where that takes less time than to teach a reduced body, unless a recipe asks for what only
// reduced bodies have.
TEST_F(EngineSeam, BakesOfShortClipsLeaveEveryVertexFree) {
  const auto chosen = [](const auto& change) {
    CharacterSource own = *source();
    own.recipe.flesh = {};
    change(own);
    return std::string(baking_engine(own).name());
  };
  EXPECT_EQ(chosen([](CharacterSource&) {}), "full");
  EXPECT_EQ(chosen([](CharacterSource& own) { own.recipe.flesh.quality = Quality::draft; }), "posespace");
  EXPECT_EQ(chosen([](CharacterSource& own) { own.recipe.flesh.size = 8; }), "posespace");
  EXPECT_EQ(chosen([](CharacterSource& own) { own.recipe.flesh.poses = 3; }), "posespace");
  EXPECT_EQ(chosen([](CharacterSource& own) { own.recipe.flesh.contact = true; }), "full");
  EXPECT_EQ(chosen([](CharacterSource& own) { own.recipe.flesh.local = true; }), "posespace");
  const auto minutes = [](CharacterSource& own) { own.character.clips.at(0).duration = 180; };
  EXPECT_EQ(chosen(minutes), "posespace");
  EXPECT_EQ(chosen([&](CharacterSource& own) { minutes(own), own.recipe.flesh.quality = Quality::final; }), "full");
  EXPECT_EQ(find_baking_engine("", *source()).value()->name(), "posespace") << "its recipe asks for 8 coordinates";
  EXPECT_EQ(find_baking_engine("full", *source()).value()->name(), "full");
}

TEST_F(EngineSeam, AnEngineAgainstItselfIsZero) {
  for (const Soft* soft : {&reduced(), &full()}) {
    const EngineComparison same = compare_engines(**soft, **soft, clip(), half_a_second()).value();
    EXPECT_EQ(same.error, 0) << same.run.engine;
    EXPECT_EQ(same.run.peak, same.against.peak);
    EXPECT_GT(same.run.peak, 1e-4);
    EXPECT_GT(same.moments, 20);
  }
}

/// The two roads to one number: engines by what they show, and the pose-space engine's own table.
TEST_F(EngineSeam, TwoEnginesDifferAsTheTableSays) {
  CompareSettings table;
  table.most_seconds = 0.5;
  const CompareReport report = compare_full(*source(), table).value();
  const EngineComparison pair = compare_engines(*reduced(), *full(), clip(), half_a_second()).value();
  ASSERT_EQ(report.rows.size(), 1u);
  // The rungs of the ladder: what the basis can hold, what a run in it makes of that; and what no clip has told.
  ASSERT_TRUE(report.rows[0].in_basis && report.rows[0].unseen && report.truth_error);
  EXPECT_GT(*report.rows[0].in_basis, 0.9 * report.rows[0].projection);
  EXPECT_GT(*report.rows[0].unseen, report.rows[0].projection);
  EXPECT_LT(*report.truth_error, 0.1);
  EXPECT_GT(pair.error, 0.005);
  // Not the same moments, and frames for damping that know other poses.
  EXPECT_NEAR(pair.error, report.rows[0].error, 0.1 * report.rows[0].error + 0.005);
  EXPECT_NEAR(pair.against.peak, report.peak, 0.03 * report.peak);
}

/// Of a clip, as shares of the height.
ShownMotion shown_with(const SoftCharacter& soft, const Clip& clip, double gain) {
  FramedClip framed{&clip, nullptr, {}};
  SimulateSettings settings;
  settings.exaggeration = gain;
  settings.loop = closes(soft.rig(), clip);
  framed.run = soft.simulate(clip, settings).value();
  for (double time = framed.run->start(); time <= clip.duration; time += 1.0 / 30) framed.times.push_back(time);
  const MotionMeasure measure = measure_motion(soft.character(), framed);
  const double height = height_of(soft.source());
  return {measure.rms / height, measure.peak / height};
}

TEST_F(EngineSeam, MotionComesIntoTheRangeOfItsFeel) {
  for (const Feel feel : {Feel::natural, Feel::jelly}) {
    Recipe own = recipe();
    own.flesh.feel = feel;
    own.material.frequency = 10;  // Hz: moves less far than either of them shall
    const Soft soft = find_engine("posespace")
                          .value()
                          ->build(std::make_shared<const CharacterSource>(load_source(own, folder()).value()))
                          .value();
    const ShownRange range = numbers_of(feel).shown;
    const double gain = soft->exaggeration();
    EXPECT_NE(gain, 1) << "nothing had to be done, so nothing is tried";
    const ShownMotion shown = shown_with(*soft, soft->character().clips.at(0), gain);
    EXPECT_LT(shown.peak, 1.05 * range.most_peak);
    EXPECT_TRUE(shown.rms > range.least_rms || shown.peak > 0.8 * range.most_peak || gain == 1000)
        << to_string(feel) << ": " << shown.rms << " of " << range.least_rms << ", peak " << shown.peak;
    EXPECT_EQ(std::get<CharacterAsset>(soft->asset()).exaggeration, gain);
  }
}

/// What a model is taught at is found before there is one, by other steps over parts of the clips.
TEST_F(EngineSeam, ARehearsalTellsHowHardFleshWillBeDriven) {
  Recipe own = recipe();
  own.material.frequency = 10;  // Hz: has to be driven much harder to be seen
  const BuiltCharacter built = build_character(own, folder()).value();
  const auto source = std::make_shared<const CharacterSource>(load_source(own, folder()).value());
  const Soft soft = soft_character(source, built.reduced).value();
  EXPECT_EQ(soft->exaggeration(), built.reduced.exaggeration);
  const double gain = find_exaggeration(*soft);
  ASSERT_GT(gain, 3) << "flesh is driven as it comes, so nothing is tried";
  EXPECT_GT(built.reduced.exaggeration, gain / 2);
  EXPECT_LT(built.reduced.exaggeration, gain * 2);
  own.flesh.limit = false;
  EXPECT_EQ(build_character(own, folder()).value().reduced.exaggeration, 1);
}

TEST_F(EngineSeam, ExaggerationIsPartOfTheAssetAndWhatIsAskedForComesOnTop) {
  CharacterAsset asset = std::get<CharacterAsset>(reduced()->asset());
  asset.exaggeration = 2.5;
  Recipe own = recipe();
  own.flesh.amount = 1.5;
  const auto twice = std::make_shared<const CharacterSource>(load_source(own, folder()).value());
  ASSERT_TRUE(write_file_atomically(folder() / "x.supple", encode_asset(Asset(asset)).value()).ok());
  const Soft soft =
      find_engine("posespace").value()->take_asset(twice, load_asset(folder() / "x.supple").value()).value();
  EXPECT_EQ(soft->exaggeration(), 2.5);
  EXPECT_EQ(std::get<CharacterAsset>(soft->asset()).gain, 1.5);
}

/// Less drive for a wild clip is the whole clip's, so that a part of it looks as it does within the whole.
TEST_F(EngineSeam, APartOfAClipIsTonedDownAsTheWholeIs) {
  SimulateSettings whole, part;
  whole.gain = part.gain = 40;
  part.from = 0.02, part.to = 0.12;  // before the clip has moved far
  const TonedRun all = simulate_in_range(*reduced(), clip(), whole).value();
  const TonedRun some = simulate_in_range(*reduced(), clip(), part).value();
  EXPECT_LT(all.tone, 0.9) << "nothing had to be toned down, so nothing is tried";
  EXPECT_EQ(some.tone, all.tone);
  EXPECT_EQ(some.peak, all.peak);
  std::vector<Vec3> expected(to_size(reduced()->vertex_count())), found = expected;
  double largest = 0;
  for (const double time : {0.03, 0.08, 0.11}) {
    all.run->in_character(time, expected);
    some.run->in_character(time, found);
    for (std::size_t v = 0; v < found.size(); ++v) {
      largest = std::max(largest, expected[v].norm());
      ASSERT_EQ(found[v], expected[v]) << v << " at " << time << " s";
    }
  }
  EXPECT_GT(largest, 1e-3 * all.peak);
  EXPECT_LT(largest, 0.9 * all.peak) << "the part is as wild as the whole, so nothing is tried";
  EXPECT_LE(all.peak, numbers_of(Feel::natural).shown.most_peak * height_of(*source()));
}

TEST(Exaggeration, LeavesWhatIsInTheRange) {
  const ShownRange range{.least_rms = 0.005, .least_peak = 0.02, .most_peak = 0.1};
  EXPECT_EQ(towards_range({0.006, 0.05}, range), 1);
  EXPECT_NEAR(towards_range({0.001, 0.01}, range), 5.5, 1e-9);               // as far as rms asks, and a little farther
  EXPECT_NEAR(towards_range({0.0025, 0.08}, range), 1.0 / 1.1 / 0.8, 1e-9);  // the peak counts more
  EXPECT_LT(towards_range({0.02, 0.2}, range), 0.5);
  EXPECT_EQ(towards_range({0, 0}, range), 1);
}

TEST_F(EngineSeam, FramesOfReferenceShowTheSameLengths) {
  for (const Soft* soft : {&reduced(), &full()}) {
    const std::unique_ptr<ClipRun> run = (*soft)->simulate(clip(), half_a_second()).value();
    const auto count = to_size((*soft)->vertex_count());
    std::vector<Vec3> world(count), own(count), neutral(count);
    run->in_world(0.4, world);
    run->in_character(0.4, own);
    run->in_neutral_pose(0.4, neutral);
    double largest = 0, off_world = 0, off_neutral = 0;
    for (std::size_t v = 0; v < count; ++v) {
      largest = std::max(largest, own[v].norm());
      off_world = std::max(off_world, std::abs(world[v].norm() - own[v].norm()));
      off_neutral = std::max(off_neutral, std::abs(neutral[v].norm() - own[v].norm()));
    }
    EXPECT_GT(largest, 1e-4);
    EXPECT_LT(off_world, 1e-6 * largest);
    // A vertex of the skin hangs on several of the mesh, which turn by a little different angles.
    EXPECT_LT(off_neutral, 0.05 * largest);
  }
}

/// Air that moves past a resting body with velocity w pulls like gravity of drag · w.
TEST_F(EngineSeam, WindPullsTheFullSimulationLikeGravity) {
  SimulateSettings windy, heavy;
  windy.to = heavy.to = 0.01;
  windy.preroll = heavy.preroll = 3;
  windy.drag = 0.5;
  windy.wind = Vec3(0, 0, 4);
  heavy.gravity = Vec3(0, 0, 2);
  const auto count = to_size(full()->vertex_count());
  std::vector<Vec3> blown(count), pulled(count);
  const std::unique_ptr<ClipRun> wind = full()->simulate(clip(), windy).value();
  const std::unique_ptr<ClipRun> gravity = full()->simulate(clip(), heavy).value();
  wind->in_world(wind->start(), blown);
  gravity->in_world(gravity->start(), pulled);
  double difference = 0, total = 0, along = 0;
  for (std::size_t v = 0; v < count; ++v) {
    difference += (blown[v] - pulled[v]).squaredNorm();
    total += pulled[v].squaredNorm();
    along += pulled[v].z();
  }
  EXPECT_GT(along, 0);
  EXPECT_LT(std::sqrt(difference / total), 0.02);
}

TEST_F(EngineSeam, ALoopOfTheFullSimulationCloses) {
  SimulateSettings settings;
  settings.loop = true;
  const std::unique_ptr<ClipRun> run = full()->simulate(clip(), settings).value();
  EXPECT_TRUE(run->report().loop);
  // Rounds go on until what has to fade out is too small to be seen; two wouldn't do here.
  EXPECT_GT(run->report().rounds, 2);
  EXPECT_LT(run->report().gap, 1e-3 * height_of(*source()));
  const auto count = to_size(full()->vertex_count());
  std::vector<Vec3> first(count), last(count);
  run->in_neutral_pose(run->start(), first);
  run->in_neutral_pose(clip().duration, last);
  for (std::size_t v = 0; v < count; ++v) EXPECT_LT((first[v] - last[v]).norm(), 1e-9);
}

class StopAtOnce final : public Progress {
 public:
  void stage(std::string_view) override {}
  void update(double) override {}
  bool cancelled() const override { return true; }
};

TEST_F(EngineSeam, ASimulationCanBeStopped) {
  StopAtOnce stop;
  for (const Soft* soft : {&reduced(), &full()}) {
    const auto run = (*soft)->simulate(clip(), half_a_second(), stop);
    ASSERT_FALSE(run.ok());
    expect_words(run.error(), "stopped");
  }
}

/// A result that cannot be true is told, and never shown.
TEST_F(EngineSeam, AFullSimulationThatFliesApartHasNoResult) {
  SimulateSettings settings = half_a_second();
  settings.gravity = Vec3(0, -1e7, 0);
  const auto run = full()->simulate(clip(), settings);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::input);  // what was asked for is the fault: exit code 3
  expect_words(run.error(), "so it has no result");
  expect_words(run.error(), clip().name);
}

// ---- assets ---------------------------------------------------------------------------------------------------------

TEST_F(EngineSeam, TheFullModelComesBackWithTheSameBytes) {
  const std::string bytes = encode_asset(full()->asset()).value();
  ASSERT_TRUE(write_file_atomically(folder() / "full.supple", bytes).ok());
  const Asset asset = load_asset(folder() / "full.supple").value();
  ASSERT_TRUE(std::holds_alternative<FullModel>(asset));
  EXPECT_EQ(encode_asset(asset).value(), bytes);
  const Soft loaded = engine_of(asset).value()->take_asset(source(), asset).value();
  EXPECT_EQ(compare_engines(*loaded, *full(), clip(), half_a_second()).value().error, 0);
}

TEST_F(EngineSeam, AnAssetSaysWhatItHolds) {
  const auto save = [&](const char* name, const Asset& asset) {
    const std::filesystem::path path = folder() / name;
    EXPECT_TRUE(write_file_atomically(path, encode_asset(asset).value()).ok());
    return path;
  };
  const std::filesystem::path character = save("a.supple", reduced()->asset()),
                              whole = save("b.supple", full()->asset());
  EXPECT_TRUE(load_asset_of<CharacterAsset>(character).ok());
  EXPECT_TRUE(load_asset_of<FullModel>(whole).ok());
  expect_words(load_asset_of<SubspaceModel>(character).error(),
               "a.supple: the asset holds a character's soft tissue, but a deformable object is wanted here");
  expect_words(load_asset_of<CharacterAsset>(whole).error(), "holds the full simulation of a character");
  expect_words(find_engine("full").value()->take_asset(source(), load_asset(character).value()).error(),
               "the engine \"full\" wants");
  expect_words(find_engine("posespace").value()->take_asset(source(), load_asset(whole).value()).error(),
               "the engine \"posespace\" wants");
  expect_words(engine_of(Asset(SubspaceModel())).error(), "holds a deformable object, but a character is wanted");
  EXPECT_FALSE(load_asset(folder() / "x.glb").ok());
  EXPECT_FALSE(load_asset(folder() / "missing.supple").ok());
}

/// Whatever stands in the arrays, a decoder says what is wrong with it or gives a model that fits together.
TEST_F(EngineSeam, DamagedModelsAreRefusedOrSound) {
  const std::string whole = encode_asset(full()->asset()).value();
  std::size_t refused = 0;
  for (std::size_t at = 64; at < whole.size(); at += whole.size() / 300) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    EXPECT_FALSE(Archive::parse(std::as_bytes(std::span(bytes)), "damaged").ok());
    stamp_checksum(bytes);
    const Result<Archive> archive = Archive::parse(std::as_bytes(std::span(bytes)), "damaged");
    if (!archive.ok()) continue;
    const Result<Asset> asset = decode_asset(*archive);
    refused += !asset.ok();
    if (!asset.ok()) continue;
    const auto& model = std::get<FullModel>(*asset);
    for (const auto& tet : model.mesh.elements)
      for (const Index v : tet) ASSERT_TRUE(v >= 0 && v < model.vertex_count());
    for (const auto& nodes : model.surface_vertex)
      for (const Index v : nodes) ASSERT_TRUE(v >= 0 && v < model.vertex_count());
  }
  EXPECT_GT(refused, 10u);
}

TEST_F(EngineSeam, AnAssetOfAnotherCharacterIsRefused) {
  ASSERT_TRUE(write_character(folder() / "other.glb", make_character(make_x_shape(), 400)).ok());
  const auto other = std::make_shared<const CharacterSource>(load_source(folder() / "other.glb").value());
  for (const Soft* soft : {&reduced(), &full()}) {
    const Asset asset = (*soft)->asset();
    expect_words(engine_of(asset).value()->take_asset(other, asset).error(), "build it again");
  }
}

/// As many vertices and the same joints, and yet another character.
TEST_F(EngineSeam, AnAssetSaysWhatDiffersInTheCharacter) {
  const RawCharacter own = make_character(make_x_shape(), 600);
  const std::vector<std::pair<std::string, std::function<void(RawCharacter&)>>> changes = {
      {"triangles",
       [](RawCharacter& c) {
         std::reverse(c.meshes[0].surface.triangles.begin(), c.meshes[0].surface.triangles.end());
       }},
      {"shape",
       [](RawCharacter& c) {
         for (Vec3& x : c.meshes[0].surface.vertices) x *= 2;
       }},
      {"inverse bind matrices", [](RawCharacter& c) { c.skins[0].inverse_bind[0].translation().x() += 0.01; }},
      {"skeleton at rest", [](RawCharacter& c) { c.skeleton.joints.back().rest.translation.y() += 0.01; }}};
  for (const auto& [what, change] : changes) {
    RawCharacter character = own;
    change(character);
    ASSERT_TRUE(write_character(folder() / "changed.glb", character).ok());
    Recipe changed = recipe();
    changed.input = "changed.glb";
    const auto other = std::make_shared<const CharacterSource>(load_source(changed, folder()).value());
    for (const Soft* soft : {&reduced(), &full()}) {
      const Asset asset = (*soft)->asset();
      const auto taken = engine_of(asset).value()->take_asset(other, asset);
      ASSERT_FALSE(taken.ok()) << what;
      expect_words(taken.error(), what);
      EXPECT_EQ(taken.error().kind, ErrorKind::input);
    }
  }
}

// ---- one road, one read ---------------------------------------------------------------------------------------------

BakeSettings quick_bake() {
  BakeSettings settings;
  settings.rate = 12;
  settings.simulate.to = 0.5;
  settings.loops = LoopChoice::none;
  return settings;
}

/// From the moment a source is loaded its file has no influence: not on the build, not on what is written.
TEST_F(EngineSeam, TheFileIsReadOnce) {
  const std::filesystem::path file = folder() / "once.glb";
  std::filesystem::copy_file(folder() / "x.glb", file);
  Recipe own = recipe();
  own.input = "once.glb";
  const auto bake = [&](bool replaced, const char* output) {
    const auto loaded = std::make_shared<const CharacterSource>(load_source(own, folder()).value());
    if (replaced) std::ofstream(file) << "something else";
    const Soft soft = find_engine("posespace").value()->build(loaded).value();
    const Result<BakeReport> report = bake_character(*soft, folder() / output, quick_bake());
    EXPECT_TRUE(report.ok()) << report.error().message;
    return read_file(folder() / output).value();
  };
  const std::string before = bake(false, "before.glb"), after = bake(true, "after.glb");
  EXPECT_EQ(before, after);
}

TEST_F(EngineSeam, AFileWithoutARecipeFollowsTheFirstOne) {
  const CharacterSource bare = load_source(folder() / "x.glb").value();
  EXPECT_EQ(bare.recipe, first_recipe(bare.file, "x.glb"));
  EXPECT_EQ(bare.character.clips.size(), bare.file.character.clips.size());
  EXPECT_EQ(bare.folder, folder());
}

TEST_F(EngineSeam, BakedFramesAreThoseOfTheEngine) {
  const Result<BakeReport> baked = bake_character(*full(), folder() / "full.glb", quick_bake());
  ASSERT_TRUE(baked.ok()) << baked.error().message;
  const EngineComparison seen = compare_engines(*full(), *full(), clip(), quick_bake().simulate, 12).value();
  ASSERT_FALSE(baked->clips.empty());
  EXPECT_NEAR(baked->clips[0].simulated_peak / baked->height, seen.run.peak, 1e-9);
  EXPECT_NEAR(baked->clips[0].peak, baked->clips[0].simulated_peak, 1.1 * baked->glb.compression.tolerance);
  EXPECT_GT(baked->clips[0].energy, 0);
  EXPECT_TRUE(baked->glb.compression.within_tolerance());
}

/// A file of one target shows less than was simulated; what is told of it is what its reader finds.
TEST_F(EngineSeam, TheMotionThatIsToldIsThatOfTheFile) {
  for (const bool bones : {false, true}) {
    BakeSettings settings = quick_bake();
    settings.output.compression.most_targets = 2;
    settings.output.helper_bones = bones;
    settings.output.bones.most_bones = 1;
    const Result<BakeReport> baked = bake_character(*full(), folder() / "few.glb", settings);
    ASSERT_TRUE(baked.ok()) << baked.error().message;
    const RawCharacter source = read_character(load_gltf(folder() / "x.glb").value()).value();
    const RawCharacter written = read_character(load_gltf(folder() / "few.glb").value()).value();
    const CharacterRig rigid = CharacterRig::create(source).value(), soft = CharacterRig::create(written).value();
    double peak = 0;
    for (const double time : {0.0, 1 / 12.0, 2 / 12.0, 3 / 12.0, 4 / 12.0, 5 / 12.0, 6 / 12.0}) {
      const std::vector<Vec3> a = rig_positions(source, rigid, 0, time), b = rig_positions(written, soft, 0, time);
      const std::vector<Index>&from = source.meshes[0].welded_vertex[0], &to = written.meshes[0].welded_vertex[0];
      ASSERT_EQ(from.size(), to.size());
      for (std::size_t i = 0; i < from.size(); ++i)
        peak = std::max(peak, (b[to_size(to[i])] - a[to_size(from[i])]).norm());
    }
    const BakedClipReport& told = baked->clips.at(0);
    EXPECT_NEAR(told.peak, peak, 1e-4 * peak);
    EXPECT_LT(told.rms, 0.98 * told.simulated_rms);
  }
}

/// With a complete basis a run in it is the full simulation: whatever pose the character takes, to the solver's
/// tolerance.
TEST_F(EngineSeam, ARunInACompleteBasisIsTheTruth) {
  Recipe small = recipe();
  small.tets = 150;
  const BuiltCharacter built = build_character(small, folder()).value();
  const ElasticBody body = ElasticBody::create(built.reduced.mesh, built.reduced.model->material).value();
  const FreeVertices free = FreeVertices::create(body, built.reduced.fixed).value();
  CompareSettings settings;
  settings.most_seconds = 0.3;
  settings.simulate.iterations = 4;
  FullComparison comparison(built, built.character().clips.front(), settings);
  CompareReport report;
  ASSERT_TRUE(comparison.run_full(report).ok());
  EXPECT_GT(report.peak, 1e-5);
  ReducedBody complete = built.reduced;
  complete.basis = MatX::Zero(body.dof_count(), 3 * free.count());
  for (Index k = 0; k < free.count(); ++k)
    for (Index i = 0; i < 3; ++i) complete.basis(3 * free.vertices()[to_size(k)] + i, 3 * k + i) = 1;
  EXPECT_LT(comparison.error_in_basis(complete).value(), 1e-6);
  ReducedBody half = complete;
  half.basis = complete.basis.leftCols(complete.basis.cols() / 2).eval();
  EXPECT_GT(comparison.error_in_basis(half).value(), 1e-2);
}

}  // namespace
}  // namespace supple::engine_test
