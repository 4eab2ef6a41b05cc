// SPDX-License-Identifier: Apache-2.0
// Supple in C: soft tissue for rigged characters, and deformable objects, from `.supple` files. The same door as
// runtime/character.h and runtime/object.h, which say more about each call; pure C99.
//
// Units are metres, seconds and newtons. Rotations are quaternions x y z w; matrices are 4x4, column after column.
// Functions return a supple_status; supple_last_error() has a sentence for the last failure in this thread. No function
// throws, and none allocates unless it creates something or says so. Sizes are numbers of entries, not bytes, unless
// the name says bytes. A character or object is shared and constant; a state belongs to one thread at a time. States
// keep alive what they were made of.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SUPPLE_API __declspec(dllexport)
#else
#define SUPPLE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum supple_status {
  SUPPLE_OK = 0,
  SUPPLE_FAILURE = 1,  /* our fault, or the machine's: no memory */
  SUPPLE_USAGE = 2,    /* the call is wrong: a null pointer, an index out of range, a buffer that is too small */
  SUPPLE_INPUT = 3,    /* the file or the numbers are at fault */
  SUPPLE_RECOVERED = 4 /* a step broke down and was put right; time has passed all the same */
} supple_status;

typedef struct supple_character supple_character;
typedef struct supple_character_state supple_character_state;
typedef struct supple_object supple_object;
typedef struct supple_object_state supple_object_state;

/* "0.1.0" */
SUPPLE_API const char* supple_version(void);
/* The sentence of the last failure in this thread; "" where there was none. Valid until the next failure. */
SUPPLE_API const char* supple_last_error(void);

/* ---- characters ------------------------------------------------------------------------------------------------- */

SUPPLE_API supple_status supple_character_load(const char* path, supple_character** character);
SUPPLE_API supple_status supple_character_load_memory(const void* bytes, size_t byte_count,
                                                      supple_character** character);
SUPPLE_API void supple_character_free(supple_character* character);

/* Names stay valid as long as the character lives. Of indices out of range they are "". */
SUPPLE_API const char* supple_character_name(const supple_character* character);
SUPPLE_API double supple_character_height(const supple_character* character);
SUPPLE_API double supple_character_metres_per_unit(const supple_character* character);
SUPPLE_API int supple_character_coordinate_count(const supple_character* character);

SUPPLE_API int supple_character_joint_count(const supple_character* character);
SUPPLE_API const char* supple_character_joint_name(const supple_character* character, int joint);
SUPPLE_API int supple_character_joint_parent(const supple_character* character, int joint);      /* -1: none */
SUPPLE_API int supple_character_find_joint(const supple_character* character, const char* name); /* -1: none */
/* Ten numbers: translation, rotation x y z w, scale. */
SUPPLE_API supple_status supple_character_joint_rest(const supple_character* character, int joint, float* transform);

SUPPLE_API int supple_character_morph_count(const supple_character* character);
SUPPLE_API const char* supple_character_morph_name(const supple_character* character, int morph);
SUPPLE_API int supple_character_find_morph(const supple_character* character, const char* name); /* -1: none */
SUPPLE_API double supple_character_morph_neutral(const supple_character* character, int morph);
SUPPLE_API int supple_character_morph_follows_pose(const supple_character* character, int morph);

/* Welded vertices: those that the file splits along seams are one. */
SUPPLE_API int supple_character_vertex_count(const supple_character* character);
/* Three welded vertices per triangle; *count is the number of entries. */
SUPPLE_API const int32_t* supple_character_triangles(const supple_character* character, size_t* count);

typedef struct supple_mesh {
  const char* name;
  int joint;     /* that carries it */
  int file_mesh; /* its number in the file */
  int first_vertex, vertex_count;
  int first_primitive, primitive_count;
} supple_mesh;

SUPPLE_API int supple_character_mesh_count(const supple_character* character);
SUPPLE_API supple_status supple_character_mesh(const supple_character* character, int mesh, supple_mesh* info);
SUPPLE_API int supple_character_primitive_count(const supple_character* character);
SUPPLE_API int supple_character_primitive_mesh(const supple_character* character, int primitive);
/* The welded vertex of each vertex of the file; *count is their number. */
SUPPLE_API const int32_t* supple_character_file_vertices(const supple_character* character, int primitive,
                                                         size_t* count);

/* The basis, for those who multiply on the graphics card:
 *   u_v = sum over k of a_k R_n_k (sum over poses i of U_i,n_k c_i)
 * with four nodes n_k and weights a_k per welded vertex, three rows of coordinate_count numbers of U_i per node, and
 * c_i and R_n of supple_state_pose_coordinates and supple_state_node_rotations. */
SUPPLE_API int supple_character_node_count(const supple_character* character);
SUPPLE_API int supple_character_pose_count(const supple_character* character);
SUPPLE_API supple_status supple_character_node_basis(const supple_character* character, int pose, float* rows,
                                                     size_t count);
SUPPLE_API supple_status supple_character_vertex_nodes(const supple_character* character, uint32_t* nodes,
                                                       float* weights, size_t count);

/* ---- characters on the stage ------------------------------------------------------------------------------------ */

typedef struct supple_settings {
  double time_step;   /* of the grid inside [s]; 0: 1/240 */
  double damping;     /* ratio; negative: that of the asset */
  int steps_per_pose; /* that share the rest shape of one pose, about; 0: 2 */
  int most_pulls;     /* that supple_state_set_pulls can hold; 0: 64 */
  double drive;       /* of the flesh by the motion of the rig, as a multiple of the asset's; 0: 1 */
} supple_settings;

/* `settings` may be null. */
SUPPLE_API supple_status supple_state_create(const supple_character* character, const supple_settings* settings,
                                             supple_character_state** state);
SUPPLE_API void supple_state_free(supple_character_state* state);

/* Ten numbers per joint: translation, rotation x y z w, scale. */
SUPPLE_API supple_status supple_state_set_joint(supple_character_state* state, int joint, const float* transform);
SUPPLE_API supple_status supple_state_set_joints(supple_character_state* state, const float* transforms,
                                                 int joint_count);
/* Sixteen numbers per joint. */
SUPPLE_API supple_status supple_state_set_world_matrices(supple_character_state* state, const float* matrices,
                                                         int joint_count);
SUPPLE_API supple_status supple_state_joint(const supple_character_state* state, int joint, float* transform);
SUPPLE_API supple_status supple_state_joint_position(const supple_character_state* state, int joint, float* xyz);
/* Inverse kinematics. *missed: how far the tip stays away [m]; may be null. May allocate. */
SUPPLE_API supple_status supple_state_reach(supple_character_state* state, int root, int tip, const float* target,
                                            double* missed);

SUPPLE_API supple_status supple_state_set_morph(supple_character_state* state, int morph, double weight);
SUPPLE_API supple_status supple_state_release_morph(supple_character_state* state, int morph);
SUPPLE_API double supple_state_morph_weight(const supple_character_state* state, int morph);

SUPPLE_API supple_status supple_state_set_gravity(supple_character_state* state, const float* acceleration);
SUPPLE_API supple_status supple_state_set_wind(supple_character_state* state, const float* velocity, double drag);

typedef struct supple_pull {
  int vertex;     /* welded */
  float force[3]; /* [N], in the world */
} supple_pull;

SUPPLE_API supple_status supple_state_set_pulls(supple_character_state* state, const supple_pull* pulls, int count);
SUPPLE_API supple_status supple_state_set_detail(supple_character_state* state, int coordinates, double fade_seconds);
SUPPLE_API int supple_state_detail(const supple_character_state* state);
SUPPLE_API supple_status supple_state_set_origin(supple_character_state* state, const double* origin);

/* SUPPLE_RECOVERED where the flesh had to be put at rest. */
SUPPLE_API supple_status supple_state_advance(supple_character_state* state, double seconds);
SUPPLE_API supple_status supple_state_cut(supple_character_state* state);
SUPPLE_API supple_status supple_state_reset(supple_character_state* state);

SUPPLE_API size_t supple_state_saved_bytes(const supple_character_state* state);
SUPPLE_API supple_status supple_state_save(const supple_character_state* state, void* bytes, size_t byte_count);
SUPPLE_API supple_status supple_state_restore(supple_character_state* state, const void* bytes, size_t byte_count);

/* Three numbers per vertex; `count` is the number of floats. `primitive`: that of the file; -1: all welded vertices. */
SUPPLE_API supple_status supple_state_displacements(supple_character_state* state, int primitive, float* xyz,
                                                    size_t count);
SUPPLE_API supple_status supple_state_bind_displacements(supple_character_state* state, int primitive, float* xyz,
                                                         size_t count);
SUPPLE_API supple_status supple_state_positions(supple_character_state* state, int primitive, float* xyz, size_t count);
SUPPLE_API supple_status supple_state_normals(supple_character_state* state, int primitive, float* xyz, size_t count);

/* Two numbers: elastic and kinetic [J]. */
SUPPLE_API supple_status supple_state_energy(supple_character_state* state, double* energy);
SUPPLE_API supple_status supple_state_coordinates(const supple_character_state* state, float* q, size_t count);
SUPPLE_API supple_status supple_state_pose_coordinates(supple_character_state* state, int pose, float* c, size_t count);
SUPPLE_API supple_status supple_state_node_rotations(supple_character_state* state, float* matrices, size_t count);

/* An engine's own jobs: calls body(context, i) once for each i below count, on any thread, and returns after the last.
 */
typedef void (*supple_job_body)(void* context, int64_t i);
typedef void (*supple_job_loop)(void* user, int64_t count, supple_job_body body, void* context);

/* supple_state_advance of many at once; null as `loop`: one after the other. SUPPLE_RECOVERED where any had to. */
SUPPLE_API supple_status supple_step_all(supple_character_state* const* states, size_t count, double seconds,
                                         supple_job_loop loop, void* user);

/* ---- deformable objects ----------------------------------------------------------------------------------------- */

SUPPLE_API supple_status supple_object_load(const char* path, supple_object** object);
SUPPLE_API supple_status supple_object_load_memory(const void* bytes, size_t byte_count, supple_object** object);
SUPPLE_API void supple_object_free(supple_object* object);

SUPPLE_API int supple_object_anchored(const supple_object* object);
SUPPLE_API int supple_object_coordinate_count(const supple_object* object);
/* Parts with coordinates of their own: 1 unless it was built from domains. */
SUPPLE_API int supple_object_domain_count(const supple_object* object);
SUPPLE_API double supple_object_mass(const supple_object* object);
SUPPLE_API int supple_object_vertex_count(const supple_object* object);
SUPPLE_API const int32_t* supple_object_triangles(const supple_object* object, size_t* count);
SUPPLE_API supple_status supple_object_rest_positions(const supple_object* object, float* xyz, size_t count);
SUPPLE_API supple_status supple_object_basis(const supple_object* object, float* rows, size_t count);

typedef struct supple_object_settings {
  double time_step;         /* [s]; 0: 1/1000 */
  double mass_damping;      /* [1/s] */
  double stiffness_damping; /* [s] */
  float gravity[3];         /* [m/s^2] */
  int most_forces;          /* 0: 64 */
} supple_object_settings;

/* `settings` may be null: weight on earth, light damping. */
SUPPLE_API supple_status supple_object_state_create(const supple_object* object, const supple_object_settings* settings,
                                                    supple_object_state** state);
SUPPLE_API void supple_object_state_free(supple_object_state* state);

SUPPLE_API supple_status supple_object_state_set_forces(supple_object_state* state, const supple_pull* forces,
                                                        int count);
SUPPLE_API supple_status supple_object_state_set_gravity(supple_object_state* state, const float* acceleration);
/* Objects of several domains only; others feel no wind. Gusts and eddies are parts of its speed. */
SUPPLE_API supple_status supple_object_state_set_wind(supple_object_state* state, const float* velocity, double gusts,
                                                      double turbulence);
/* One of those domains swings faster or slower than it was built to: its frequencies, as a factor above zero. */
SUPPLE_API supple_status supple_object_state_set_frequency(supple_object_state* state, int domain, double factor);
/* Jobs for the steps of objects of very many domains; the bits stay the same. Null as `loop`: none. */
SUPPLE_API supple_status supple_object_state_set_jobs(supple_object_state* state, supple_job_loop loop, void* user);
/* Free objects only. `rotation` is x y z w; velocities may be null. May allocate. */
SUPPLE_API supple_status supple_object_state_place(supple_object_state* state, const float* position,
                                                   const float* rotation, const float* velocity,
                                                   const float* angular_velocity);
/* Moves what holds an object of several domains, as a bone does: where it will be after the next advance. */
SUPPLE_API supple_status supple_object_state_carry(supple_object_state* state, const float* position,
                                                   const float* rotation);
SUPPLE_API supple_status supple_object_state_advance(supple_object_state* state, double seconds);
SUPPLE_API supple_status supple_object_state_reset(supple_object_state* state);
SUPPLE_API size_t supple_object_state_saved_bytes(const supple_object_state* state);
SUPPLE_API supple_status supple_object_state_save(const supple_object_state* state, void* bytes, size_t byte_count);
SUPPLE_API supple_status supple_object_state_restore(supple_object_state* state, const void* bytes, size_t byte_count);
/* Seven numbers: position, rotation x y z w. */
SUPPLE_API supple_status supple_object_state_where(const supple_object_state* state, float* place);
SUPPLE_API supple_status supple_object_state_coordinates(const supple_object_state* state, float* q, size_t count);
SUPPLE_API supple_status supple_object_state_displacements(supple_object_state* state, float* xyz, size_t count);
SUPPLE_API supple_status supple_object_state_positions(supple_object_state* state, float* xyz, size_t count);

#ifdef __cplusplus
}
#endif
