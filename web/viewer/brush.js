// SPDX-License-Identifier: Apache-2.0
// Painting softness on the skin. The runtime's model was built with its materials, so that paint takes effect when the
// character is built again: what is saved is the file that [[paint]] of a recipe reads, a number for each vertex of the
// character's file in its order. 1 is flesh as it was, 2 twice as soft.
import { heat } from './colours.js';
import { saveFile } from './save_file.js';

export const SOFTEST = 8;
const UNDO = 40;

export class Brush {
  constructor(flesh, name) {
    this.flesh = flesh;
    this.name = name;
    this.on = false;
    this.radius = 0.06; // of the height
    this.softness = 4;
    this.values = new Float32Array(flesh.character.vertexCount).fill(1);
    this.before = [];
  }

  get file() {
    return `${this.name.replace(/[^\w.-]+/g, '_')}_softness.txt`;
  }
  get recipe() {
    return `[[paint]]\nquantity = "softness"\nfile = "${this.file}"`;
  }

  begin() {
    this.before.push(this.values.slice());
    if (this.before.length > UNDO) this.before.shift();
  }
  undo() {
    if (this.before.length) this.values = this.before.pop();
  }
  clear() {
    this.begin();
    this.values.fill(1);
  }

  /** One dab around a place [m] of the skin as it is now; strongest in its middle. */
  dab(point) {
    const x = this.flesh.state.positions(), radius = this.radius * this.flesh.character.height;
    const wanted = Math.log(this.softness);
    for (let v = 0; v < this.values.length; ++v) {
      const d = Math.hypot(x[3 * v] - point.x, x[3 * v + 1] - point.y, x[3 * v + 2] - point.z) / radius;
      if (d >= 1) continue;
      const share = 0.5 * (1 - d * d) ** 2, now = Math.log(this.values[v]);
      this.values[v] = Math.exp(now + share * (wanted - now));
    }
  }

  /** Colour of a vertex: sand where nothing was painted, red where softer, blue where firmer. */
  colour(vertex, out, at) {
    heat(0.5 + (0.5 * Math.log(this.values[vertex])) / Math.log(SOFTEST), out, at);
  }

  text() {
    const lines = ['# softness of each vertex, painted on the page of supple view; in a recipe:', ...this.recipe.split('\n').map((line) => `#   ${line}`)];
    for (const { weldedVertices } of this.flesh.character.primitives)
      for (const v of weldedVertices) lines.push(String(Number(this.values[v].toPrecision(5))));
    return `${lines.join('\n')}\n`;
  }

  save() {
    saveFile(this.file, this.text());
  }
}
