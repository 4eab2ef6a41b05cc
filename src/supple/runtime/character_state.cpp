// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/inverse_kinematics.h"
#include "supple/runtime/character_state_data.h"
#include "supple/runtime/rayleigh_damping.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace supple {
namespace {

bool finite(const std::array<float, 3>& x) { return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]); }

Vec3 doubles(const std::array<float, 3>& x) { return {x[0], x[1], x[2]}; }

template <class Vector>
void write_floats(const Vector& x, float* out) {
  for (Eigen::Index i = 0; i < 3; ++i) out[i] = static_cast<float>(x[i]);
}

template <class Vector>
void write_all(std::span<const Vector> values, std::span<float> xyz) {
  for (std::size_t v = 0; v < values.size() && 3 * v + 3 <= xyz.size(); ++v) write_floats(values[v], &xyz[3 * v]);
}

/// Values of the file's vertices from those of welded ones.
template <class Vector>
void write_chosen(std::span<const Vector> values, const CharacterPrimitiveInfo& primitive, std::span<float> xyz) {
  const auto chosen = primitive.welded_vertex;
  for (std::size_t v = 0; v < chosen.size() && 3 * v + 3 <= xyz.size(); ++v)
    write_floats(values[to_size(chosen[v])], &xyz[3 * v]);
}

/// At the beginning of what save() writes: what it is, and whose.
struct SavedHeader {
  std::array<char, 8> magic = {'S', 'U', 'P', 'C', 'H', 'A', 'R', '1'};
  std::uint64_t size = 0, coordinates = 0, vertices = 0, joints = 0;
  double time_step = 0;

  bool operator==(const SavedHeader&) const = default;
};

SavedHeader header_of(CharacterStateData& data) {
  StateBytes count;
  data.exchange(count);
  SavedHeader header;
  header.size = sizeof(SavedHeader) + count.size();
  header.coordinates = static_cast<std::uint64_t>(data.character.coordinate_count());
  header.vertices = static_cast<std::uint64_t>(data.character.vertex_count());
  header.joints = static_cast<std::uint64_t>(data.character.joint_count());
  header.time_step = data.clock.time_step();
  return header;
}

}  // namespace

// ---- one on the stage -----------------------------------------------------------------------------------------------

CharacterState::CharacterState(std::unique_ptr<CharacterStateData> data) : data_(std::move(data)) {}
CharacterState::CharacterState(CharacterState&&) noexcept = default;
CharacterState& CharacterState::operator=(CharacterState&&) noexcept = default;
CharacterState::~CharacterState() = default;

Result<CharacterState> CharacterState::create(const Character& character, const CharacterSettings& settings) {
  const CharacterData& data = character.data();
  if (!(settings.time_step > 0 && settings.time_step <= 0.1) || settings.most_pulls < 0 ||
      settings.steps_per_pose < 1 || std::isnan(settings.damping) || !(settings.drive >= 0 && settings.drive <= 1e3))
    return input_error(
        "a character's time step must be above zero and at most 0.1 s, at least one step shares a pose, it can't hold "
        "fewer than no pulls, and its drive is from 0 to 1000; change the settings of the state");
  const RayleighDamping damping =
      rayleigh_damping(data.asset.flesh_frequency, settings.damping < 0 ? data.asset.damping : settings.damping);
  PoseSpaceSettings dynamics;
  dynamics.time_step = settings.time_step;
  dynamics.mass_damping = damping.mass;
  dynamics.stiffness_damping = damping.stiffness;
  dynamics.most_acceleration = data.asset.most_acceleration;
  dynamics.flesh_frequency = data.asset.flesh_frequency;
  dynamics.gain = settings.drive * data.asset.gain;
  dynamics.exaggeration = data.asset.exaggeration;
  Result<PoseSpaceDynamics<float>> created = PoseSpaceDynamics<float>::create(data.prepared, dynamics);
  SUPPLE_RETURN_IF_ERROR(created);
  return CharacterState(std::make_unique<CharacterStateData>(character, settings, std::move(*created)));
}

const Character& CharacterState::character() const { return data_->character; }

// ---- in -------------------------------------------------------------------------------------------------------------

void CharacterState::set_joint(int joint, const JointTransform& local) {
  if (joint >= 0 && joint < character().joint_count()) data_->set_local(to_size(joint), local);
}

void CharacterState::set_joints(std::span<const JointTransform> locals) {
  const std::size_t count = std::min(locals.size(), data_->locals.size());
  for (std::size_t j = 0; j < count; ++j) data_->set_local(j, locals[j]);
}

void CharacterState::set_world_matrices(std::span<const float> matrices) { data_->set_world(matrices); }

JointTransform CharacterState::joint(int joint) const {
  JointTransform result;
  if (joint < 0 || joint >= character().joint_count()) return result;
  const Transform& local = data_->locals[to_size(joint)];
  write_floats(local.translation, result.translation.data());
  write_floats(local.scale, result.scale.data());
  for (std::size_t k = 0; k < 4; ++k)
    result.rotation[k] = static_cast<float>(local.rotation.coeffs()[static_cast<Eigen::Index>(k)]);
  return result;
}

std::array<float, 3> CharacterState::joint_position(int joint) const {
  std::array<float, 3> place = {0, 0, 0};
  if (joint < 0 || joint >= character().joint_count()) return place;
  write_floats(world_matrix(data_->drive().rig.skeleton(), data_->locals, joint).translation(), place.data());
  return place;
}

double CharacterState::reach(int root, int tip, const std::array<float, 3>& target) {
  const int count = character().joint_count();
  if (root < 0 || tip < 0 || root >= count || tip >= count || !finite(target)) return -1;
  const Skeleton& skeleton = data_->drive().rig.skeleton();
  const std::vector<Index> chain = joint_chain(skeleton, root, tip);
  return chain.size() < 2 ? -1 : solve_chain(skeleton, data_->locals, chain, doubles(target));
}

void CharacterState::set_morph(int morph, double weight) {
  if (morph < 0 || morph >= character().morph_count() || !std::isfinite(weight)) return;
  const CharacterData::Morph& found = data_->model().morphs[to_size(morph)];
  data_->engine_p()[to_size(found.place)] = weight;
  if (found.follower >= 0) data_->held_morphs[to_size(found.follower)] = 1;
}

void CharacterState::release_morph(int morph) {
  if (morph < 0 || morph >= character().morph_count()) return;
  const CharacterData::Morph& found = data_->model().morphs[to_size(morph)];
  data_->engine_p()[to_size(found.place)] = found.neutral;
  if (found.follower >= 0) data_->held_morphs[to_size(found.follower)] = 0;
}

double CharacterState::morph_weight(int morph) const {
  if (morph < 0 || morph >= character().morph_count()) return 0;
  return data_->engine_p()[to_size(data_->model().morphs[to_size(morph)].place)];
}

void CharacterState::set_gravity(const std::array<float, 3>& acceleration) {
  if (finite(acceleration)) data_->forces.gravity = doubles(acceleration);
}

void CharacterState::set_wind(const std::array<float, 3>& velocity, double drag) {
  if (!finite(velocity) || !(drag >= 0) || std::isinf(drag)) return;
  data_->forces.wind = doubles(velocity);
  data_->forces.drag = drag;
}

void CharacterState::set_pulls(std::span<const FleshPull> pulls) {
  data_->pull_count = 0;
  for (const FleshPull& pull : pulls) {
    const bool sound = pull.vertex >= 0 && pull.vertex < character().vertex_count() && finite(pull.force);
    if (sound && data_->pull_count < data_->pulls.size())
      data_->pulls[data_->pull_count++] = {pull.vertex, doubles(pull.force)};
  }
}

void CharacterState::set_detail(int coordinates, double fade_seconds) {
  data_->dynamics.set_detail(coordinates, fade_seconds);
}

int CharacterState::detail() const { return data_->dynamics.detail(); }

void CharacterState::set_origin(const std::array<double, 3>& origin) {
  const Vec3 place(origin[0], origin[1], origin[2]);
  if (place.allFinite()) data_->origin = place;
}

// ---- time -----------------------------------------------------------------------------------------------------------

AdvanceReport CharacterState::advance(double seconds) { return data_->advance(seconds); }

void CharacterState::cut() {
  data_->dynamics.cut();
  data_->history.forget();
}

void CharacterState::reset() {
  data_->dynamics.reset();
  data_->history.forget();
  data_->clock = StepClock(data_->clock.time_step());
  data_->show();
}

std::size_t CharacterState::saved_size() const { return header_of(*data_).size; }

bool CharacterState::save(std::span<std::byte> buffer) const {
  const SavedHeader header = header_of(*data_);
  if (buffer.size() < header.size) return false;
  std::memcpy(buffer.data(), &header, sizeof header);
  StateBytes bytes = StateBytes::saving(buffer.subspan(sizeof header));
  data_->exchange(bytes);
  return true;
}

bool CharacterState::restore(std::span<const std::byte> buffer) {
  SavedHeader header;
  const SavedHeader expected = header_of(*data_);
  if (buffer.size() < expected.size) return false;
  std::memcpy(&header, buffer.data(), sizeof header);
  if (!(header == expected)) return false;
  StateBytes bytes = StateBytes::restoring(buffer.subspan(sizeof header));
  data_->exchange(bytes);
  data_->show();
  return true;
}

// ---- out ------------------------------------------------------------------------------------------------------------

void CharacterState::displacements(std::span<float> xyz) { write_all(data_->displacements(), xyz); }
void CharacterState::displacements(int primitive, std::span<float> xyz) {
  write_chosen(data_->displacements(), character().primitive(primitive), xyz);
}
void CharacterState::bind_displacements(std::span<float> xyz) { write_all(data_->bind_displacements(), xyz); }
void CharacterState::bind_displacements(int primitive, std::span<float> xyz) {
  write_chosen(data_->bind_displacements(), character().primitive(primitive), xyz);
}
void CharacterState::positions(std::span<float> xyz) { write_all(data_->positions(), xyz); }
void CharacterState::positions(int primitive, std::span<float> xyz) {
  write_chosen(data_->positions(), character().primitive(primitive), xyz);
}
void CharacterState::normals(std::span<float> xyz) { write_all(data_->normals(), xyz); }
void CharacterState::normals(int primitive, std::span<float> xyz) {
  write_chosen(data_->normals(), character().primitive(primitive), xyz);
}

std::array<double, 2> CharacterState::energy() {
  return {static_cast<double>(data_->dynamics.elastic_energy()), static_cast<double>(data_->dynamics.kinetic_energy())};
}

void CharacterState::coordinates(std::span<float> q) const {
  std::copy_n(data_->shown.q.begin(), std::min(q.size(), data_->shown.q.size()), q.begin());
}

void CharacterState::pose_coordinates(int pose, std::span<float> c) {
  if (pose < 0 || pose >= character().pose_count()) return;
  data_->displacements();  // makes the pose the one that is shown
  const float* factors = data_->dynamics.shown_pose().factors(to_size(pose));
  for (std::size_t k = 0; k < std::min(c.size(), data_->shown.q.size()); ++k) c[k] = factors[k] * data_->shown.q[k];
}

void CharacterState::node_rotations(std::span<float> matrices) {
  data_->displacements();
  const CharacterData& model = data_->model();
  const Eigen::Matrix3f turn = data_->history.newest().placement.rotation.toRotationMatrix().cast<float>();
  const bool rotating = model.model().directions == BasisDirections::rotating;
  for (std::size_t n = 0; n < model.nodes.size() && 9 * n + 9 <= matrices.size(); ++n) {
    const CharacterData::Node& node = model.nodes[n];
    Eigen::Map<Eigen::Matrix3f> R(&matrices[9 * n]);
    R = turn;
    if (!rotating) continue;
    const FrameBlend& frame = model.model().surface.blocks[node.block].frames[to_size(node.vertex)];
    R = turn * data_->dynamics.shown_frames().blend(frame);
  }
}

// ---- many -----------------------------------------------------------------------------------------------------------

namespace {

struct Batch {
  std::span<CharacterState* const> states;
  std::span<AdvanceReport> reports;
  double seconds;

  void step(std::int64_t i) const {
    const AdvanceReport report = states[to_size(i)]->advance(seconds);
    if (to_size(i) < reports.size()) reports[to_size(i)] = report;
  }
};

}  // namespace

void step_all(std::span<CharacterState* const> states, double seconds, JobLoop loop, void* user,
              std::span<AdvanceReport> reports) {
  Batch batch{states, reports, seconds};
  const JobBody body = [](void* context, std::int64_t i) { static_cast<const Batch*>(context)->step(i); };
  const auto count = static_cast<std::int64_t>(states.size());
  if (loop != nullptr) return loop(user, count, body, &batch);
  for (std::int64_t i = 0; i < count; ++i) body(&batch, i);
}

}  // namespace supple
