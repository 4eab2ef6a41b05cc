// SPDX-License-Identifier: Apache-2.0
// drive_arm.cpp in C: a game moves a target, turns a limb's joints after it, tells the flesh where the joints are, and
// reads how far every vertex of the skin has swung. 42 seconds are 10,080 steps.
//
//   supple example arm -o out && supple build out/arm.toml -o out/arm.supple
//   drive_arm_c out/arm.supple shoulder wrist 42
#include <supple.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { frames_per_second = 90 };

static int fail(const char* sentence, int exit_code) {
  fprintf(stderr, "drive_arm: %s\n", sentence);
  return exit_code;
}

static float length(const float* a) { return sqrtf(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }
static void cross(const float* a, const float* b, float* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/* A circle before the root of the chain, three quarters of the chain's length away: one round a second. */
typedef struct circle {
  float centre[3], side[3], up[3];
} circle;

static circle make_circle(const float* root, const float* tip) {
  circle result;
  const float along[3] = {tip[0] - root[0], tip[1] - root[1], tip[2] - root[2]};
  const float size = length(along);
  const float upright[3] = {0, 1, 0}, sideways[3] = {1, 0, 0};
  float normal[3];
  cross(along, fabsf(along[1]) < 0.9F * size ? upright : sideways, normal);
  const float shrink = 0.25F * size / length(normal);
  for (int i = 0; i < 3; ++i) {
    result.side[i] = shrink * normal[i];
    result.centre[i] = root[i] + 0.75F * along[i];
  }
  cross(along, result.side, result.up);
  for (int i = 0; i < 3; ++i) result.up[i] /= size;
  return result;
}

static void circle_at(const circle* c, double seconds, float* place) {
  const float angle = (float)(2 * 3.14159265358979 * (seconds - floor(seconds)));
  for (int i = 0; i < 3; ++i) place[i] = c->centre[i] + cosf(angle) * c->side[i] + sinf(angle) * c->up[i];
}

static float farthest(const float* xyz, int vertices) {
  float most = 0;
  for (int v = 0; v < vertices; ++v) most = fmaxf(most, length(xyz + 3 * v));
  return most;
}

static void tell_extent(const float* xyz, int vertices) {
  float low[3], high[3];
  for (int i = 0; i < 3; ++i) low[i] = high[i] = xyz[i];
  for (int k = 0; k < 3 * vertices; ++k) {
    low[k % 3] = fminf(low[k % 3], xyz[k]);
    high[k % 3] = fmaxf(high[k % 3], xyz[k]);
  }
  printf("%d vertices lie between (%.3f %.3f %.3f) and (%.3f %.3f %.3f)\n", vertices, low[0], low[1], low[2], high[0],
         high[1], high[2]);
}

/* Turns the limb after the target, from its pose at rest. */
static supple_status aim(const supple_character* character, supple_character_state* state, int root, int tip,
                         const float* target, double* missed) {
  for (int joint = tip; joint >= root; joint = supple_character_joint_parent(character, joint)) {
    float transform[10];
    supple_character_joint_rest(character, joint, transform);
    supple_state_set_joint(state, joint, transform);
  }
  return supple_state_reach(state, root, tip, target, missed);
}

static int drive(const supple_character* character, supple_character_state* state, int root, int tip, int seconds,
                 float* swing) {
  const int vertices = supple_character_vertex_count(character);
  const size_t room = 3 * (size_t)vertices;
  float from[3], to[3], target[3];
  supple_state_joint_position(state, root, from);
  supple_state_joint_position(state, tip, to);
  const circle path = make_circle(from, to);
  for (int second = 0; second < seconds; ++second) {
    double missed = 0, spent = 0;
    float largest = 0;
    for (int frame = 0; frame < frames_per_second; ++frame) {
      double left = 0;
      circle_at(&path, second + (double)frame / frames_per_second, target);
      if (aim(character, state, root, tip, target, &left) != SUPPLE_OK) return fail(supple_last_error(), 2);
      missed = fmax(missed, left);
      const clock_t start = clock();
      if (supple_state_advance(state, 1.0 / frames_per_second) != SUPPLE_OK) return fail("a step broke down", 4);
      spent += (double)(clock() - start) / CLOCKS_PER_SEC;
      if (supple_state_displacements(state, -1, swing, room) != SUPPLE_OK) return fail(supple_last_error(), 4);
      largest = fmaxf(largest, farthest(swing, vertices));
    }
    printf("second %d: flesh swings by up to %.2f mm, target missed by %.3f mm, %.3f ms per frame's step\n", second + 1,
           1e3 * largest, 1e3 * missed, 1e3 * spent / frames_per_second);
  }
  if (supple_state_positions(state, -1, swing, room) != SUPPLE_OK) return fail(supple_last_error(), 4);
  tell_extent(swing, vertices);
  return 0;
}

static int run(const supple_character* character, char** words) {
  const int root = supple_character_find_joint(character, words[2]);
  const int tip = supple_character_find_joint(character, words[3]);
  if (root < 0 || tip < 0) return fail("the character has no joint of that name", 2);
  supple_character_state* state = NULL;
  if (supple_state_create(character, NULL, &state) != SUPPLE_OK) return fail(supple_last_error(), 3);
  float* swing = malloc(3 * sizeof(float) * (size_t)supple_character_vertex_count(character));
  const int seconds = atoi(words[4]);
  const int result =
      swing == NULL ? fail("there is not enough memory", 4) : drive(character, state, root, tip, seconds, swing);
  free(swing);
  supple_state_free(state);
  return result;
}

int main(int count, char** words) {
  if (count != 5) return fail("write: drive_arm ASSET.supple ROOT TIP SECONDS", 2);
  supple_character* character = NULL;
  if (supple_character_load(words[1], &character) != SUPPLE_OK) return fail(supple_last_error(), 3);
  const int result = run(character, words);
  supple_character_free(character);
  return result;
}
