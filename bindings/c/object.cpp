// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/object.h"

#include "handles.h"

#include <cmath>
#include <cstddef>
#include <cstring>

using namespace supple;         // NOLINT(google-build-using-namespace): this file only passes on
using namespace supple::c_api;  // NOLINT(google-build-using-namespace)

struct supple_object {
  Object value;
};
struct supple_object_state {
  ObjectState value;
};

namespace {

std::array<float, 3> three_of(const float* xyz) {
  return xyz == nullptr ? std::array<float, 3>{0, 0, 0} : std::array<float, 3>{xyz[0], xyz[1], xyz[2]};
}

template <class Load>
supple_status load_object(supple_object** object, const Load& load) {
  return guarded([&] {
    *object = nullptr;
    Result<Object> loaded = load();
    if (!loaded.ok()) return fail(loaded.error());
    *object = new supple_object{std::move(*loaded)};
    return SUPPLE_OK;
  });
}

size_t coordinate_floats(const Object& object) { return 3 * static_cast<size_t>(object.vertex_count()); }

}  // namespace

supple_status supple_object_load(const char* path, supple_object** object) {
  if (path == nullptr || object == nullptr) return null_argument();
  return load_object(object, [&] { return Object::load(std::string(path)); });
}
supple_status supple_object_load_memory(const void* bytes, size_t byte_count, supple_object** object) {
  if (bytes == nullptr || object == nullptr) return null_argument();
  return load_object(object, [&] { return Object::load(std::span(static_cast<const std::byte*>(bytes), byte_count)); });
}
void supple_object_free(supple_object* object) { delete object; }

int supple_object_anchored(const supple_object* object) {
  return object != nullptr && object->value.anchored() ? 1 : 0;
}
int supple_object_coordinate_count(const supple_object* object) {
  return object == nullptr ? 0 : object->value.coordinate_count();
}
int supple_object_domain_count(const supple_object* object) {
  return object == nullptr ? 0 : object->value.domain_count();
}
double supple_object_mass(const supple_object* object) { return object == nullptr ? 0 : object->value.mass(); }
int supple_object_vertex_count(const supple_object* object) {
  return object == nullptr ? 0 : object->value.vertex_count();
}
const int32_t* supple_object_triangles(const supple_object* object, size_t* count) {
  const std::span<const int32_t> triangles = object == nullptr ? std::span<const int32_t>() : object->value.triangles();
  if (count != nullptr) *count = triangles.size();
  return triangles.data();
}
supple_status supple_object_rest_positions(const supple_object* object, float* xyz, size_t count) {
  if (object == nullptr || xyz == nullptr) return null_argument();
  if (count < coordinate_floats(object->value)) return too_small();
  object->value.rest_positions(std::span(xyz, count));
  return SUPPLE_OK;
}
supple_status supple_object_basis(const supple_object* object, float* rows, size_t count) {
  if (object == nullptr || rows == nullptr) return null_argument();
  if (count < coordinate_floats(object->value) * static_cast<size_t>(object->value.coordinate_count()))
    return too_small();
  object->value.basis(std::span(rows, count));
  return SUPPLE_OK;
}

supple_status supple_object_state_create(const supple_object* object, const supple_object_settings* settings,
                                         supple_object_state** state) {
  if (object == nullptr || state == nullptr) return null_argument();
  return guarded([&] {
    *state = nullptr;
    ObjectSettings chosen;
    if (settings != nullptr) {
      if (settings->time_step != 0) chosen.time_step = settings->time_step;
      if (settings->most_forces != 0) chosen.most_forces = settings->most_forces;
      chosen.mass_damping = settings->mass_damping;
      chosen.stiffness_damping = settings->stiffness_damping;
      chosen.gravity = three_of(settings->gravity);
    }
    Result<ObjectState> created = ObjectState::create(object->value, chosen);
    if (!created.ok()) return fail(created.error());
    *state = new supple_object_state{std::move(*created)};
    return SUPPLE_OK;
  });
}
void supple_object_state_free(supple_object_state* state) { delete state; }

static_assert(sizeof(supple_pull) == sizeof(VertexForce) &&
              offsetof(supple_pull, force) == offsetof(VertexForce, force));

supple_status supple_object_state_set_forces(supple_object_state* state, const supple_pull* forces, int count) {
  if (state == nullptr || (forces == nullptr && count > 0)) return null_argument();
  if (count < 0) return out_of_range();
  state->value.set_forces(std::span(reinterpret_cast<const VertexForce*>(forces), static_cast<size_t>(count)));
  return SUPPLE_OK;
}
supple_status supple_object_state_set_gravity(supple_object_state* state, const float* acceleration) {
  if (state == nullptr || acceleration == nullptr) return null_argument();
  state->value.set_gravity(three_of(acceleration));
  return SUPPLE_OK;
}
supple_status supple_object_state_set_wind(supple_object_state* state, const float* velocity, double gusts,
                                           double turbulence) {
  if (state == nullptr || velocity == nullptr) return null_argument();
  state->value.set_wind(three_of(velocity), gusts, turbulence);
  return SUPPLE_OK;
}
supple_status supple_object_state_set_frequency(supple_object_state* state, int domain, double factor) {
  if (state == nullptr) return null_argument();
  if (domain < 0 || domain >= state->value.object().domain_count()) return out_of_range();
  if (!(factor > 0) || !std::isfinite(factor))
    return fail(SUPPLE_USAGE, "a factor of frequencies must be above zero and finite; 1 is as it was built");
  state->value.set_frequency(domain, factor);
  return SUPPLE_OK;
}
supple_status supple_object_state_set_jobs(supple_object_state* state, supple_job_loop loop, void* user) {
  if (state == nullptr) return null_argument();
  state->value.set_jobs(loop, user);
  return SUPPLE_OK;
}
supple_status supple_object_state_place(supple_object_state* state, const float* position, const float* rotation,
                                        const float* velocity, const float* angular_velocity) {
  if (state == nullptr || position == nullptr || rotation == nullptr) return null_argument();
  if (state->value.object().anchored())
    return fail(SUPPLE_USAGE, "the object is anchored and can't be put elsewhere; move what it is drawn with");
  return guarded([&] {
    const ObjectPlace place{three_of(position), {rotation[0], rotation[1], rotation[2], rotation[3]}};
    state->value.place(place, three_of(velocity), three_of(angular_velocity));
    return SUPPLE_OK;
  });
}
supple_status supple_object_state_carry(supple_object_state* state, const float* position, const float* rotation) {
  if (state == nullptr || position == nullptr || rotation == nullptr) return null_argument();
  if (!state->value.object().anchored() || state->value.object().domain_count() < 2)
    return fail(SUPPLE_USAGE, "only what holds an object of several domains can be moved; draw others elsewhere");
  state->value.carry({three_of(position), {rotation[0], rotation[1], rotation[2], rotation[3]}});
  return SUPPLE_OK;
}
supple_status supple_object_state_advance(supple_object_state* state, double seconds) {
  if (state == nullptr) return null_argument();
  return state->value.advance(seconds).recovered ? SUPPLE_RECOVERED : SUPPLE_OK;
}
supple_status supple_object_state_reset(supple_object_state* state) {
  if (state == nullptr) return null_argument();
  return guarded([&] {
    state->value.reset();
    return SUPPLE_OK;
  });
}

size_t supple_object_state_saved_bytes(const supple_object_state* state) {
  return state == nullptr ? 0 : state->value.saved_size();
}
supple_status supple_object_state_save(const supple_object_state* state, void* bytes, size_t byte_count) {
  if (state == nullptr || bytes == nullptr) return null_argument();
  return state->value.save(std::span(static_cast<std::byte*>(bytes), byte_count)) ? SUPPLE_OK : too_small();
}
supple_status supple_object_state_restore(supple_object_state* state, const void* bytes, size_t byte_count) {
  if (state == nullptr || bytes == nullptr) return null_argument();
  return guarded([&] {
    if (state->value.restore(std::span(static_cast<const std::byte*>(bytes), byte_count))) return SUPPLE_OK;
    return fail(SUPPLE_INPUT, "these bytes are no saved state of such an object; save one with the same settings");
  });
}

supple_status supple_object_state_where(const supple_object_state* state, float* place) {
  if (state == nullptr || place == nullptr) return null_argument();
  const ObjectPlace found = state->value.place();
  std::memcpy(place, found.position.data(), 3 * sizeof(float));
  std::memcpy(place + 3, found.rotation.data(), 4 * sizeof(float));
  return SUPPLE_OK;
}
supple_status supple_object_state_coordinates(const supple_object_state* state, float* q, size_t count) {
  if (state == nullptr || q == nullptr) return null_argument();
  if (count < static_cast<size_t>(state->value.object().coordinate_count())) return too_small();
  state->value.coordinates(std::span(q, count));
  return SUPPLE_OK;
}
supple_status supple_object_state_displacements(supple_object_state* state, float* xyz, size_t count) {
  if (state == nullptr || xyz == nullptr) return null_argument();
  if (count < coordinate_floats(state->value.object())) return too_small();
  state->value.displacements(std::span(xyz, count));
  return SUPPLE_OK;
}
supple_status supple_object_state_positions(supple_object_state* state, float* xyz, size_t count) {
  if (state == nullptr || xyz == nullptr) return null_argument();
  if (count < coordinate_floats(state->value.object())) return too_small();
  state->value.positions(std::span(xyz, count));
  return SUPPLE_OK;
}
