// SPDX-License-Identifier: Apache-2.0
// Where skin is near other skin. For each vertex the smallest gap to skin that looks the other way, along its own normal:
// positive where there is air between, negative where one has entered the other. Plain numbers; nothing here draws.
//
//   gap(v) = min over w of (x_w − x_v)·n_v,   |x_w − x_v| < reach,  n_w·n_v < −0.3
//
// The other side of a thin part, an ear or a finger, looks the other way, too, and lies behind: pairs that are as near at rest
// with flesh between them are left out.

const FACING = -0.3;

export class Contacts {
  /** `rest`: positions in which nothing is inside anything; `triangles` of the same vertices; `reach` in their unit. */
  constructor(rest, triangles, reach) {
    this.triangles = triangles;
    this.reach = reach;
    this.count = rest.length / 3;
    this.rest = Float32Array.from(rest);
    this.normals = new Float32Array(rest.length);
    this.gaps = new Float32Array(this.count).fill(reach);
    this.cells = new Map();
    this.restNormals = this.#findNormals(this.rest).slice();
  }

  #findNormals(x) {
    const { normals, triangles } = this;
    normals.fill(0);
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
      const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
      const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      for (const k of [a, b, c]) {
        normals[k] += nx;
        normals[k + 1] += ny;
        normals[k + 2] += nz;
      }
    }
    for (let k = 0; k < normals.length; k += 3) {
      const length = Math.hypot(normals[k], normals[k + 1], normals[k + 2]) || 1;
      for (let i = 0; i < 3; ++i) normals[k + i] /= length;
    }
    return normals;
  }

  /** Flesh lies between the two at rest: v looks away from w, and they are no farther apart than things that may touch. */
  #isThickness(v, w) {
    const { rest, restNormals } = this;
    const dx = rest[w] - rest[v], dy = rest[w + 1] - rest[v + 1], dz = rest[w + 2] - rest[v + 2];
    return dx * dx + dy * dy + dz * dz < 4 * this.reach * this.reach && dx * restNormals[v] + dy * restNormals[v + 1] + dz * restNormals[v + 2] <= 0;
  }

  /** Fills `gaps`, one for each vertex; what has nothing near gets `reach`. */
  update(x) {
    const { reach, cells, gaps } = this, n = this.#findNormals(x), size = 1 / reach;
    const key = (i, j, k) => i * 73856093 + j * 19349663 + k * 83492791;
    cells.clear();
    for (let v = 0; v < this.count; ++v) {
      const at = key(Math.floor(x[3 * v] * size), Math.floor(x[3 * v + 1] * size), Math.floor(x[3 * v + 2] * size));
      const cell = cells.get(at);
      if (cell) cell.push(3 * v);
      else cells.set(at, [3 * v]);
    }
    for (let number = 0; number < this.count; ++number) {
      const v = 3 * number;
      let least = reach;
      const i = Math.floor(x[v] * size), j = Math.floor(x[v + 1] * size), k = Math.floor(x[v + 2] * size);
      for (let a = i - 1; a <= i + 1; ++a) for (let b = j - 1; b <= j + 1; ++b) for (let c = k - 1; c <= k + 1; ++c) {
        const cell = cells.get(key(a, b, c));
        if (!cell) continue;
        for (const w of cell) {
          if (n[v] * n[w] + n[v + 1] * n[w + 1] + n[v + 2] * n[w + 2] > FACING) continue;
          const dx = x[w] - x[v], dy = x[w + 1] - x[v + 1], dz = x[w + 2] - x[v + 2];
          if (dx * dx + dy * dy + dz * dz >= reach * reach) continue;
          const gap = dx * n[v] + dy * n[v + 1] + dz * n[v + 2];
          if (gap < least && !this.#isThickness(v, w)) least = gap;
        }
      }
      gaps[number] = least;
    }
    return gaps;
  }
}
