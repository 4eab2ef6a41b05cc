// SPDX-License-Identifier: Apache-2.0
// node wasm_steps.mjs PACKAGE ASSET NATIVE_STEPS: the module against the native library, on the same asset and motion.
// Prints the table, and fails where positions differ by more than 1e-5 of the height after 1,000 steps, a step takes
// more than four times as long, or the module is larger than 600 KB.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, asset, native] = process.argv.slice(2);
const STEPS = 1000;
const BATCH = 10;
const { loadSupple } = await import(pathToFileURL(join(folder, 'supple.js')));

/** As native_steps.c has it. */
function pose(character, state, time) {
  const fade = Math.min(1, 2 * time);
  character.joints.forEach(({ parent }, j) => {
    const t = character.jointRest(j);
    if (parent < 0) {
      t[1] = t[1] + 0.04 * character.height * fade * Math.sin(9 * time);
    } else {
      const half = 0.04 * fade * Math.sin((5 + 0.3 * j) * time), s = Math.sin(half), c = Math.cos(half);
      const [x, y, z, w] = t.slice(3, 7);
      t.set([c * x + s * w, c * y - s * z, c * z + s * y, c * w - s * x], 3);
    }
    state.setJoint(j, t);
  });
}

function run(character) {
  const state = character.createState();
  let least = Infinity, start = performance.now();
  for (let k = 1; k <= STEPS; ++k) {
    pose(character, state, k / 240);
    if (state.advance(1 / 240)) throw new Error('a step broke down');
    if (k % BATCH !== 0) continue;
    const now = performance.now();
    least = Math.min(least, (now - start) / BATCH);
    start = now;
  }
  return { milliseconds: least, positions: state.positions().slice() };
}

function runNative() {
  const work = mkdtempSync(join(tmpdir(), 'supple-web-'));
  try {
    const out = join(work, 'positions');
    const milliseconds = Number(execFileSync(native, [asset, String(STEPS), out], { encoding: 'utf8' }));
    const bytes = readFileSync(out);
    return { milliseconds, positions: new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)) };
  } finally {
    rmSync(work, { recursive: true });
  }
}

const module = readFileSync(join(folder, 'supple.wasm'));
const supple = await loadSupple(module);
const character = supple.character(readFileSync(asset));
const [here, there] = [run(character), runNative()];
let difference = here.positions.length === there.positions.length ? 0 : Infinity;
here.positions.forEach((x, k) => (difference = Math.max(difference, Math.abs(x - there.positions[k]))));
const rows = [
  ['positions after 1,000 steps, of the height', difference / character.height, 1e-5],
  ['step, WebAssembly / native', here.milliseconds / there.milliseconds, 4],
  ['module [KB]', module.length / 1000, 600],
];
console.log(`${character.name}: ${character.coordinateCount} coordinates, ${character.vertexCount} vertices; ` +
  `step ${here.milliseconds.toFixed(3)} ms, native ${there.milliseconds.toFixed(3)} ms`);
for (const [what, value, most] of rows)
  console.log(`${what.padEnd(46)} ${value.toPrecision(3).padStart(10)}   at most ${most}   ${value <= most ? 'fine' : 'TOO MUCH'}`);
process.exitCode = rows.every(([, value, most]) => value <= most) ? 0 : 1;
