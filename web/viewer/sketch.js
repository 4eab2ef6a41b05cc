// SPDX-License-Identifier: Apache-2.0
// Recording what somebody pulls at, for bases that know it (2005 paper, 5.2): while recording, the forces of a pull are
// noted ten times a second, as forces on the vertices of the simulation mesh that the surface hangs on. What is saved is
// the file that `supple build --sketch` solves.
import { saveFile } from './save_file.js';

const EVERY = 0.1; // [s] between two loads
const MOST_LOADS = 2000;

export class Sketch {
  /** `nodes`: the vertex of the simulation mesh nearest to each of the surface; `count`: how many that mesh has. */
  constructor(name, nodes, count) {
    this.name = name;
    this.nodes = nodes;
    this.count = count;
    this.recording = false;
    this.loads = [];
    this.waited = 0;
  }

  see(forces, seconds) {
    this.waited += seconds;
    if (!this.recording || forces.length === 0 || this.waited < EVERY || this.loads.length >= MOST_LOADS) return;
    this.waited = 0;
    const sums = new Map();
    for (const { vertex, force } of forces) {
      const node = this.nodes[vertex], sum = sums.get(node) ?? [0, 0, 0];
      sums.set(node, sum.map((f, k) => f + force[k]));
    }
    const load = [...sums].filter(([, force]) => force.some((f) => f !== 0)).sort(([a], [b]) => a - b);
    if (load.length) this.loads.push(load);
  }

  clear() {
    this.loads = [];
  }

  text() {
    const lines = ['supple-sketch 1', `vertices ${this.count}`, `loads ${this.loads.length}`];
    for (const load of this.loads) {
      lines.push(`load ${load.length}`);
      for (const [node, force] of load) lines.push(`${node} ${force.map((f) => Number(f.toPrecision(9))).join(' ')}`);
    }
    return `${lines.join('\n')}\n`;
  }

  save() {
    saveFile(`${this.name}.sketch`, this.text());
  }
}
