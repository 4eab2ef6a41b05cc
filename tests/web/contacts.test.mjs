// SPDX-License-Identifier: Apache-2.0
// Gaps between skin and skin, against distances of boxes that are known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Contacts } from '../../web/viewer/contacts.js';

/** A box of fine squares on each side; its vertices aren't shared between sides. */
function box(from, to, cells = 8) {
  const positions = [], triangles = [];
  for (const axis of [0, 1, 2])
    for (const far of [0, 1]) {
      const [b, c] = [(axis + 1) % 3, (axis + 2) % 3], first = positions.length / 3;
      for (let i = 0; i <= cells; ++i)
        for (let j = 0; j <= cells; ++j) {
          const p = [0, 0, 0];
          p[axis] = far ? to[axis] : from[axis];
          p[b] = from[b] + ((to[b] - from[b]) * i) / cells;
          p[c] = from[c] + ((to[c] - from[c]) * j) / cells;
          positions.push(...p);
          if (i === cells || j === cells) continue;
          const v = first + i * (cells + 1) + j, quad = [v, v + cells + 1, v + cells + 2, v + 1];
          const [p0, p1, p2, p3] = far ? quad : [quad[0], quad[3], quad[2], quad[1]];
          triangles.push(p0, p1, p2, p0, p2, p3);
        }
    }
  return { positions, triangles };
}

function together(...boxes) {
  const positions = [], triangles = [];
  for (const one of boxes) {
    const first = positions.length / 3;
    positions.push(...one.positions);
    triangles.push(...one.triangles.map((v) => v + first));
  }
  return { positions, triangles };
}

const least = (values) => values.reduce((low, x) => Math.min(low, x), Infinity);

test('a thin plate is near nothing but itself, which is no contact', () => {
  const plate = box([0, 0, 0], [1, 1, 0.02]);
  const contacts = new Contacts(plate.positions, plate.triangles, 0.1);
  assert.ok(Math.abs(least(contacts.update(plate.positions)) - 0.1) < 1e-6);
});

test('gaps between two boxes are their distance, and negative where one is inside the other', () => {
  const lower = box([0, 0, 0], [1, 1, 0.5]), upper = box([0, 0, 0.9], [1, 1, 1.4]);
  const rest = together(lower, upper), count = lower.positions.length;
  const contacts = new Contacts(rest.positions, rest.triangles, 0.1);
  assert.ok(Math.abs(least(contacts.update(rest.positions)) - 0.1) < 1e-6, 'they are 0.4 apart');
  for (const gap of [0.05, 0.01, -0.03]) {
    const now = rest.positions.map((x, k) => (k >= count && k % 3 === 2 ? x - 0.4 + gap : x));
    const gaps = contacts.update(now);
    assert.ok(Math.abs(least(gaps) - gap) < 1e-5, `${least(gaps)} for ${gap}`);
    // The sides that look at each other, and no others.
    gaps.forEach((found, v) => {
      const height = rest.positions[3 * v + 2], faces = Math.abs(height - 0.5) < 1e-6 || Math.abs(height - 0.9) < 1e-6;
      if (!faces) assert.ok(found > 0.099, `vertex ${v} at ${height}: ${found}`);
    });
  }
});
