// SPDX-License-Identifier: Apache-2.0
// The door for characters: what a game relies on. Files in, joints in, displacements out; the same motion at any
// display rate and as baking has it; nothing allocated; bits that continue.
#include "supple/runtime/character.h"

#include "runtime/allocation_counter.h"
#include "supple/asset/character_archive.h"
#include "supple/pipeline/character/simulate_clip.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace supple::character_test {
namespace {

using Floats = std::vector<float>;

/// A limb with models for three poses, a morph target that corrects the bent knee, and seams in its file.
struct LimbFile {
  SoftLimb limb = make_soft_limb();
  CharacterAsset asset;
  std::string bytes;
  std::vector<Index> file_vertices;

  LimbFile() {
    CharacterMesh& mesh = limb.character.meshes[0];
    MorphTarget bulge{"bent", std::vector<Vec3>(mesh.surface.vertices.size(), Vec3::Zero())};
    for (std::size_t v = 0; v < bulge.displacements.size(); ++v)
      if (mesh.surface.vertices[v].x() > 0) bulge.displacements[v] = Vec3(0.02, 0, 0);
    mesh.targets = {bulge, {"smile", std::vector<Vec3>(bulge.displacements.size(), Vec3(0, 0.01, 0))}};
    mesh.default_target_weights = {0, 0.25};
    for (Index v = 0; v < static_cast<Index>(mesh.surface.vertices.size()); v += 2)
      file_vertices.insert(file_vertices.end(), {v, v});
    mesh.welded_vertex = {file_vertices, {}};
    limb.rig = CharacterRig::create(limb.character).value();
    ReduceSettings settings = small_reduction(16);
    settings.material = MaterialModel::flesh;
    settings.poses = {{limb_pose(limb, {{}, 0.5, 0.1}).p, {}}, {limb_pose(limb, {{}, -0.4, 0.4}).p, {}}};
    const ReducedBody reduced = reduce_limb(limb, settings);
    asset.name = "limb";
    asset.model = reduced.model;
    asset.flesh_frequency = reduced.flesh_frequency;
    asset.damping = 0.1;
    asset.facts.frequencies = reduced.frequencies;
    asset.drive = make_character_drive(limb.character, limb.rig, poses(), 0.01).value();
    bytes = encode_character(asset).value();
  }
  std::vector<NamedPose> poses() const {
    Pose bent = rest_pose(limb.rig.skeleton());
    bent[1].rotation = Quat(Eigen::AngleAxisd(1.0, Vec3::UnitZ()));
    return {{"bent", bent, true}};
  }
};

const LimbFile& limb_file() {
  static const LimbFile file;
  return file;
}

Result<Character> load_bytes(const std::string& bytes) {
  return Character::load(std::as_bytes(std::span(bytes)), "limb.supple");
}

const Character& limb() {
  static const Character character = load_bytes(limb_file().bytes).value();
  return character;
}

CharacterState new_state(const CharacterSettings& settings = {}) {
  return CharacterState::create(limb(), settings).value();
}

JointTransform door_transform(const Transform& local) {
  JointTransform result;
  for (Eigen::Index i = 0; i < 3; ++i) {
    result.translation[to_size(i)] = static_cast<float>(local.translation[i]);
    result.scale[to_size(i)] = static_cast<float>(local.scale[i]);
  }
  for (Eigen::Index i = 0; i < 4; ++i) result.rotation[to_size(i)] = static_cast<float>(local.rotation.coeffs()[i]);
  return result;
}

/// Starts smoothly, turns and swings.
RigidTransform wandering(double time) {
  const double s = std::clamp(time / 0.25, 0.0, 1.0), fade = s * s * s * (10 - 15 * s + 6 * s * s);
  RigidTransform root;
  root.translation = fade * Vec3(0.1 * std::sin(9 * time), 0.05 * std::sin(7 * time), 0.5 * time);
  root.rotation = Quat(Eigen::AngleAxisd(fade * 2 * time, Vec3(1, 3, 0.5).normalized()));
  return root;
}

Pose locals_at(double time) {
  const LimbMotion motion = lively(time, wandering);
  Pose locals = rest_pose(limb_file().limb.rig.skeleton());
  locals[0].translation = motion.root.translation;
  locals[0].rotation = motion.root.rotation;
  locals[1].rotation = Quat(Eigen::AngleAxisd(motion.knee, Vec3::UnitZ()));
  locals[2].rotation = Quat(Eigen::AngleAxisd(motion.ankle, Vec3::UnitX()));
  return locals;
}

void set_pose(CharacterState& state, double time) {
  const Pose locals = locals_at(time);
  for (std::size_t j = 0; j < locals.size(); ++j) state.set_joint(static_cast<int>(j), door_transform(locals[j]));
}

Floats coordinates(const CharacterState& state) {
  Floats q(to_size(limb().coordinate_count()));
  state.coordinates(q);
  return q;
}

Floats displacements(CharacterState& state) {
  Floats u(3 * to_size(limb().vertex_count()));
  state.displacements(u);
  return u;
}

float largest(const Floats& values) {
  float most = 0;
  for (const float x : values) most = std::max(most, std::abs(x));
  return most;
}

float largest_difference(const Floats& a, const Floats& b) {
  float most = a.size() == b.size() ? 0.0F : INFINITY;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

// ---- what is in the file --------------------------------------------------------------------------------------------

TEST(Character, SaysWhatIsInTheFile) {
  const Character& character = limb();
  EXPECT_EQ(character.name(), "limb");
  EXPECT_EQ(character.joint_count(), 3);
  EXPECT_EQ(character.joint_name(1), "joint1");
  EXPECT_EQ(character.find_joint("joint2"), 2);
  EXPECT_EQ(character.find_joint("nobody"), -1);
  EXPECT_EQ(character.joint_parent(2), 1);
  EXPECT_EQ(character.joint_parent(0), -1);
  EXPECT_FLOAT_EQ(character.joint_rest(1).translation[1], 0.4F);
  EXPECT_EQ(character.morph_count(), 2);
  EXPECT_EQ(character.morph_name(1), "limb.smile");
  EXPECT_EQ(character.find_morph("limb.bent"), 0);
  EXPECT_TRUE(character.morph_follows_pose(0));
  EXPECT_FALSE(character.morph_follows_pose(1));
  EXPECT_EQ(character.morph_neutral(1), 0.25);
  EXPECT_EQ(character.coordinate_count(), 16);
  EXPECT_EQ(character.height(), limb_file().asset.model->height);
  EXPECT_EQ(character.metres_per_unit(), 0.01);
  EXPECT_EQ(character.mesh_count(), 1);
  EXPECT_EQ(character.mesh(0).name, "limb");
  EXPECT_EQ(character.mesh(0).vertex_count, character.vertex_count());
  ASSERT_EQ(character.primitive_count(), 2);
  const auto vertices = character.primitive(0).welded_vertex;
  EXPECT_EQ(std::vector<Index>(vertices.begin(), vertices.end()), limb_file().file_vertices);
  EXPECT_TRUE(character.primitive(1).welded_vertex.empty());
  EXPECT_EQ(character.triangles().size(), 3 * limb_file().limb.character.meshes[0].surface.triangles.size());
}

TEST(Character, WrongIndicesAreHarmless) {
  CharacterState state = new_state();
  for (const int index : {-1, 1000}) {
    EXPECT_EQ(limb().joint_name(index), "");
    EXPECT_EQ(limb().morph_name(index), "");
    EXPECT_EQ(limb().mesh(index).vertex_count, 0);
    EXPECT_TRUE(limb().primitive(index).welded_vertex.empty());
    state.set_joint(index, {});
    state.set_morph(index, 1);
    EXPECT_LT(state.reach(index, index, {0, 0, 0}), 0);
  }
  Floats few(4, 7.0F);
  state.positions(few);
  EXPECT_EQ(few[3], 7.0F);
  state.set_joint(1, {.rotation = {NAN, 0, 0, 1}});
  EXPECT_EQ(state.joint(1).rotation[0], 0);
  EXPECT_EQ(state.advance(NAN).steps, 0);
  EXPECT_EQ(state.advance(-1).steps, 0);
}

TEST(Character, OldAndForeignFilesAreRefusedWithASentence) {
  CharacterAsset old = limb_file().asset;
  old.drive = nullptr;
  const Result<Character> refused = load_bytes(encode_character(old).value());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "limb.supple was built by an earlier version and has no skeleton; build it again with `supple build`");
  EXPECT_FALSE(load_bytes("no archive").ok());
  EXPECT_FALSE(load_bytes("").ok());
  EXPECT_FALSE(Character::load("/does/not/exist.supple").ok());
  EXPECT_FALSE(CharacterState::create(limb(), {.time_step = 0}).ok());
}

TEST(Character, SavingWhatWasLoadedGivesTheSameBytes) {
  const std::string& bytes = limb_file().bytes;
  std::vector<double> aligned(bytes.size() / 8 + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const Archive archive =
      Archive::parse({reinterpret_cast<const std::byte*>(aligned.data()), bytes.size()}, "limb").value();
  EXPECT_EQ(encode_character(decode_character(archive).value()).value(), bytes);
}

// ---- motion ---------------------------------------------------------------------------------------------------------

/// Keys of the limb's motion at every step, without its root.
Clip dense_clip(double duration, double step) {
  Clip clip;
  clip.name = "lively";
  clip.duration = duration;
  for (const Index joint : {1, 2}) {
    Channel channel;
    channel.joint = joint;
    channel.target = ChannelTarget::rotation;
    channel.width = 4;
    for (int k = 0; k * step < duration + 1e-9; ++k) {
      const Quat rotation = locals_at(k * step)[to_size(joint)].rotation;
      channel.times.push_back(k * step);
      channel.values.insert(channel.values.end(), rotation.coeffs().begin(), rotation.coeffs().end());
    }
    clip.channels.push_back(std::move(channel));
  }
  return clip;
}

TEST(CharacterState, MovesAsBakingDoes) {
  const double h = 1.0 / 240;
  const LimbFile& file = limb_file();
  const Clip clip = dense_clip(1.0, h);
  const CharacterRig& rig = limb_file().asset.drive->rig;
  SimulateSettings settings;
  settings.damping_ratio = file.asset.damping;
  const SimulatedClip baked = simulate_clip(file.asset.model, file.asset.flesh_frequency, rig, clip, settings).value();
  ASSERT_NEAR(baked.time_step, h, 1e-12);
  const ClipMotion motion(rig, clip, false, file.asset.model->height);
  CharacterState state = new_state();
  state.set_morph(0, 0);  // clips have no weights for it, and hold it
  CharacterPose pose = rig.neutral();
  double off = 0;
  for (Eigen::Index k = 0; k < baked.coordinates.cols(); ++k) {
    motion.sample(baked.start + static_cast<double>(k) * h, pose);
    for (std::size_t j = 0; j < pose.locals.size(); ++j)
      state.set_joint(static_cast<int>(j), door_transform(pose.locals[j]));
    ASSERT_EQ(state.advance(h).steps, 1);
    const Floats q = coordinates(state);
    for (std::size_t c = 0; c < q.size(); ++c)
      off = std::max(off, std::abs(q[c] - baked.coordinates(static_cast<Eigen::Index>(c), k)));
  }
  const double size = baked.coordinates.cwiseAbs().maxCoeff();
  RecordProperty("difference", std::to_string(off / size));
  EXPECT_GT(size, 0);
  EXPECT_LT(off, 2e-3 * size);  // joints go through the door in single precision: 6e-8 / h² is 3e-3 m/s²
}

/// Displacements every sixth of a second, with frames of these lengths, which repeat themselves.
std::vector<Floats> shown_at(std::span<const double> frames) {
  CharacterState state = new_state();
  set_pose(state, 0);
  state.advance(1e-9);
  std::vector<Floats> shown;
  double time = 0;
  for (std::size_t k = 0; shown.size() < 12; ++k) {
    const double next = (std::floor(time * 6 + 1e-6) + 1) / 6, end = std::min(time + frames[k % frames.size()], next);
    const bool shows = end > next - 1e-9;
    set_pose(state, end);
    EXPECT_FALSE(state.advance(end - time).recovered);
    time = shows ? next : end;
    if (shows) shown.push_back(displacements(state));
  }
  return shown;
}

double difference(const std::vector<Floats>& a, const std::vector<Floats>& b) {
  double most = 0, size = 0;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    most = std::max<double>(most, largest_difference(a[k], b[k]));
    size = std::max<double>(size, largest(b[k]));
  }
  return most / size;
}

TEST(CharacterState, AnyDisplayRateGivesTheSameMotion) {
  const double fine[] = {1.0 / 240};
  const std::vector<Floats> truth = shown_at(fine);
  for (const double rate : {30.0, 60.0, 90.0, 144.0, 1000.0}) {
    const double frame[] = {1 / rate};
    const double off = difference(shown_at(frame), truth);
    RecordProperty("at_" + std::to_string(static_cast<int>(rate)), std::to_string(off));
    // Corrections between poses are those of a frame's end: the longer frames are, the less often they are looked up.
    EXPECT_LT(off, rate < 50 ? 0.1 : 0.035) << rate << " Hz";
  }
  // A display of 60 Hz that can't keep its time; and one that is at its wits' end.
  const double jittery[] = {0.0165, 0.014, 0.019, 0.0165, 0.012, 0.021, 0.0175, 0.0155, 0.0185, 0.1};
  const double wild[] = {0.011, 0.019, 0.004, 0.016, 0.033};
  const double off = difference(shown_at(jittery), truth), wilder = difference(shown_at(wild), truth);
  RecordProperty("jittery", std::to_string(off));
  RecordProperty("wild", std::to_string(wilder));
  EXPECT_LT(off, 0.03);
  EXPECT_LT(wilder, 0.15);
}

TEST(CharacterState, PausesAreNoMotion) {
  CharacterState state = new_state();
  for (int k = 0; k < 60; ++k) {
    set_pose(state, k / 60.0);
    state.advance(1.0 / 60);
  }
  const float before = largest(displacements(state));
  set_pose(state, 1.0 + 100);
  EXPECT_EQ(state.advance(100).steps, 60);  // a quarter of a second of them
  EXPECT_LT(largest(displacements(state)), 1.5F * before);
}

TEST(CharacterState, TeleportsLeaveFleshAsItIs) {
  CharacterState cut = new_state(), moved = new_state();
  for (CharacterState* state : {&cut, &moved}) {
    for (int k = 0; k < 30; ++k) state->advance(1.0 / 60);
    if (state == &cut) state->cut();
    state->set_joint(0, {.translation = {20, 0, 0}});
    for (int k = 0; k < 3; ++k) state->advance(1.0 / 60);
  }
  EXPECT_LT(largest(displacements(cut)), 1e-5F);
  EXPECT_GT(largest(displacements(moved)), 1e-3F);
}

TEST(CharacterState, FarFromTheOriginMotionIsTheSame) {
  CharacterState here = new_state(), there = new_state();
  there.set_origin({3e6, -2e6, 1e6});
  Floats a(3 * to_size(limb().vertex_count())), b = a;
  for (int k = 0; k < 60; ++k) {
    for (CharacterState* state : {&here, &there}) {
      set_pose(*state, k / 60.0);
      state->advance(1.0 / 60);
    }
  }
  EXPECT_LT(largest_difference(displacements(here), displacements(there)), 1e-3F * largest(displacements(here)));
  here.positions(a);
  there.positions(b);
  EXPECT_LT(largest_difference(a, b), 1e-5F);
}

TEST(CharacterState, WorldMatricesAreJointsToo) {
  CharacterState local = new_state(), world = new_state();
  const Skeleton& skeleton = limb_file().limb.rig.skeleton();
  for (int k = 0; k < 30; ++k) {
    set_pose(local, k / 60.0);
    const std::vector<Affine> matrices = world_matrices(skeleton, locals_at(k / 60.0));
    Floats numbers;
    for (const Affine& matrix : matrices) {
      Eigen::Matrix4f whole = Eigen::Matrix4f::Identity();
      whole.topRows<3>() = matrix.matrix().cast<float>();
      numbers.insert(numbers.end(), whole.data(), whole.data() + 16);
    }
    world.set_world_matrices(numbers);
    for (CharacterState* state : {&local, &world}) state->advance(1.0 / 60);
  }
  EXPECT_LT(largest_difference(displacements(local), displacements(world)), 5e-3F * largest(displacements(local)));
}

int tip_of_limb() {
  int tip = 0;
  const auto& rest = limb_file().limb.character.meshes[0].surface.vertices;
  for (std::size_t v = 0; v < rest.size(); ++v)
    if (rest[v].y() + rest[v].x() > rest[to_size(tip)].y() + rest[to_size(tip)].x()) tip = static_cast<int>(v);
  return tip;
}

TEST(CharacterState, ForcesPull) {
  CharacterState sagging = new_state(), pulled = new_state({.damping = 0.5}), blown = new_state();
  sagging.set_gravity({0, 0, -9.81F});
  const int tip = tip_of_limb();
  const FleshPull pulls[] = {{tip, {20, 0, 0}}, {-3, {1, 1, 1}}};
  pulled.set_pulls(pulls);
  blown.set_wind({10, 0, 0}, 2);
  for (int k = 0; k < 240; ++k)
    for (CharacterState* state : {&sagging, &pulled, &blown}) state->advance(1.0 / 120);
  const auto at = [&](CharacterState& state, std::size_t axis) {
    return displacements(state)[3 * to_size(tip) + axis];
  };
  EXPECT_LT(at(sagging, 2), -1e-4F);
  EXPECT_GT(at(pulled, 0), 1e-4F);
  EXPECT_GT(at(blown, 0), 1e-5F);
  const float before = at(pulled, 0);
  pulled.set_pulls({});
  for (int k = 0; k < 480; ++k) pulled.advance(1.0 / 120);
  EXPECT_LT(std::abs(at(pulled, 0)), 0.02F * before);
}

// Clapeyron: flesh that a small force holds has stored half of what the force would do on its whole way.
TEST(CharacterState, EnergyIsTheWorkOfAForce) {
  CharacterState state = new_state({.damping = 0.5});
  const int vertex = tip_of_limb();
  const FleshPull pull = {vertex, {2, 0, 0}};
  state.set_pulls({&pull, 1});
  for (int k = 0; k < 600; ++k) state.advance(1.0 / 120);
  const double work = 0.5 * pull.force[0] * displacements(state)[3 * to_size(vertex)];
  const auto [elastic, kinetic] = state.energy();
  EXPECT_NEAR(elastic, work, 0.03 * work);
  EXPECT_LT(kinetic, 1e-4 * work);
}

TEST(CharacterState, DriveScalesTheMotion) {
  CharacterState none = new_state({.drive = 0}), some = new_state({.drive = 0.005}), twice = new_state({.drive = 0.01});
  for (int k = 0; k < 60; ++k)
    for (CharacterState* state : {&none, &some, &twice}) {
      set_pose(*state, k / 120.0);
      state->advance(1.0 / 120);
    }
  Floats doubled = displacements(some);
  for (float& x : doubled) x *= 2;
  // So little of it that elastic forces are linear.
  EXPECT_LT(largest_difference(doubled, displacements(twice)), 0.03F * largest(doubled));
  EXPECT_LT(largest(displacements(none)), 1e-3F * largest(doubled));
  EXPECT_FALSE(CharacterState::create(limb(), {.drive = -1}).ok());
}

TEST(CharacterState, DetailFadesWithoutAPop) {
  CharacterState state = new_state();
  EXPECT_EQ(state.detail(), 16);
  state.set_detail(8, 0.25);
  for (int k = 0; k < 60; ++k) {
    set_pose(state, k / 60.0);
    state.advance(1.0 / 60);
  }
  EXPECT_EQ(state.detail(), 8);
}

// ---- corrections ----------------------------------------------------------------------------------------------------

TEST(CharacterState, CorrectionsFollowTheJoints) {
  const LimbFile& file = limb_file();
  const NamedPose bent = file.poses()[0];
  CharacterState state = new_state();
  for (std::size_t j = 0; j < bent.locals.size(); ++j)
    state.set_joint(static_cast<int>(j), door_transform(bent.locals[j]));
  state.advance(1.0 / 60);
  EXPECT_NEAR(state.morph_weight(0), 1, 1e-6);
  EXPECT_EQ(state.morph_weight(1), 0.25);
  CharacterPose pose = file.limb.rig.neutral();
  file.limb.rig.set_joints(bent.locals, pose);
  pose.p[0] = 1;
  const std::vector<Vec3> corrected = evaluate_all(*file.limb.rig.rig(), pose.p);
  const auto off = [&] {
    Floats x(3 * corrected.size());
    state.positions(x);
    const Floats u = displacements(state);
    float most = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      most = std::max(most,
                      std::abs(x[k] - u[k] - static_cast<float>(corrected[k / 3][static_cast<Eigen::Index>(k % 3)])));
    return most;
  };
  EXPECT_LT(off(), 1e-6F);
  state.set_morph(0, 0);  // the caller knows better
  state.advance(1.0 / 60);
  EXPECT_NEAR(off(), 0.02, 1e-3);
  state.release_morph(0);
  state.advance(1.0 / 60);
  EXPECT_LT(off(), 1e-6F);
  for (int j = 0; j < 3; ++j) state.set_joint(j, limb().joint_rest(j));
  state.advance(1.0 / 60);
  EXPECT_NEAR(state.morph_weight(0), 0, 1e-6);
}

// ---- what is shown --------------------------------------------------------------------------------------------------

void run_a_while(CharacterState& state, int frames = 45) {
  for (int k = 0; k < frames; ++k) {
    set_pose(state, k / 60.0);
    state.advance(1.0 / 60);
  }
}

TEST(CharacterState, FileVerticesAreWeldedOnes) {
  CharacterState state = new_state();
  run_a_while(state);
  Floats welded(3 * to_size(limb().vertex_count())), file(3 * limb_file().file_vertices.size());
  const auto same = [&] {
    for (std::size_t k = 0; k < file.size(); ++k)
      if (file[k] != welded[3 * to_size(limb_file().file_vertices[k / 3]) + k % 3]) return false;
    return true;
  };
  state.displacements(welded), state.displacements(0, file);
  EXPECT_TRUE(same());
  EXPECT_GT(largest(welded), 1e-3F);
  state.positions(welded), state.positions(0, file);
  EXPECT_TRUE(same());
  state.normals(welded), state.normals(0, file);
  EXPECT_TRUE(same());
  state.bind_displacements(welded), state.bind_displacements(0, file);
  EXPECT_TRUE(same());
}

TEST(CharacterState, NormalsPointOutOfASurfaceThatMoves) {
  CharacterState state = new_state();
  run_a_while(state);
  Floats x(3 * to_size(limb().vertex_count())), n = x;
  state.positions(x);
  state.normals(n);
  const auto at = [](const Floats& values, std::int32_t v) {
    return Eigen::Map<const Eigen::Vector3f>(values.data() + 3 * v);
  };
  const auto corners = limb().triangles();
  for (std::size_t t = 0; t < corners.size(); t += 3) {
    const Eigen::Vector3f a = at(x, corners[t]), b = at(x, corners[t + 1]), c = at(x, corners[t + 2]);
    const Eigen::Vector3f face = (b - a).cross(c - a).normalized();
    EXPECT_NEAR(at(n, corners[t]).norm(), 1, 1e-5);
    EXPECT_GT(face.dot(at(n, corners[t])), 0.1F);  // a bar has corners
  }
}

/// What a vertex shader makes of bind-space displacements: morph targets, the displacement, then skinning.
Floats shader_positions(const RawCharacter& character, const CharacterState& state, const Floats& bind, double time) {
  const std::vector<Affine> world = world_matrices(character.skeleton, locals_at(time));
  const CharacterMesh& mesh = character.meshes[0];
  Floats x;
  for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
    Vec3 bound = mesh.surface.vertices[v];
    for (std::size_t t = 0; t < mesh.targets.size(); ++t)
      bound += state.morph_weight(static_cast<int>(t)) * mesh.targets[t].displacements[v];
    bound += Eigen::Map<const Eigen::Vector3f>(bind.data() + 3 * v).cast<double>();
    Vec3 skinned = Vec3::Zero();
    for (auto e = to_size(mesh.weights.first[v]); e < to_size(mesh.weights.first[v + 1]); ++e) {
      const auto joint = to_size(mesh.weights.joint[e]);
      skinned += mesh.weights.weight[e] * (world[joint] * (character.skins[0].inverse_bind[joint] * bound));
    }
    for (const double value : skinned) x.push_back(static_cast<float>(value));
  }
  return x;
}

TEST(CharacterState, BindDisplacementsSkinToThePositions) {
  CharacterState state = new_state();
  run_a_while(state);
  Floats x(3 * to_size(limb().vertex_count())), bind = x;
  state.positions(x);
  state.bind_displacements(bind);
  EXPECT_LT(largest_difference(shader_positions(limb_file().limb.character, state, bind, 44 / 60.0), x), 2e-6F);
}

TEST(CharacterState, WiresAreSkinnedByTheEngineAllTheSame) {
  const LimbFile& file = limb_file();
  CharacterRigSettings wires;
  wires.wires = {{"limb", {0, 1, 2}}};
  const CharacterRig rig = CharacterRig::create(file.limb.character, wires).value();
  const SoftLimb wired{file.limb.character, rig, file.limb.body};
  CharacterAsset asset = file.asset;
  const ReducedBody reduced = reduce_limb(wired, small_reduction(8));
  asset.model = reduced.model;
  asset.drive = make_character_drive(file.limb.character, rig, file.poses()).value();
  ASSERT_TRUE(asset.drive->played);
  const std::string bytes = encode_character(asset).value();
  CharacterState state = CharacterState::create(load_bytes(bytes).value()).value();
  EXPECT_EQ(state.character().morph_count(), 2);
  run_a_while(state);
  Floats x(3 * to_size(limb().vertex_count())), bind = x;
  state.positions(x);
  state.bind_displacements(bind);
  EXPECT_LT(largest_difference(shader_positions(file.limb.character, state, bind, 44 / 60.0), x), 5e-6F);
}

TEST(CharacterState, TheBasisGivesTheSameDisplacements) {
  const Character& character = limb();
  const auto nodes = to_size(character.node_count()), r = to_size(character.coordinate_count());
  const auto vertices = to_size(character.vertex_count());
  CharacterState state = new_state();
  run_a_while(state);
  Floats moved(3 * nodes, 0.0F), rows(3 * nodes * r), c(r), R(9 * nodes);
  for (int pose = 0; pose < character.pose_count(); ++pose) {
    character.node_basis(pose, rows);
    state.pose_coordinates(pose, c);
    for (std::size_t k = 0; k < moved.size(); ++k)
      for (std::size_t i = 0; i < r; ++i) moved[k] += rows[k * r + i] * c[i];
  }
  state.node_rotations(R);
  std::vector<std::uint32_t> hangs(4 * vertices);
  Floats weights(4 * vertices), u(3 * vertices, 0.0F);
  character.vertex_nodes(hangs);
  character.vertex_node_weights(weights);
  for (std::size_t k = 0; k < hangs.size(); ++k) {
    const std::size_t n = hangs[k];
    Eigen::Map<Eigen::Vector3f>(&u[3 * (k / 4)]) +=
        weights[k] * Eigen::Map<const Eigen::Matrix3f>(&R[9 * n]) * Eigen::Map<const Eigen::Vector3f>(&moved[3 * n]);
  }
  const Floats shown = displacements(state);
  EXPECT_GT(largest(shown), 1e-3F);
  EXPECT_LT(largest_difference(u, shown), 2e-3F * largest(shown));  // ours are kept in halves
}

// ---- promises -------------------------------------------------------------------------------------------------------

TEST(CharacterState, ContinuesWithTheSameBits) {
  CharacterState state = new_state(), other = new_state();
  const double frames[] = {0.011, 0.019, 0.004, 0.016, 0.033, 0.008};
  double time = 0;
  const auto go = [&](CharacterState& moved, double& at, int count) {
    for (int k = 0; k < count; ++k) {
      at += frames[k % 6];
      set_pose(moved, at);
      moved.advance(frames[k % 6]);
    }
  };
  go(state, time, 30);
  state.set_detail(8, 0.6);
  state.set_gravity({0, -3, 0});
  go(state, time, 13);
  std::vector<std::byte> saved(state.saved_size());
  ASSERT_TRUE(state.save(saved));
  double again = time;
  go(state, time, 60);
  ASSERT_TRUE(other.restore(saved));
  go(other, again, 60);
  EXPECT_EQ(coordinates(state), coordinates(other));
  EXPECT_EQ(displacements(state), displacements(other));
  EXPECT_FALSE(other.restore(std::span(saved).first(saved.size() - 1)));
  EXPECT_FALSE(other.save(std::span(saved).first(10)));
  std::fill(saved.begin(), saved.begin() + 8, std::byte{0});
  EXPECT_FALSE(other.restore(saved));
  EXPECT_FALSE(new_state({.time_step = 1.0 / 120}).restore(saved));
}

TEST(CharacterState, ResetStartsAnew) {
  CharacterState used = new_state(), fresh = new_state();
  run_a_while(used);
  used.reset();
  EXPECT_EQ(largest(coordinates(used)), 0);
  run_a_while(used);
  run_a_while(fresh);
  EXPECT_EQ(coordinates(used), coordinates(fresh));
}

TEST(CharacterState, AllocatesNothing) {
  CharacterState state = new_state();
  Floats welded(3 * to_size(limb().vertex_count())), file(3 * limb_file().file_vertices.size());
  Floats q(to_size(limb().coordinate_count())), R(9 * to_size(limb().node_count()));
  std::vector<std::byte> saved(state.saved_size());
  std::vector<JointTransform> joints;
  for (int k = 0; k < 40; ++k)
    for (const Transform& local : locals_at(k / 90.0)) joints.push_back(door_transform(local));
  const FleshPull pulls[] = {{3, {1, 0, 0}}};
  const long before = allocation_count();
  for (std::size_t k = 0; k < 40; ++k) {
    state.set_joints(std::span(joints).subspan(3 * k, 3));
    state.set_morph(1, 0.1);
    state.set_pulls(pulls);
    if (k == 10) state.set_detail(8, 0.1);
    if (k == 20) state.cut();
    state.advance(k % 7 == 0 ? 0.03 : 1.0 / 90);
    state.displacements(welded), state.displacements(0, file);
    state.bind_displacements(welded), state.positions(0, file), state.normals(welded);
    state.coordinates(q), state.pose_coordinates(1, q), state.node_rotations(R);
    state.save(saved);
    if (k == 30) state.restore(saved);
  }
  state.reset();
  EXPECT_EQ(allocation_count() - before, 0);
}

TEST(CharacterState, ManyAtOnceHaveTheSameBits) {
  std::vector<CharacterState> alone, together;
  for (int k = 0; k < 5; ++k) alone.push_back(new_state()), together.push_back(new_state());
  std::vector<CharacterState*> states;
  for (CharacterState& state : together) states.push_back(&state);
  const auto jobs = [](std::int64_t count, const auto& body) {
    std::thread half([&] {
      for (std::int64_t i = 0; i < count; i += 2) body(i);
    });
    for (std::int64_t i = 1; i < count; i += 2) body(i);
    half.join();
  };
  for (int k = 0; k < 20; ++k) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      set_pose(alone[i], k / 60.0 + 0.1 * static_cast<double>(i));
      set_pose(together[i], k / 60.0 + 0.1 * static_cast<double>(i));
      alone[i].advance(1.0 / 60);
    }
    if (k % 2 == 0)
      step_all(states, 1.0 / 60, jobs);
    else
      step_all(states, 1.0 / 60);
  }
  for (std::size_t i = 0; i < states.size(); ++i) EXPECT_EQ(coordinates(alone[i]), coordinates(together[i]));
}

TEST(CharacterState, ReachesATarget) {
  CharacterState state = new_state();
  EXPECT_LT(state.reach(0, 2, {0.3F, 0.5F, 0.1F}), 1e-4);
  const std::array<float, 3> tip = state.joint_position(2);
  EXPECT_NEAR(tip[0], 0.3, 1e-4);
  EXPECT_NEAR(tip[1], 0.5, 1e-4);
  EXPECT_LT(state.reach(2, 0, {0, 0, 0}), 0);
}

}  // namespace
}  // namespace supple::character_test
