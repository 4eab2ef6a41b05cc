// SPDX-License-Identifier: Apache-2.0
// A deformable object, live: weight and wind act on it, a pointer pulls it. In one piece or of many domains, held or free;
// a free one floats until it is pulled. The runtime steps it at its own fixed rate, whatever the display does.
import { Box3, BufferAttribute, BufferGeometry, Color, Mesh, MeshStandardMaterial, Group, Vector3 } from 'three';
import { hasBlock, readBlock } from './data.js';
import { heat } from './colours.js';
import { Sketch } from './sketch.js';
import { Pull, PULL_STEP } from './pull.js';

const LONGEST = 0.25; // [s]: a longer pause is a pause

/** An object as a pull knows characters. How far it is pulled counts in the world, because a free one moves as a whole. */
function asFlesh(object, state, size) {
  return {
    character: { height: size, metresPerUnit: 1, vertexCount: object.vertexCount, triangles: object.triangles },
    state: {
      positions: () => state.positions(),
      displacements: () => state.positions(),
      setPulls: (pulls) => state.setForces(pulls),
      advance: (seconds) => state.advance(seconds),
      save: () => state.save(),
      restore: (bytes) => state.restore(bytes),
    },
  };
}

export class LiveObject {
  static async load(supple, description, stage) {
    const nodes = hasBlock('nodes') ? await readBlock('nodes') : null;
    return new LiveObject(supple.object(await readBlock('asset')), description, stage, nodes);
  }

  constructor(object, description, stage, nodes) {
    this.stage = stage;
    this.object = object;
    this.clips = [];
    const rest = object.restPositions();
    this.box = new Box3().setFromArray(rest);
    this.size = this.box.getSize(new Vector3()).length();
    this.isObject = true;
    this.state = object.createState({ timeStep: 1 / 480, massDamping: 0.3, stiffnessDamping: 0.002, gravity: [0, 0, 0], mostForces: 64 });
    this.flesh = asFlesh(object, this.state, this.size);
    this.character = this.flesh.character;
    this.#build(rest);
    this.pull = new Pull(this.flesh, stage.camera, stage.canvas);
    if (nodes) this.sketch = new Sketch(description.name, new Uint32Array(nodes.buffer, nodes.byteOffset, nodes.byteLength / 4), description.nodes);
    this.times = { pose: 0, step: 0, show: 0, draw: 0 };
    this.steps = this.missed = this.simulated = this.recovered = 0;
    this.painted = false;
    this.setView('soft');
  }

  #build(rest) {
    const material = () => new MeshStandardMaterial({ color: 0xd9a066, roughness: 0.6, flatShading: false });
    this.geometry = new BufferGeometry();
    this.geometry.setAttribute('position', new BufferAttribute(new Float32Array(rest), 3));
    this.geometry.setAttribute('color', new BufferAttribute(new Float32Array(rest.length).fill(1), 3));
    this.geometry.setIndex(new BufferAttribute(new Uint32Array(this.object.triangles), 1));
    this.geometry.computeVertexNormals();
    this.mesh = new Mesh(this.geometry, material());
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    const still = this.geometry.clone();
    this.rigid = new Mesh(still, material());
    this.rigid.castShadow = this.rigid.receiveShadow = true;
    this.overlay = new Mesh(still, new MeshStandardMaterial({ color: new Color(0x6f9fe8), transparent: true, opacity: 0.28, depthWrite: false }));
    this.root = new Group();
    this.root.add(this.mesh, this.rigid, this.overlay);
    this.stage.scene.add(this.root);
  }

  // ---- what is seen -------------------------------------------------------------------------------------------------

  setView(view) {
    this.view = view;
    const width = this.box.max.x - this.box.min.x, shown = this.box.clone().expandByScalar(0.05 * this.size);
    this.rigid.visible = view === 'beside';
    this.overlay.visible = view === 'overlaid';
    this.rigid.position.x = -1.15 * width - 0.1 * this.size;
    if (view === 'beside') shown.min.x += this.rigid.position.x;
    this.stage.frame(shown, view === 'beside');
  }
  labels() {
    if (this.view !== 'beside') return [];
    const at = (mesh) => new Vector3((this.box.min.x + this.box.max.x) / 2 + mesh.position.x, this.box.min.y, this.box.max.z);
    return [['at rest', at(this.rigid)], ['soft', at(this.mesh)]];
  }
  get colours() {
    return [['plain', 'Plain'], ['displacement', 'Displacement']];
  }
  setColour(colour) {
    const on = colour === 'displacement';
    this.painted = on;
    this.legend = on ? { low: '0', high: '10 % of the size' } : null;
    this.mesh.material.vertexColors = on;
    this.mesh.material.color.set(on ? 0xffffff : 0xd9a066);
    this.mesh.material.needsUpdate = true;
  }
  setWireframe(on) {
    this.mesh.material.wireframe = on;
  }

  // ---- what acts on it ----------------------------------------------------------------------------------------------

  setGravity(downwards) {
    this.state.setGravity([0, -downwards, 0]);
  }
  setWind(speed) {
    this.state.setWind([speed, 0, 0], 0.5, 0.5);
  }
  get hasWind() {
    return this.object.domainCount > 1;
  }
  reset() {
    this.state.reset();
  }
  startClip() {}

  /** `seconds` of the display have passed. */
  advance(seconds, player) {
    this.missed += Math.max(0, seconds - LONGEST);
    if (!player.playing) return;
    const start = performance.now(), span = Math.min(seconds, LONGEST) * player.speed;
    const count = this.pull.active ? Math.max(1, Math.ceil(span / PULL_STEP - 1e-9)) : 1;
    for (let k = 0; k < count && span > 0; ++k) {
      this.pull.apply();
      this.sketch?.see(this.pull.active ? this.pull.forces : [], span / count);
      if (this.state.advance(span / count)) ++this.recovered;
    }
    this.steps += count;
    this.simulated += span;
    this.#record('step', performance.now() - start);
  }

  show() {
    const start = performance.now();
    this.geometry.attributes.position.copyArray(this.state.positions()).needsUpdate = true;
    this.geometry.computeVertexNormals();
    if (this.painted) this.#paint();
    this.#record('show', performance.now() - start);
  }
  #paint() {
    const u = this.state.displacements(), { color } = this.geometry.attributes, made = [0, 0, 0];
    for (let v = 0; v < color.count; ++v) {
      heat(Math.hypot(u[3 * v], u[3 * v + 1], u[3 * v + 2]) / (0.1 * this.size), made);
      color.setXYZ(v, made[0], made[1], made[2]);
    }
    color.needsUpdate = true;
  }

  #record(name, milliseconds) {
    this.times[name] += 0.08 * (milliseconds - this.times[name]);
  }
  recordDraw(milliseconds) {
    this.#record('draw', milliseconds);
  }
  restoreContext() {}
}
