// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/character_archive.h"

#include "supple/asset/rig_archive.h"
#include "supple/io/file.h"
#include "supple/offline/patches/patches.h"
#include "supple/rig/deform/carried_rig.h"
#include "support/memory_archive.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>

namespace supple::character_archive_test {
namespace {

// ---- rigs -----------------------------------------------------------------------------------------------------------

/// What comes back of the chosen vertices is where they were, to the last bit, in any pose.
void expect_same_rig(const std::shared_ptr<const Rig>& rig) {
  std::vector<Index> chosen;
  for (Index v = rig->vertex_count() - 1; v >= 0; v -= 3) chosen.push_back(v);
  ArchiveWriter writer("test");
  ASSERT_TRUE(RigArchive::write(writer, "rest", *rig, chosen).ok());
  std::vector<double> storage;
  const Result<Archive> archive = parse_archive(writer.bytes(), storage);
  ASSERT_TRUE(archive.ok());
  ArchiveReader reader(*archive);
  const std::shared_ptr<const Rig> loaded = RigArchive::read(reader, "rest");
  ASSERT_TRUE(loaded) << reader.status().error().message;
  ASSERT_EQ(loaded->vertex_count(), static_cast<Index>(chosen.size()));
  ASSERT_EQ(loaded->layout().neutral, rig->layout().neutral);
  for (std::size_t g = 0; g < rig->layout().groups.size(); ++g) {
    const ParameterGroup &a = rig->layout().groups[g], &b = loaded->layout().groups[g];
    EXPECT_TRUE(a.name == b.name && a.kind == b.kind && a.first == b.first && a.unit == b.unit && a.scale == b.scale);
  }
  std::mt19937 random(1);
  std::vector<Vec3> here(chosen.size());
  for (int round = 0; round < 5; ++round) {
    const std::vector<double> p = random_pose(rig->layout(), random);
    rig->evaluate(p, chosen, here, *rig->make_workspace(rig->vertex_count()));
    EXPECT_EQ(evaluate_all(*loaded, p), here);
  }
}

RawCharacter tube_with_shapes() {
  RawCharacter tube = make_tube(4, 9, 8, 1.0, 0.1, 3);
  MorphTarget bulge{"bulge", std::vector<Vec3>(tube.meshes[0].surface.vertices.size(), Vec3::Zero())};
  for (std::size_t v = 20; v < 40; ++v) bulge.displacements[v] = 0.1 * tube.meshes[0].surface.vertices[v];
  tube.meshes[0].targets.push_back(bulge);
  tube.meshes[0].default_target_weights.push_back(0.25);
  return tube;
}

TEST(RigArchive, SkinsAndMorphTargetsComeBack) {
  const RawCharacter tube = tube_with_shapes();
  expect_same_rig(CharacterRig::create(tube).value().rig());
  CharacterRigSettings settings;
  settings.method = SkinningMethod::dual_quaternion;
  settings.all_translations = true;
  expect_same_rig(CharacterRig::create(tube, settings).value().rig());
}

TEST(RigArchive, WiresComeBack) {
  CharacterRigSettings settings;
  settings.wires = {{"lower", {0, 1}}, {"upper", {1, 2, 3}}};
  expect_same_rig(CharacterRig::create(make_tube(4, 9, 8, 1.0, 0.1, 3), settings).value().rig());
}

TEST(RigArchive, BendsComeBack) {
  const RawCharacter tube = make_tube(4, 9, 8, 1.0, 0.1, 3);
  expect_same_rig(std::make_shared<StackRig>(tube.meshes[0].surface.vertices,
                                             std::vector<DeformerPtr>{std::make_shared<Bend>(
                                                 Bend::Settings{"bend", {0, 0.1, 0}, {0, 1, 0}, {1, 0, 0}, 0.7})}));
}

TEST(RigArchive, CorrectionsAndCarriedPointsComeBack) {
  CharacterRig rig = CharacterRig::create(tube_with_shapes()).value();
  std::mt19937 random(7);
  std::vector<PoseCorrection> corrections;
  for (int k = 0; k < 2; ++k) {
    PoseCorrection correction{random_pose(rig.rig()->layout(), random), {}};
    for (Index v = 0; v < rig.rig()->vertex_count(); ++v)
      correction.displacements.push_back(v % 2 == 0 ? Vec3(0.01 * k, 0.002 * v, -0.01) : Vec3(0, 0, 0));
    corrections.push_back(correction);
  }
  ASSERT_TRUE(rig.correct(corrections).ok());
  expect_same_rig(rig.rig());
  SurfaceCarry carry;
  std::vector<Vec3> inside;
  for (Index v = 0; v < 30; ++v) {
    carry.vertex.push_back({v, v + 7, v + 11, v + 30});
    carry.weight.push_back({0.5, 0.4, 0.3, -0.2});
    inside.emplace_back(0.01 * v, 0.02 * v, 0.0);
  }
  expect_same_rig(std::make_shared<CarriedRig>(rig.rig(), carry, inside));
}

TEST(RigArchive, AUsersOwnFunctionIsRefused) {
  const auto own = std::make_shared<CallbackDeformer>(PoseLayout{}, [](auto, auto, auto) {});
  const StackRig rig({Vec3(0, 0, 0)}, {own});
  ArchiveWriter writer("test");
  const std::vector<Index> vertices = {0};
  const Status written = RigArchive::write(writer, "rest", rig, vertices);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::input);
}

// ---- characters -----------------------------------------------------------------------------------------------------

CharacterAsset asset_of(const ReducedBody& reduced) {
  CharacterAsset asset;
  asset.name = "limb";
  asset.model = reduced.model;
  asset.flesh_frequency = reduced.flesh_frequency;
  asset.damping = 0.3;
  asset.facts = {
      static_cast<Index>(reduced.mesh.elements.size()), 7, 5, 2e4, 0.01, 0.03, 0.02, reduced.frequencies, {"a", "b"}};
  asset.facts.poses = {{"neutral", -1, 0, 0, 0, 0, 0}, {"knee bent", 0, 0.25, 1.5, 3, 1, 0.004}};
  return asset;
}

ReduceSettings several_poses(const SoftLimb& limb) {
  ReduceSettings settings = small_reduction();
  for (const double knee : {1.2, -1.0}) settings.poses.push_back({limb_pose(limb, {{}, knee, 0.3 * knee}).p, {}});
  return settings;
}

ReduceSettings local_bases(const SoftLimb& limb) {
  ReduceSettings settings = several_poses(limb);
  const std::vector<PatchHandle> handles = {{"low", {Vec3(0, 0.1, 0)}, {}}, {"high", {Vec3(0, 0.9, 0)}, {}}};
  settings.patches = make_patches(limb.body.mesh, handles).value().patches;
  for (Patch& patch : settings.patches) patch.modes = 6;
  return settings;
}

Result<CharacterAsset> reloaded(const std::string& bytes) {
  std::vector<double> storage;
  const Result<Archive> archive = parse_archive(bytes, storage);
  SUPPLE_RETURN_IF_ERROR(archive);
  return decode_character(*archive);
}

struct Shown {
  std::vector<std::vector<float>> q;
  std::vector<Vec3> displacements;
};

/// Steps a lively motion; displacements of a few of its frames.
Shown run(const SoftLimb& limb, const std::shared_ptr<const PoseSpaceModel>& model) {
  PoseSpaceSettings settings;
  settings.stiffness_damping = 0.002;
  auto dynamics = PoseSpaceDynamics<float>::create(model, settings).value();
  Shown shown;
  std::vector<Vec3> u(to_size(model->surface.vertex_count()));
  for (int k = 0; k < 120; ++k) {
    const CharacterPose pose = limb_pose(limb, lively(k / 240.0));
    dynamics.step(pose.placement, pose.p);
    const auto q = dynamics.coordinates();
    shown.q.emplace_back(q.begin(), q.end());
    if (k % 20 != 19) continue;
    dynamics.surface_displacements(pose.placement, pose.p, q, u);
    shown.displacements.insert(shown.displacements.end(), u.begin(), u.end());
  }
  return shown;
}

void expect_same_character(const SoftLimb& limb, const ReduceSettings& settings) {
  const CharacterAsset asset = asset_of(reduce_limb(limb, settings));
  const Result<std::string> bytes = encode_character(asset);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  const Result<CharacterAsset> loaded = reloaded(*bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Shown before = run(limb, asset.model), after = run(limb, loaded->model);
  EXPECT_EQ(before.q, after.q);  // to the last bit
  double largest = 0, off = 0;
  for (std::size_t k = 0; k < before.displacements.size(); ++k) {
    largest = std::max(largest, before.displacements[k].norm());
    off = std::max(off, (before.displacements[k] - after.displacements[k]).norm());
  }
  EXPECT_GT(largest, 1e-3);
  EXPECT_GT(off, 0);
  // Surfaces are stored, and those of several poses stepped, in half precision.
  EXPECT_LT(off, 5e-4 * largest);
  EXPECT_EQ(encode_character(*loaded).value(), *bytes);
}

TEST(CharacterArchive, StepsWithTheSameBits) { expect_same_character(make_soft_limb(), small_reduction()); }

TEST(CharacterArchive, SeveralPosesStepWithTheSameBits) {
  const SoftLimb limb = make_soft_limb();
  expect_same_character(limb, several_poses(limb));
}

TEST(CharacterArchive, LocalBasesStepWithTheSameBits) {
  const SoftLimb limb = make_soft_limb();
  expect_same_character(limb, local_bases(limb));
}

TEST(CharacterArchive, SharedBasesStepWithTheSameBits) {
  // Only the ankle is bent: what is far from it is the same in all poses.
  const SoftLimb limb = make_soft_limb();
  ReduceSettings settings = local_bases(limb);
  settings.poses.clear();
  for (const double ankle : {0.5, -0.5}) settings.poses.push_back({limb_pose(limb, {{}, 0, ankle}).p, {}});
  const ReducedBody reduced = reduce_limb(limb, settings);
  const ColumnSources& sources = reduced.model->sources;
  ASSERT_FALSE(sources.poses.empty());
  const std::vector<Index>& bent = sources.poses.back();
  EXPECT_EQ(std::count(bent.begin(), bent.end(), 0), 6);
  const std::size_t shared = encode_character(asset_of(reduced)).value().size();
  PoseSpaceModel apart = *reduced.model;
  apart.sources = {}, apart.gradient_sources = {};
  CharacterAsset asset = asset_of(reduced);
  asset.model = std::make_shared<const PoseSpaceModel>(std::move(apart));
  EXPECT_LT(shared, encode_character(asset).value().size());
  expect_same_character(limb, settings);
}

TEST(CharacterArchive, KeepsWhatIsKnown) {
  const SoftLimb limb = make_soft_limb();
  ReduceSettings settings = small_reduction(4);
  settings.directions = BasisDirections::world;
  const CharacterAsset asset = asset_of(reduce_limb(limb, settings));
  const CharacterAsset loaded = reloaded(encode_character(asset).value()).value();
  EXPECT_EQ(loaded.name, "limb");
  EXPECT_EQ(loaded.flesh_frequency, asset.flesh_frequency);
  EXPECT_EQ(loaded.damping, 0.3);
  EXPECT_EQ(loaded.facts.tets, asset.facts.tets);
  EXPECT_EQ(loaded.facts.vertices, 7);
  EXPECT_EQ(loaded.facts.held_vertices, 5);
  EXPECT_EQ(loaded.facts.inertial_error, 0.02);
  EXPECT_EQ(loaded.facts.frequencies, asset.facts.frequencies);
  EXPECT_EQ(loaded.facts.warnings, asset.facts.warnings);
  ASSERT_EQ(loaded.facts.poses.size(), 2U);
  EXPECT_EQ(loaded.facts.poses[0].parent, -1);
  const PoseFacts& bent = loaded.facts.poses[1];
  EXPECT_EQ(bent.name, "knee bent");
  EXPECT_EQ(bent.parent, 0);
  EXPECT_EQ(bent.angle, 0.25);
  EXPECT_EQ(bent.largest_angle, 1.5);
  EXPECT_EQ(bent.inverted_before, 3);
  EXPECT_EQ(bent.inverted, 1);
  EXPECT_EQ(bent.fit_error, 0.004);
  EXPECT_EQ(loaded.model->material, asset.model->material);
  EXPECT_EQ(loaded.model->directions, BasisDirections::world);
  EXPECT_EQ(loaded.model->height, asset.model->height);
  EXPECT_EQ(loaded.model->stiffness, asset.model->stiffness);
}

TEST(CharacterArchive, OtherFilesAreRefused) {
  ArchiveWriter writer("subspace");
  const Result<CharacterAsset> other = reloaded(writer.bytes());
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::input);
  EXPECT_NE(other.error().message.find("not a character"), std::string::npos);
  ArchiveWriter empty("character");
  EXPECT_FALSE(reloaded(empty.bytes()).ok());
  EXPECT_FALSE(load_character_asset("/does/not/exist.supple").ok());
}

}  // namespace
}  // namespace supple::character_archive_test
