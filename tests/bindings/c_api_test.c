// SPDX-License-Identifier: Apache-2.0
// c_api_test CHARACTER OBJECT FREE_OBJECT: every function of supple.h, called from C; wrong calls end in a code and a
// sentence.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <supple.h>

static int faults = 0;

#define EXPECT(condition)                                         \
  do {                                                            \
    if (!(condition)) {                                           \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);     \
      fprintf(stderr, "  last error: %s\n", supple_last_error()); \
      ++faults;                                                   \
    }                                                             \
  } while (0)

static float largest(const float* values, size_t count) {
  float most = 0;
  for (size_t k = 0; k < count; ++k) most = fmaxf(most, fabsf(values[k]));
  return most;
}

static void check_questions(const supple_character* c) {
  float transform[10];
  size_t count = 0;
  supple_mesh mesh;
  EXPECT(strcmp(supple_character_name(c), "arm") == 0);
  EXPECT(supple_character_height(c) > 0);
  EXPECT(supple_character_metres_per_unit(c) == 1);
  EXPECT(supple_character_coordinate_count(c) == 12);
  const int shoulder = supple_character_find_joint(c, "shoulder");
  EXPECT(shoulder >= 0 && strcmp(supple_character_joint_name(c, shoulder), "shoulder") == 0);
  EXPECT(supple_character_joint_parent(c, supple_character_find_joint(c, "wrist")) >= shoulder);
  EXPECT(supple_character_joint_rest(c, shoulder, transform) == SUPPLE_OK && transform[9] == 1);
  EXPECT(supple_character_joint_rest(c, -1, transform) == SUPPLE_USAGE);
  EXPECT(strcmp(supple_character_joint_name(c, 12345), "") == 0);
  EXPECT(supple_character_morph_count(c) == 9);
  EXPECT(supple_character_find_morph(c, supple_character_morph_name(c, 3)) == 3);
  EXPECT(supple_character_morph_neutral(c, 0) == 0);
  (void)supple_character_morph_follows_pose(c, 0);
  EXPECT(supple_character_triangles(c, &count) != NULL && count > 0 && count % 3 == 0);
  EXPECT(supple_character_mesh_count(c) == 1);
  EXPECT(supple_character_mesh(c, 0, &mesh) == SUPPLE_OK);
  EXPECT(mesh.vertex_count == supple_character_vertex_count(c) && mesh.primitive_count >= 1);
  EXPECT(supple_character_mesh(c, 1, &mesh) == SUPPLE_USAGE);
  EXPECT(supple_character_primitive_count(c) >= 1 && supple_character_primitive_mesh(c, 0) == 0);
  EXPECT(supple_character_file_vertices(c, 0, &count) != NULL && count > 0);
  EXPECT(supple_character_file_vertices(c, 99, &count) == NULL && count == 0);
}

static void check_basis(const supple_character* c, supple_character_state* s) {
  const size_t nodes = (size_t)supple_character_node_count(c), r = (size_t)supple_character_coordinate_count(c);
  const size_t vertices = (size_t)supple_character_vertex_count(c);
  float* rows = malloc(3 * nodes * r * sizeof(float));
  float* rotations = malloc(9 * nodes * sizeof(float));
  float* weights = malloc(4 * vertices * sizeof(float));
  uint32_t* hangs = malloc(4 * vertices * sizeof(uint32_t));
  float q[64];
  EXPECT(supple_character_pose_count(c) >= 1 && r <= 64);
  EXPECT(supple_character_node_basis(c, 0, rows, 3 * nodes * r) == SUPPLE_OK && largest(rows, 3 * nodes * r) > 0);
  EXPECT(supple_character_node_basis(c, 0, rows, 3) == SUPPLE_USAGE);
  EXPECT(supple_character_vertex_nodes(c, hangs, weights, 4 * vertices) == SUPPLE_OK && hangs[0] < nodes);
  EXPECT(supple_state_node_rotations(s, rotations, 9 * nodes) == SUPPLE_OK);
  EXPECT(supple_state_pose_coordinates(s, 0, q, 64) == SUPPLE_OK);
  EXPECT(supple_state_coordinates(s, q, 64) == SUPPLE_OK && largest(q, r) > 0);
  free(rows), free(rotations), free(weights), free(hangs);
}

static void check_outputs(const supple_character* c, supple_character_state* s) {
  const size_t room = 3 * (size_t)supple_character_vertex_count(c);
  size_t file = 0;
  supple_character_file_vertices(c, 0, &file);
  float* welded = malloc(room * sizeof(float));
  float* split = malloc(3 * file * sizeof(float));
  EXPECT(supple_state_displacements(s, -1, welded, room) == SUPPLE_OK && largest(welded, room) > 1e-5F);
  EXPECT(supple_state_displacements(s, 0, split, 3 * file) == SUPPLE_OK && largest(split, 3 * file) > 1e-5F);
  EXPECT(supple_state_bind_displacements(s, 0, split, 3 * file) == SUPPLE_OK && largest(split, 3 * file) > 1e-5F);
  EXPECT(supple_state_positions(s, 0, split, 3 * file) == SUPPLE_OK && largest(split, 3 * file) > 0.1F);
  EXPECT(supple_state_normals(s, -1, welded, room) == SUPPLE_OK && largest(welded, room) <= 1.0001F);
  EXPECT(supple_state_positions(s, 0, split, 3) == SUPPLE_USAGE);
  EXPECT(supple_state_positions(s, 77, split, 3 * file) == SUPPLE_USAGE);
  EXPECT(supple_state_positions(s, 0, NULL, 0) == SUPPLE_USAGE);
  free(welded), free(split);
}

static void swing(const supple_character* c, supple_character_state* s, int frames) {
  const int shoulder = supple_character_find_joint(c, "shoulder");
  for (int frame = 0; frame < frames; ++frame) {
    float transform[10];
    supple_character_joint_rest(c, shoulder, transform);
    const float half = 0.1F * sinf(0.2F * (float)frame);
    transform[3] = 0, transform[4] = 0, transform[5] = sinf(half), transform[6] = cosf(half);
    EXPECT(supple_state_set_joint(s, shoulder, transform) == SUPPLE_OK);
    EXPECT(supple_state_advance(s, 1.0 / 60) == SUPPLE_OK);
  }
}

static void check_inputs(const supple_character* c, supple_character_state* s) {
  const float down[3] = {0, -9.81F, 0}, air[3] = {1, 0, 0}, none[3] = {0, 0, 0}, target[3] = {0.2F, 0.1F, 0.1F};
  const double origin[3] = {0, 0, 0};
  const supple_pull pull = {5, {0, 1, 0}};
  float place[3], transform[10];
  double missed = -1, energy[2] = {-1, -1};
  const int shoulder = supple_character_find_joint(c, "shoulder"), wrist = supple_character_find_joint(c, "wrist");
  EXPECT(supple_state_set_gravity(s, down) == SUPPLE_OK && supple_state_set_gravity(s, none) == SUPPLE_OK);
  EXPECT(supple_state_set_wind(s, air, 0.5) == SUPPLE_OK && supple_state_set_wind(s, none, 0) == SUPPLE_OK);
  EXPECT(supple_state_set_pulls(s, &pull, 1) == SUPPLE_OK && supple_state_set_pulls(s, NULL, 0) == SUPPLE_OK);
  EXPECT(supple_state_set_pulls(s, NULL, 1) == SUPPLE_USAGE);
  EXPECT(supple_state_set_morph(s, 1, 0.5) == SUPPLE_OK && supple_state_morph_weight(s, 1) == 0.5);
  EXPECT(supple_state_release_morph(s, 1) == SUPPLE_OK && supple_state_set_morph(s, -1, 0) == SUPPLE_USAGE);
  EXPECT(supple_state_set_detail(s, 8, 0.1) == SUPPLE_OK && supple_state_detail(s) >= 8);
  EXPECT(supple_state_set_detail(s, 12, 0) == SUPPLE_OK);
  EXPECT(supple_state_set_origin(s, origin) == SUPPLE_OK);
  EXPECT(supple_state_joint_position(s, wrist, place) == SUPPLE_OK);
  EXPECT(supple_state_joint(s, wrist, transform) == SUPPLE_OK);
  EXPECT(supple_state_reach(s, shoulder, wrist, target, &missed) == SUPPLE_OK && missed >= 0);
  EXPECT(supple_state_reach(s, wrist, shoulder, target, &missed) == SUPPLE_USAGE);
  EXPECT(supple_state_set_joints(s, transform, 99999) == SUPPLE_USAGE);
  EXPECT(supple_state_set_world_matrices(s, transform, 1) == SUPPLE_USAGE || supple_character_joint_count(c) == 1);
  EXPECT(supple_state_cut(s) == SUPPLE_OK && supple_state_reset(s) == SUPPLE_OK);
  EXPECT(supple_state_energy(s, energy) == SUPPLE_OK && fabs(energy[0]) < 1e-3 && energy[1] == 0);
  EXPECT(supple_state_energy(s, NULL) == SUPPLE_USAGE);
}

static void check_saving(const supple_character* c, supple_character_state* s) {
  const size_t size = supple_state_saved_bytes(s);
  char* bytes = malloc(size);
  float before[64], after[64];
  EXPECT(supple_state_save(s, bytes, size) == SUPPLE_OK && supple_state_save(s, bytes, size - 1) == SUPPLE_USAGE);
  swing(c, s, 5);
  supple_state_coordinates(s, before, 64);
  EXPECT(supple_state_restore(s, bytes, size) == SUPPLE_OK);
  swing(c, s, 5);
  supple_state_coordinates(s, after, 64);
  EXPECT(memcmp(before, after, 12 * sizeof(float)) == 0);
  bytes[0] = 'x';
  EXPECT(supple_state_restore(s, bytes, size) == SUPPLE_INPUT);
  free(bytes);
}

static void one_after_the_other(void* user, int64_t count, supple_job_body body, void* context) {
  for (int64_t i = 0; i < count; ++i) body(context, i);
  *(int64_t*)user += count;
}

static void check_batch(supple_character_state* a, supple_character_state* b) {
  supple_character_state* states[2] = {a, b};
  int64_t stepped = 0;
  EXPECT(supple_step_all(states, 2, 1.0 / 60, one_after_the_other, &stepped) == SUPPLE_OK && stepped == 2);
  EXPECT(supple_step_all(states, 2, 1.0 / 60, NULL, NULL) == SUPPLE_OK);
  states[1] = NULL;
  EXPECT(supple_step_all(states, 2, 1.0 / 60, NULL, NULL) == SUPPLE_USAGE);
}

static void check_character(const char* path) {
  supple_character* c = NULL;
  EXPECT(supple_character_load("/does/not/exist.supple", &c) == SUPPLE_INPUT && c == NULL);
  EXPECT(strstr(supple_last_error(), "/does/not/exist.supple") != NULL);
  EXPECT(supple_character_load(NULL, &c) == SUPPLE_USAGE);
  EXPECT(supple_character_load_memory("nonsense", 8, &c) == SUPPLE_INPUT);
  EXPECT(supple_character_load(path, &c) == SUPPLE_OK);
  if (c == NULL) return;
  check_questions(c);
  supple_settings settings = {0, -1, 0, 0, 0};
  supple_character_state *s = NULL, *other = NULL;
  EXPECT(supple_state_create(c, &settings, &s) == SUPPLE_OK && supple_state_create(c, NULL, &other) == SUPPLE_OK);
  settings.time_step = -1;
  supple_character_state* wrong = NULL;
  EXPECT(supple_state_create(c, &settings, &wrong) == SUPPLE_INPUT && wrong == NULL);
  check_inputs(c, s);
  supple_character_free(c);  // states keep what they need
  EXPECT(supple_character_load(path, &c) == SUPPLE_OK);
  swing(c, s, 30);
  check_outputs(c, s);
  check_basis(c, s);
  check_saving(c, s);
  check_batch(s, other);
  supple_state_free(s);
  supple_state_free(other);
  supple_character_free(c);
  supple_character_free(NULL);
  supple_state_free(NULL);
}

static void check_object_state(const supple_object* o, supple_object_state* s) {
  const size_t room = 3 * (size_t)supple_object_vertex_count(o), size = supple_object_state_saved_bytes(s);
  const float none[3] = {0, 0, 0}, upright[4] = {0, 0, 0, 1}, down[3] = {0, -9.81F, 0};
  const supple_pull push = {0, {0, 1, 0}};
  float* xyz = malloc(room * sizeof(float));
  char* bytes = malloc(size);
  float place[7], q[512];
  EXPECT(supple_object_state_place(s, none, upright, NULL, NULL) ==
         (supple_object_anchored(o) ? SUPPLE_USAGE : SUPPLE_OK));
  EXPECT(supple_object_state_set_gravity(s, down) == SUPPLE_OK);
  EXPECT(supple_object_state_set_forces(s, &push, 1) == SUPPLE_OK);
  for (int k = 0; k < 30; ++k) EXPECT(supple_object_state_advance(s, 1.0 / 60) == SUPPLE_OK);
  EXPECT(supple_object_state_displacements(s, xyz, room) == SUPPLE_OK && largest(xyz, room) > 0);
  EXPECT(supple_object_state_positions(s, xyz, room) == SUPPLE_OK && largest(xyz, room) > 0);
  EXPECT(supple_object_state_positions(s, xyz, 1) == SUPPLE_USAGE);
  EXPECT(supple_object_state_where(s, place) == SUPPLE_OK);
  EXPECT(supple_object_state_coordinates(s, q, 512) == SUPPLE_OK);
  EXPECT(supple_object_state_save(s, bytes, size) == SUPPLE_OK);
  EXPECT(supple_object_state_restore(s, bytes, size) == SUPPLE_OK);
  EXPECT(supple_object_state_restore(s, bytes, 3) == SUPPLE_INPUT);
  EXPECT(supple_object_state_reset(s) == SUPPLE_OK);
  free(xyz), free(bytes);
}

static void check_object(const char* path) {
  supple_object* o = NULL;
  supple_object_state* s = NULL;
  size_t count = 0;
  EXPECT(supple_object_load("/does/not/exist.supple", &o) == SUPPLE_INPUT);
  EXPECT(supple_object_load_memory("nonsense", 8, &o) == SUPPLE_INPUT);
  EXPECT(supple_object_load(path, &o) == SUPPLE_OK);
  if (o == NULL) return;
  EXPECT(supple_object_coordinate_count(o) > 0 && supple_object_mass(o) > 0);
  EXPECT(supple_object_triangles(o, &count) != NULL && count > 0);
  const size_t room = 3 * (size_t)supple_object_vertex_count(o);
  const size_t basis = room * (size_t)supple_object_coordinate_count(o);
  float* numbers = malloc(basis * sizeof(float));
  EXPECT(supple_object_rest_positions(o, numbers, room) == SUPPLE_OK);
  EXPECT(supple_object_basis(o, numbers, basis) == SUPPLE_OK && largest(numbers, basis) > 0);
  free(numbers);
  const supple_object_settings settings = {0, 0.1, 0.001, {0, -9.81F, 0}, 0};
  EXPECT(supple_object_state_create(o, &settings, &s) == SUPPLE_OK);
  if (s != NULL) check_object_state(o, s);
  supple_object_state_free(s);
  supple_object_free(o);
}

// An object that nothing holds falls by half of gravity times time squared.
static void check_fall(const char* path) {
  supple_object* o = NULL;
  supple_object_state* s = NULL;
  EXPECT(supple_object_load(path, &o) == SUPPLE_OK);
  if (o == NULL) return;
  EXPECT(supple_object_anchored(o) == 0);
  EXPECT(supple_object_state_create(o, NULL, &s) == SUPPLE_OK);
  if (s != NULL) {
    const size_t room = 3 * (size_t)supple_object_vertex_count(o);
    float* rest = malloc(room * sizeof(float));
    float* xyz = malloc(room * sizeof(float));
    float place[7];
    for (int k = 0; k < 30; ++k) EXPECT(supple_object_state_advance(s, 1.0 / 60) == SUPPLE_OK);
    EXPECT(supple_object_rest_positions(o, rest, room) == SUPPLE_OK);
    EXPECT(supple_object_state_positions(s, xyz, room) == SUPPLE_OK);
    const float fallen = 0.5F * 9.81F * 0.25F;
    for (size_t k = 0; k < room; ++k) EXPECT(fabsf(xyz[k] - rest[k] + (k % 3 == 1 ? fallen : 0)) < 1e-3F);
    EXPECT(supple_object_state_where(s, place) == SUPPLE_OK && fabsf(place[1] + fallen) < 1e-3F);
    free(rest), free(xyz);
    check_object_state(o, s);
  }
  supple_object_state_free(s);
  supple_object_free(o);
}

// How far the tips of a tree get under their weight in half a second, with all frequencies times a factor.
static float farthest(const supple_object* o, double factor, const float* wind) {
  supple_object_state* s = NULL;
  EXPECT(supple_object_state_create(o, NULL, &s) == SUPPLE_OK);
  if (s == NULL) return 0;
  const size_t room = 3 * (size_t)supple_object_vertex_count(o);
  float* xyz = malloc(room * sizeof(float));
  int64_t jobs = 0;
  float most = 0;
  for (int d = 0; d < supple_object_domain_count(o); ++d)
    EXPECT(supple_object_state_set_frequency(s, d, factor) == SUPPLE_OK);
  EXPECT(supple_object_state_set_frequency(s, supple_object_domain_count(o), 1) == SUPPLE_USAGE);
  EXPECT(supple_object_state_set_frequency(s, 0, 0) == SUPPLE_USAGE);
  EXPECT(supple_object_state_set_jobs(s, one_after_the_other, &jobs) == SUPPLE_OK);
  EXPECT(supple_object_state_set_wind(s, wind, 0.5, 0.4) == SUPPLE_OK);
  for (int k = 0; k < 30; ++k) {
    EXPECT(supple_object_state_advance(s, 1.0 / 60) == SUPPLE_OK);
    EXPECT(supple_object_state_displacements(s, xyz, room) == SUPPLE_OK);
    most = fmaxf(most, largest(xyz, room));
  }
  free(xyz);
  supple_object_state_free(s);
  return most;
}

static void check_tree(const char* path) {
  supple_object* o = NULL;
  EXPECT(supple_object_load(path, &o) == SUPPLE_OK);
  if (o == NULL) return;
  EXPECT(supple_object_domain_count(o) == 4);
  const float calm[3] = {0, 0, 0}, storm[3] = {0, 0, 40};
  const float soft = farthest(o, 1, calm), stiff = farthest(o, 2, calm);
  EXPECT(soft > 0 && stiff < 0.5F * soft && stiff > 0.1F * soft);  // weight bends by 1 / frequency²
  EXPECT(farthest(o, 1, storm) > 1.5F * soft);
  // What holds it is moved sideways: the tips lag behind, and come along.
  supple_object_state* s = NULL;
  EXPECT(supple_object_state_create(o, NULL, &s) == SUPPLE_OK);
  const float there[3] = {0.1F, 0, 0}, upright[4] = {0, 0, 0, 1};
  float place[7] = {0};
  EXPECT(supple_object_state_carry(s, NULL, upright) == SUPPLE_USAGE);
  EXPECT(supple_object_state_carry(s, there, upright) == SUPPLE_OK);
  EXPECT(supple_object_state_advance(s, 0.1) == SUPPLE_OK);
  EXPECT(supple_object_state_where(s, place) == SUPPLE_OK);
  EXPECT(fabsf(place[0] - 0.1F) < 1e-3F);
  supple_object_state_free(s);
  supple_object_free(o);
}

int main(int count, char** words) {
  if (count != 5) return 2;
  EXPECT(strlen(supple_version()) >= 5);
  EXPECT(strcmp(supple_last_error(), "") == 0);
  check_character(words[1]);
  check_object(words[2]);
  check_fall(words[3]);
  check_object(words[4]);  // made of many parts
  check_tree(words[4]);
  if (faults == 0) printf("the C interface does what its header says\n");
  return faults == 0 ? 0 : 1;
}
