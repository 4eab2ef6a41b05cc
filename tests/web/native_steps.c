// SPDX-License-Identifier: Apache-2.0
// native_steps ASSET STEPS OUT: swings a character through the C interface and writes the positions that come out, as
// floats; prints the milliseconds of a step. wasm_steps.mjs does the same with the module: the two are compared.
#include "supple.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batch = 10 };

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* The character is shaken up and down, and every joint but the first turns a little, each in its own time. Numbers are
 * rounded as JavaScript's Math.fround does. */
static void pose(const supple_character* character, supple_character_state* state, double time) {
  const int joints = supple_character_joint_count(character);
  const double fade = fmin(1, 2 * time);
  for (int j = 0; j < joints; ++j) {
    float t[10];
    supple_character_joint_rest(character, j, t);
    if (supple_character_joint_parent(character, j) < 0) {
      t[1] = (float)(t[1] + 0.04 * supple_character_height(character) * fade * sin(9 * time));
    } else {
      const double half = 0.04 * fade * sin((5 + 0.3 * j) * time), s = sin(half), c = cos(half);
      const double x = t[3], y = t[4], z = t[5], w = t[6];
      t[3] = (float)(c * x + s * w), t[4] = (float)(c * y - s * z), t[5] = (float)(c * z + s * y),
      t[6] = (float)(c * w - s * x);
    }
    supple_state_set_joint(state, j, t);
  }
}

int main(int argc, char** argv) {
  supple_character* character = NULL;
  supple_character_state* state = NULL;
  if (argc != 4 || supple_character_load(argv[1], &character) != SUPPLE_OK ||
      supple_state_create(character, NULL, &state) != SUPPLE_OK) {
    fprintf(stderr, "%s\n", supple_last_error());
    return 1;
  }
  const int steps = atoi(argv[2]);
  double least = INFINITY, start = milliseconds();
  for (int k = 1; k <= steps; ++k) {
    pose(character, state, k / 240.0);
    if (supple_state_advance(state, 1.0 / 240) != SUPPLE_OK) return 1;
    if (k % batch != 0) continue;
    const double now = milliseconds();
    least = fmin(least, (now - start) / batch);
    start = now;
  }
  const size_t count = 3 * (size_t)supple_character_vertex_count(character);
  float* xyz = malloc(count * sizeof(float));
  supple_state_positions(state, -1, xyz, count);
  FILE* out = fopen(argv[3], "wb");
  const int fine = out != NULL && fwrite(xyz, sizeof(float), count, out) == count && fclose(out) == 0;
  printf("%.6f\n", least);
  free(xyz);
  supple_state_free(state);
  supple_character_free(character);
  return fine ? 0 : 1;
}
