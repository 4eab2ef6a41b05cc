// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/character.h"
#include "handles.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

using namespace supple;         // NOLINT(google-build-using-namespace): this file only passes on
using namespace supple::c_api;  // NOLINT(google-build-using-namespace)

struct supple_character {
  Character value;
};
struct supple_character_state {
  CharacterState value;
};

namespace {

/// A view of a whole std::string ends in a zero.
const char* text(std::string_view view) { return view.data() == nullptr ? "" : view.data(); }

std::array<float, 3> three(const float* xyz) { return {xyz[0], xyz[1], xyz[2]}; }

JointTransform transform_of(const float* n) {
  return {{n[0], n[1], n[2]}, {n[3], n[4], n[5], n[6]}, {n[7], n[8], n[9]}};
}
void write_transform(const JointTransform& transform, float* n) {
  std::memcpy(n, transform.translation.data(), 3 * sizeof(float));
  std::memcpy(n + 3, transform.rotation.data(), 4 * sizeof(float));
  std::memcpy(n + 7, transform.scale.data(), 3 * sizeof(float));
}

bool has_joint(const Character& character, int joint) { return joint >= 0 && joint < character.joint_count(); }
bool has_morph(const Character& character, int morph) { return morph >= 0 && morph < character.morph_count(); }

template <class Load>
supple_status load_character(supple_character** character, const Load& load) {
  return guarded([&] {
    *character = nullptr;
    Result<Character> loaded = load();
    if (!loaded.ok()) return fail(loaded.error());
    *character = new supple_character{std::move(*loaded)};
    return SUPPLE_OK;
  });
}

/// Vertices that an output is about; -1 where there is no such primitive.
std::ptrdiff_t vertices_of(const Character& character, int primitive) {
  if (primitive == -1) return character.vertex_count();
  if (primitive < 0 || primitive >= character.primitive_count()) return -1;
  return static_cast<std::ptrdiff_t>(character.primitive(primitive).welded_vertex.size());
}

/// One of the four outputs: `all` of welded vertices, `some` of a primitive's.
template <class All, class Some>
supple_status output(supple_character_state* state, int primitive, float* xyz, size_t count, const All& all,
                     const Some& some) {
  if (state == nullptr || xyz == nullptr) return null_argument();
  const std::ptrdiff_t vertices = vertices_of(state->value.character(), primitive);
  if (vertices < 0) return out_of_range();
  if (count < 3 * static_cast<size_t>(vertices)) return too_small();
  return guarded([&] {
    if (primitive < 0)
      all(state->value, std::span(xyz, count));
    else
      some(state->value, primitive, std::span(xyz, count));
    return SUPPLE_OK;
  });
}

}  // namespace

// ---- characters -----------------------------------------------------------------------------------------------------

supple_status supple_character_load(const char* path, supple_character** character) {
  if (path == nullptr || character == nullptr) return null_argument();
  return load_character(character, [&] { return Character::load(std::string(path)); });
}

supple_status supple_character_load_memory(const void* bytes, size_t byte_count, supple_character** character) {
  if (bytes == nullptr || character == nullptr) return null_argument();
  return load_character(character,
                        [&] { return Character::load(std::span(static_cast<const std::byte*>(bytes), byte_count)); });
}

void supple_character_free(supple_character* character) { delete character; }

const char* supple_character_name(const supple_character* character) {
  return character == nullptr ? "" : text(character->value.name());
}
double supple_character_height(const supple_character* character) {
  return character == nullptr ? 0 : character->value.height();
}
double supple_character_metres_per_unit(const supple_character* character) {
  return character == nullptr ? 0 : character->value.metres_per_unit();
}
int supple_character_coordinate_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.coordinate_count();
}

int supple_character_joint_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.joint_count();
}
const char* supple_character_joint_name(const supple_character* character, int joint) {
  return character == nullptr ? "" : text(character->value.joint_name(joint));
}
int supple_character_joint_parent(const supple_character* character, int joint) {
  return character == nullptr ? -1 : character->value.joint_parent(joint);
}
int supple_character_find_joint(const supple_character* character, const char* name) {
  return character == nullptr || name == nullptr ? -1 : character->value.find_joint(name);
}
supple_status supple_character_joint_rest(const supple_character* character, int joint, float* transform) {
  if (character == nullptr || transform == nullptr) return null_argument();
  if (!has_joint(character->value, joint)) return out_of_range();
  write_transform(character->value.joint_rest(joint), transform);
  return SUPPLE_OK;
}

int supple_character_morph_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.morph_count();
}
const char* supple_character_morph_name(const supple_character* character, int morph) {
  return character == nullptr ? "" : text(character->value.morph_name(morph));
}
int supple_character_find_morph(const supple_character* character, const char* name) {
  return character == nullptr || name == nullptr ? -1 : character->value.find_morph(name);
}
double supple_character_morph_neutral(const supple_character* character, int morph) {
  return character == nullptr ? 0 : character->value.morph_neutral(morph);
}
int supple_character_morph_follows_pose(const supple_character* character, int morph) {
  return character != nullptr && character->value.morph_follows_pose(morph) ? 1 : 0;
}

int supple_character_vertex_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.vertex_count();
}
const int32_t* supple_character_triangles(const supple_character* character, size_t* count) {
  const std::span<const int32_t> triangles =
      character == nullptr ? std::span<const int32_t>() : character->value.triangles();
  if (count != nullptr) *count = triangles.size();
  return triangles.data();
}

int supple_character_mesh_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.mesh_count();
}
supple_status supple_character_mesh(const supple_character* character, int mesh, supple_mesh* info) {
  if (character == nullptr || info == nullptr) return null_argument();
  if (mesh < 0 || mesh >= character->value.mesh_count()) return out_of_range();
  const CharacterMeshInfo found = character->value.mesh(mesh);
  *info = {text(found.name),   found.joint,           found.file_mesh, found.first_vertex,
           found.vertex_count, found.first_primitive, found.primitives};
  return SUPPLE_OK;
}
int supple_character_primitive_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.primitive_count();
}
int supple_character_primitive_mesh(const supple_character* character, int primitive) {
  if (character == nullptr || primitive < 0 || primitive >= character->value.primitive_count()) return -1;
  return character->value.primitive(primitive).mesh;
}
const int32_t* supple_character_file_vertices(const supple_character* character, int primitive, size_t* count) {
  std::span<const int32_t> vertices;
  if (character != nullptr) vertices = character->value.primitive(primitive).welded_vertex;
  if (count != nullptr) *count = vertices.size();
  return vertices.data();
}

int supple_character_node_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.node_count();
}
int supple_character_pose_count(const supple_character* character) {
  return character == nullptr ? 0 : character->value.pose_count();
}
supple_status supple_character_node_basis(const supple_character* character, int pose, float* rows, size_t count) {
  if (character == nullptr || rows == nullptr) return null_argument();
  const Character& value = character->value;
  if (pose < 0 || pose >= value.pose_count()) return out_of_range();
  const auto needed = 3 * static_cast<size_t>(value.node_count()) * static_cast<size_t>(value.coordinate_count());
  if (count < needed) return too_small();
  value.node_basis(pose, std::span(rows, needed));
  return SUPPLE_OK;
}
supple_status supple_character_vertex_nodes(const supple_character* character, uint32_t* nodes, float* weights,
                                            size_t count) {
  if (character == nullptr || nodes == nullptr || weights == nullptr) return null_argument();
  if (count < 4 * static_cast<size_t>(character->value.vertex_count())) return too_small();
  character->value.vertex_nodes(std::span(nodes, count));
  character->value.vertex_node_weights(std::span(weights, count));
  return SUPPLE_OK;
}

// ---- on the stage ---------------------------------------------------------------------------------------------------

supple_status supple_state_create(const supple_character* character, const supple_settings* settings,
                                  supple_character_state** state) {
  if (character == nullptr || state == nullptr) return null_argument();
  return guarded([&] {
    *state = nullptr;
    CharacterSettings chosen;
    if (settings != nullptr) {
      if (settings->time_step != 0) chosen.time_step = settings->time_step;
      if (settings->steps_per_pose != 0) chosen.steps_per_pose = settings->steps_per_pose;
      if (settings->most_pulls != 0) chosen.most_pulls = settings->most_pulls;
      if (settings->drive != 0) chosen.drive = settings->drive;
      chosen.damping = settings->damping;
    }
    Result<CharacterState> created = CharacterState::create(character->value, chosen);
    if (!created.ok()) return fail(created.error());
    *state = new supple_character_state{std::move(*created)};
    return SUPPLE_OK;
  });
}

void supple_state_free(supple_character_state* state) { delete state; }

supple_status supple_state_set_joint(supple_character_state* state, int joint, const float* transform) {
  if (state == nullptr || transform == nullptr) return null_argument();
  if (!has_joint(state->value.character(), joint)) return out_of_range();
  state->value.set_joint(joint, transform_of(transform));
  return SUPPLE_OK;
}

supple_status supple_state_set_joints(supple_character_state* state, const float* transforms, int joint_count) {
  if (state == nullptr || transforms == nullptr) return null_argument();
  if (joint_count < 0 || joint_count > state->value.character().joint_count()) return out_of_range();
  for (int j = 0; j < joint_count; ++j) state->value.set_joint(j, transform_of(transforms + 10 * j));
  return SUPPLE_OK;
}

supple_status supple_state_set_world_matrices(supple_character_state* state, const float* matrices, int joint_count) {
  if (state == nullptr || matrices == nullptr) return null_argument();
  if (joint_count != state->value.character().joint_count()) return out_of_range();
  state->value.set_world_matrices(std::span(matrices, 16 * static_cast<size_t>(joint_count)));
  return SUPPLE_OK;
}

supple_status supple_state_joint(const supple_character_state* state, int joint, float* transform) {
  if (state == nullptr || transform == nullptr) return null_argument();
  if (!has_joint(state->value.character(), joint)) return out_of_range();
  write_transform(state->value.joint(joint), transform);
  return SUPPLE_OK;
}

supple_status supple_state_joint_position(const supple_character_state* state, int joint, float* xyz) {
  if (state == nullptr || xyz == nullptr) return null_argument();
  if (!has_joint(state->value.character(), joint)) return out_of_range();
  std::memcpy(xyz, state->value.joint_position(joint).data(), 3 * sizeof(float));
  return SUPPLE_OK;
}

supple_status supple_state_reach(supple_character_state* state, int root, int tip, const float* target,
                                 double* missed) {
  if (state == nullptr || target == nullptr) return null_argument();
  return guarded([&] {
    const double left = state->value.reach(root, tip, three(target));
    if (left < 0) return fail(SUPPLE_USAGE, "the tip doesn't hang below the root; name joints of one limb");
    if (missed != nullptr) *missed = left;
    return SUPPLE_OK;
  });
}

supple_status supple_state_set_morph(supple_character_state* state, int morph, double weight) {
  if (state == nullptr) return null_argument();
  if (!has_morph(state->value.character(), morph)) return out_of_range();
  state->value.set_morph(morph, weight);
  return SUPPLE_OK;
}
supple_status supple_state_release_morph(supple_character_state* state, int morph) {
  if (state == nullptr) return null_argument();
  if (!has_morph(state->value.character(), morph)) return out_of_range();
  state->value.release_morph(morph);
  return SUPPLE_OK;
}
double supple_state_morph_weight(const supple_character_state* state, int morph) {
  return state == nullptr ? 0 : state->value.morph_weight(morph);
}

supple_status supple_state_set_gravity(supple_character_state* state, const float* acceleration) {
  if (state == nullptr || acceleration == nullptr) return null_argument();
  state->value.set_gravity(three(acceleration));
  return SUPPLE_OK;
}
supple_status supple_state_set_wind(supple_character_state* state, const float* velocity, double drag) {
  if (state == nullptr || velocity == nullptr) return null_argument();
  state->value.set_wind(three(velocity), drag);
  return SUPPLE_OK;
}

static_assert(sizeof(supple_pull) == sizeof(FleshPull) && offsetof(supple_pull, force) == offsetof(FleshPull, force));

supple_status supple_state_set_pulls(supple_character_state* state, const supple_pull* pulls, int count) {
  if (state == nullptr || (pulls == nullptr && count > 0)) return null_argument();
  if (count < 0) return out_of_range();
  state->value.set_pulls(std::span(reinterpret_cast<const FleshPull*>(pulls), static_cast<size_t>(count)));
  return SUPPLE_OK;
}
supple_status supple_state_set_detail(supple_character_state* state, int coordinates, double fade_seconds) {
  if (state == nullptr) return null_argument();
  state->value.set_detail(coordinates, fade_seconds);
  return SUPPLE_OK;
}
int supple_state_detail(const supple_character_state* state) { return state == nullptr ? 0 : state->value.detail(); }
supple_status supple_state_set_origin(supple_character_state* state, const double* origin) {
  if (state == nullptr || origin == nullptr) return null_argument();
  state->value.set_origin({origin[0], origin[1], origin[2]});
  return SUPPLE_OK;
}

supple_status supple_state_advance(supple_character_state* state, double seconds) {
  if (state == nullptr) return null_argument();
  return state->value.advance(seconds).recovered ? SUPPLE_RECOVERED : SUPPLE_OK;
}
supple_status supple_state_cut(supple_character_state* state) {
  if (state == nullptr) return null_argument();
  state->value.cut();
  return SUPPLE_OK;
}
supple_status supple_state_reset(supple_character_state* state) {
  if (state == nullptr) return null_argument();
  state->value.reset();
  return SUPPLE_OK;
}

size_t supple_state_saved_bytes(const supple_character_state* state) {
  return state == nullptr ? 0 : state->value.saved_size();
}
supple_status supple_state_save(const supple_character_state* state, void* bytes, size_t byte_count) {
  if (state == nullptr || bytes == nullptr) return null_argument();
  return state->value.save(std::span(static_cast<std::byte*>(bytes), byte_count)) ? SUPPLE_OK : too_small();
}
supple_status supple_state_restore(supple_character_state* state, const void* bytes, size_t byte_count) {
  if (state == nullptr || bytes == nullptr) return null_argument();
  if (state->value.restore(std::span(static_cast<const std::byte*>(bytes), byte_count))) return SUPPLE_OK;
  return fail(SUPPLE_INPUT, "these bytes are no saved state of such a character; save one with the same settings");
}

supple_status supple_state_displacements(supple_character_state* state, int primitive, float* xyz, size_t count) {
  return output(
      state, primitive, xyz, count, [](CharacterState& s, std::span<float> out) { s.displacements(out); },
      [](CharacterState& s, int p, std::span<float> out) { s.displacements(p, out); });
}
supple_status supple_state_bind_displacements(supple_character_state* state, int primitive, float* xyz, size_t count) {
  return output(
      state, primitive, xyz, count, [](CharacterState& s, std::span<float> out) { s.bind_displacements(out); },
      [](CharacterState& s, int p, std::span<float> out) { s.bind_displacements(p, out); });
}
supple_status supple_state_positions(supple_character_state* state, int primitive, float* xyz, size_t count) {
  return output(
      state, primitive, xyz, count, [](CharacterState& s, std::span<float> out) { s.positions(out); },
      [](CharacterState& s, int p, std::span<float> out) { s.positions(p, out); });
}
supple_status supple_state_normals(supple_character_state* state, int primitive, float* xyz, size_t count) {
  return output(
      state, primitive, xyz, count, [](CharacterState& s, std::span<float> out) { s.normals(out); },
      [](CharacterState& s, int p, std::span<float> out) { s.normals(p, out); });
}

supple_status supple_state_energy(supple_character_state* state, double* energy) {
  if (state == nullptr || energy == nullptr) return null_argument();
  std::memcpy(energy, state->value.energy().data(), 2 * sizeof(double));
  return SUPPLE_OK;
}
supple_status supple_state_coordinates(const supple_character_state* state, float* q, size_t count) {
  if (state == nullptr || q == nullptr) return null_argument();
  if (count < static_cast<size_t>(state->value.character().coordinate_count())) return too_small();
  state->value.coordinates(std::span(q, count));
  return SUPPLE_OK;
}
supple_status supple_state_pose_coordinates(supple_character_state* state, int pose, float* c, size_t count) {
  if (state == nullptr || c == nullptr) return null_argument();
  if (pose < 0 || pose >= state->value.character().pose_count()) return out_of_range();
  if (count < static_cast<size_t>(state->value.character().coordinate_count())) return too_small();
  state->value.pose_coordinates(pose, std::span(c, count));
  return SUPPLE_OK;
}
supple_status supple_state_node_rotations(supple_character_state* state, float* matrices, size_t count) {
  if (state == nullptr || matrices == nullptr) return null_argument();
  if (count < 9 * static_cast<size_t>(state->value.character().node_count())) return too_small();
  state->value.node_rotations(std::span(matrices, count));
  return SUPPLE_OK;
}

// ---- many -----------------------------------------------------------------------------------------------------------

namespace {

struct HandleBatch {
  supple_character_state* const* states;
  double seconds;
  std::atomic<bool>* recovered;
};

/// Any thread may find that a state had to be recovered; all of them would write the same.
void step_one(void* context, int64_t i) {
  const auto& batch = *static_cast<HandleBatch*>(context);
  if (batch.states[i]->value.advance(batch.seconds).recovered) batch.recovered->store(true);
}

}  // namespace

supple_status supple_step_all(supple_character_state* const* states, size_t count, double seconds, supple_job_loop loop,
                              void* user) {
  if (states == nullptr && count > 0) return null_argument();
  for (size_t i = 0; i < count; ++i)
    if (states[i] == nullptr) return null_argument();
  std::atomic<bool> recovered = false;
  HandleBatch batch{states, seconds, &recovered};
  if (loop != nullptr) {
    loop(user, static_cast<int64_t>(count), step_one, &batch);
  } else {
    for (size_t i = 0; i < count; ++i) step_one(&batch, static_cast<int64_t>(i));
  }
  return recovered ? SUPPLE_RECOVERED : SUPPLE_OK;
}
