// SPDX-License-Identifier: Apache-2.0
// What moves a character comes back from its archive to the last bit, and damaged arrays of it are refused.
#include "supple/asset/drive_archive.h"

#include "support/memory_archive.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::drive_archive_test {
namespace {

RawCharacter tube() {
  RawCharacter character = make_tube(4, 9, 8, 1.0, 0.1, 3);
  CharacterMesh& mesh = character.meshes[0];
  for (const char* name : {"bulge", "bent"}) {
    MorphTarget target{name, std::vector<Vec3>(mesh.surface.vertices.size(), Vec3::Zero())};
    for (std::size_t v = 20; v < 40; ++v) target.displacements[v] = 0.1 * mesh.surface.vertices[v];
    mesh.targets.push_back(target);
    mesh.default_target_weights.push_back(0.25);
  }
  mesh.welded_vertex = {{3, 3, 1, 0}, {}, {7}};
  CharacterMesh hat;  // without a skin: it moves with its joint
  hat.name = "hat";
  hat.node = 2;
  hat.file_mesh = 1;
  hat.surface.vertices = {Vec3(0, 1, 0), Vec3(0.1, 1, 0), Vec3(0, 1, 0.1)};
  hat.surface.triangles = {{0, 1, 2}};
  hat.welded_vertex = {{2, 1, 0}};
  character.meshes.push_back(hat);
  Affine sheared = Affine::Identity();
  sheared.linear()(0, 1) = 0.5;
  character.skeleton.joints.push_back({"sheared", 0, {}, sheared});
  return character;
}

std::vector<NamedPose> bent_pose(const RawCharacter& character) {
  Pose locals = rest_pose(character.skeleton);
  locals[1].rotation = Quat(Eigen::AngleAxisd(0.8, Vec3::UnitX()));
  return {{"bent", locals, true}, {"rest", rest_pose(character.skeleton), false}};
}

std::string encoded(const CharacterDrive& drive) {
  ArchiveWriter writer("test");
  EXPECT_TRUE(DriveArchive::write(writer, drive).ok());
  return writer.bytes();
}

std::shared_ptr<const CharacterDrive> decoded(const std::string& bytes) {
  std::vector<double> storage;
  const Result<Archive> archive = parse_archive(bytes, storage);
  if (!archive.ok()) return nullptr;
  ArchiveReader reader(*archive);
  return DriveArchive::read(reader);
}

Pose random_locals(const Skeleton& skeleton, std::mt19937& random) {
  std::normal_distribution<double> number;
  Pose locals = rest_pose(skeleton);
  for (Transform& local : locals) {
    local.rotation = Quat(number(random), number(random), number(random), number(random)).normalized();
    local.translation += 0.1 * Vec3(number(random), number(random), number(random));
  }
  return locals;
}

void expect_same_poses(const CharacterRig& a, const CharacterRig& b) {
  std::mt19937 random(3);
  for (int round = 0; round < 5; ++round) {
    const Pose locals = random_locals(a.skeleton(), random);
    CharacterPose one = a.neutral(), other = b.neutral();
    a.set_joints(locals, one);
    b.set_joints(locals, other);
    EXPECT_EQ(one.p, other.p);
    EXPECT_EQ(one.placement.translation, other.placement.translation);
    EXPECT_EQ(one.placement.rotation.coeffs(), other.placement.rotation.coeffs());
    EXPECT_EQ(evaluate_all(*a.rig(), one.p), evaluate_all(*b.rig(), other.p));
  }
}

void expect_same_drive(const CharacterDrive& drive) {
  const std::string bytes = encoded(drive);
  const std::shared_ptr<const CharacterDrive> loaded = decoded(bytes);
  ASSERT_TRUE(loaded);
  expect_same_poses(drive.rig, loaded->rig);
  ASSERT_EQ(drive.played.has_value(), loaded->played.has_value());
  if (drive.played) expect_same_poses(*drive.played, *loaded->played);
  ASSERT_EQ(loaded->meshes.size(), 2u);
  for (std::size_t m = 0; m < 2; ++m) {
    EXPECT_EQ(loaded->meshes[m].name, drive.meshes[m].name);
    EXPECT_EQ(loaded->meshes[m].node, drive.meshes[m].node);
    EXPECT_EQ(loaded->meshes[m].file_mesh, drive.meshes[m].file_mesh);
    EXPECT_EQ(loaded->meshes[m].first_vertex, drive.meshes[m].first_vertex);
    EXPECT_EQ(loaded->meshes[m].file_vertices, drive.meshes[m].file_vertices);
  }
  EXPECT_EQ(loaded->triangles, drive.triangles);
  EXPECT_EQ(loaded->skin.weights.first, drive.skin.weights.first);
  EXPECT_EQ(loaded->skin.weights.joint, drive.skin.weights.joint);
  EXPECT_EQ(loaded->metres_per_unit, drive.metres_per_unit);
  ASSERT_EQ(drive.pose_morphs.has_value(), loaded->pose_morphs.has_value());
  EXPECT_EQ(encoded(*loaded), bytes);
}

TEST(DriveArchive, SkinnedCharactersComeBack) {
  const RawCharacter character = tube();
  const auto drive =
      make_character_drive(character, CharacterRig::create(character).value(), bent_pose(character), 0.01).value();
  EXPECT_FALSE(drive->played);
  ASSERT_TRUE(drive->pose_morphs);
  EXPECT_EQ(drive->pose_morphs->followers().size(), 1u);
  expect_same_drive(*drive);
}

TEST(DriveArchive, OtherRigsComeBackWithTheOneThatIsPlayed) {
  const RawCharacter character = tube();
  CharacterRigSettings dual, wires;
  dual.method = SkinningMethod::dual_quaternion;
  wires.wires = {{"lower", {0, 1}}, {"upper", {1, 2, 3}}};
  for (const CharacterRigSettings& settings : {dual, wires}) {
    const CharacterRig rig = CharacterRig::create(character, settings).value();
    const auto drive = make_character_drive(character, rig, bent_pose(character)).value();
    EXPECT_TRUE(drive->played);
    EXPECT_TRUE(drive->pose_morphs);
    expect_same_drive(*drive);
  }
}

TEST(DriveArchive, MorphsFollowPoses) {
  const RawCharacter character = tube();
  const CharacterRig rig = CharacterRig::create(character).value();
  const auto morphs = PoseMorphs::create(rig, bent_pose(character)).value();
  ASSERT_TRUE(morphs);
  const Index place = morphs->followers()[0].place;
  std::vector<double> scratch(4);
  CharacterPose pose = rig.neutral();
  const auto weight = [&](double angle, char held) {
    Pose locals = rest_pose(character.skeleton);
    locals[1].rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitX()));
    rig.set_joints(locals, pose);
    pose.p[to_size(place)] = 7;
    morphs->apply(pose.p, std::span(&held, 1), scratch);
    return pose.p[to_size(place)];
  };
  EXPECT_NEAR(weight(0.8, 0), 1, 1e-12);
  EXPECT_NEAR(weight(0.4, 0), 0.5, 1e-12);  // biharmonic: straight between two poses
  EXPECT_NEAR(weight(0, 0), 0, 1e-12);
  EXPECT_EQ(weight(0.8, 1), 7);
}

/// A correction with a reach is added to the others: it is a bump around its pose, and they are as without it.
// A clip ends where a file's floats have it, which is not quite where steps of a thirtieth of a second do.
TEST(DriveArchive, KeysOfFollowingMorphsAscendInAFile) {
  const RawCharacter character = tube();
  const CharacterRig rig = CharacterRig::create(character).value();
  const auto morphs = PoseMorphs::create(rig, bent_pose(character)).value();
  ASSERT_TRUE(morphs);
  Clip clip;
  clip.duration = static_cast<double>(1.2f);
  Channel& turn = clip.channels.emplace_back();
  turn.joint = 1;
  turn.target = ChannelTarget::rotation;
  turn.times = {0, clip.duration};
  turn.values = {0, 0, 0, 1, 0, 0, 0, 1};
  morphs->add_channels(rig, 30, clip);
  ASSERT_EQ(clip.channels.size(), 2u);
  const std::vector<double>& times = clip.channels.back().times;
  ASSERT_EQ(times.size(), 37u);
  for (std::size_t k = 1; k < times.size(); ++k)
    EXPECT_LT(static_cast<float>(times[k - 1]), static_cast<float>(times[k])) << k;
}

TEST(DriveArchive, MorphsThatReachSoFarLeaveTheOthersAlone) {
  const RawCharacter character = tube();
  const CharacterRig rig = CharacterRig::create(character).value();
  const std::vector<NamedPose> alone = bent_pose(character);
  std::vector<NamedPose> poses = alone;
  NamedPose half = poses.front();
  half.locals = rest_pose(character.skeleton);
  half.locals[1].rotation = Quat(Eigen::AngleAxisd(0.5, Vec3::UnitX()));
  half.joints = {1};
  half.reach = 0.2;
  const auto without = PoseMorphs::create(rig, alone).value();
  poses.push_back(half);
  const auto both = PoseMorphs::create(rig, poses).value();
  poses.erase(poses.begin());
  const auto only = PoseMorphs::create(rig, poses).value();
  ASSERT_TRUE(without && both && only);
  ASSERT_EQ(both->followers().size(), 2u);
  EXPECT_EQ(both->weights().pose_count(), without->weights().pose_count());
  CharacterPose pose = rig.neutral();
  const auto weight = [&](const PoseMorphs& morphs, double angle, double other) {
    std::vector<double> scratch(morphs.scratch_size());
    Pose locals = rest_pose(character.skeleton);
    locals[1].rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitX()));
    locals[2].rotation = Quat(Eigen::AngleAxisd(other, Vec3::UnitZ()));
    rig.set_joints(locals, pose);
    const char held[2] = {0, 0};
    morphs.apply(pose.p, std::span(held).first(morphs.followers().size()), scratch);
    return pose.p[to_size(morphs.followers().back().place)];
  };
  for (const double other : {0.0, 1.5}) {
    EXPECT_NEAR(weight(*only, 0.5, other), 1, 1e-12);
    EXPECT_NEAR(weight(*only, 0.6, other), std::pow(0.75, 3), 1e-9);  // half of its reach away
    EXPECT_NEAR(weight(*only, 0.4, other), std::pow(0.75, 3), 1e-9);
    EXPECT_EQ(weight(*only, 0.29, other), 0);
    EXPECT_EQ(weight(*only, 0.71, other), 0);
    EXPECT_EQ(weight(*only, 0, other), 0);
  }
  const auto drive = make_character_drive(character, rig, poses).value();
  expect_same_drive(*drive);
  const auto again = decoded(encoded(*drive));
  ASSERT_TRUE(again->pose_morphs);
  EXPECT_TRUE(again->pose_morphs->local_spaces().at(0).alone);
  EXPECT_EQ(weight(*again->pose_morphs, 0.6, 0), weight(*only, 0.6, 0));
}

/// A correction that names its joint looks at nothing else, and fades on the far side of rest and beyond its pose.
TEST(DriveArchive, MorphsFollowTheirJointAlone) {
  const RawCharacter character = tube();
  const CharacterRig rig = CharacterRig::create(character).value();
  std::vector<NamedPose> poses = bent_pose(character);
  poses.resize(1);
  poses[0].joints = {1};
  const auto morphs = PoseMorphs::create(rig, poses).value();
  ASSERT_TRUE(morphs);
  ASSERT_EQ(morphs->local_spaces().size(), 1u);
  std::vector<double> scratch(morphs->scratch_size());
  CharacterPose pose = rig.neutral();
  const auto weight = [&](double angle, double other) {
    Pose locals = rest_pose(character.skeleton);
    locals[1].rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitX()));
    locals[2].rotation = Quat(Eigen::AngleAxisd(other, Vec3::UnitZ()));
    rig.set_joints(locals, pose);
    const char held = 0;
    morphs->apply(pose.p, std::span(&held, 1), scratch);
    return pose.p[to_size(morphs->followers()[0].place)];
  };
  for (const double other : {0.0, 1.5}) {
    EXPECT_NEAR(weight(0, other), 0, 1e-9);
    EXPECT_NEAR(weight(0.4, other), 0.5, 1e-9);
    EXPECT_NEAR(weight(0.8, other), 1, 1e-9);
    EXPECT_NEAR(weight(1.2, other), 0.5, 1e-9);
    EXPECT_NEAR(weight(-0.8, other), 0, 1e-9);
  }
  const auto drive = make_character_drive(character, rig, poses).value();
  expect_same_drive(*drive);
  const auto again = decoded(encoded(*drive));
  ASSERT_TRUE(again->pose_morphs);
  EXPECT_EQ(again->pose_morphs->local_spaces().at(0).joints, std::vector<Index>{1});
  EXPECT_EQ(again->pose_morphs->local_spaces()[0].reach, morphs->local_spaces()[0].reach);
}

TEST(DriveArchive, DamagedFilesAreRefusedOrReadButNeverCrash) {
  const RawCharacter character = tube();
  CharacterRigSettings wires;
  wires.wires = {{"lower", {0, 1}}, {"upper", {1, 2, 3}}};
  const CharacterRig rig = CharacterRig::create(character, wires).value();
  const std::string whole = encoded(*make_character_drive(character, rig, bent_pose(character)).value());
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    // Small counts and indices are where harm can be done; the table and the header, too.
    const std::size_t at = 64 + random() % (bytes.size() - 64);
    bytes[at] = static_cast<char>(random());
    stamp_checksum(bytes);
    const std::shared_ptr<const CharacterDrive> loaded = decoded(bytes);
    if (!loaded) {
      ++refused;
      continue;
    }
    CharacterPose pose = loaded->rig.neutral();
    loaded->rig.set_joints(rest_pose(loaded->rig.skeleton()), pose);
    evaluate_all(*loaded->rig.rig(), pose.p);
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace supple::drive_archive_test
