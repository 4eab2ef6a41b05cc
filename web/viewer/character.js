// SPDX-License-Identifier: Apache-2.0
// A character with its asset, live: clips move the joints, the runtime moves the flesh, a pointer pulls it.
//
// Time. The flesh moves on a fixed grid of 240 steps a second inside the runtime, whatever the display does. Joints are
// given at least 90 times a second, and forces of a pull 240 times, so that one slow picture costs pictures and no motion.
import { Box3, Color, Group, MeshStandardMaterial, SkeletonHelper, Vector3 } from 'three';
import { clone } from 'three/addons/utils/SkeletonUtils.js';
import { SoftGltf } from '../runtime/three.js';
import { loadGltf } from './load_gltf.js';
import { readBlock } from './data.js';
import { Clips } from './player.js';
import { Pull, PULL_STEP } from './pull.js';

const JOINT_STEP = 1 / 90; // [s] between two poses, at most
const LONGEST = 0.25; // [s]: a longer pause is a pause
const JUMP = 0.5; // [s] of a clip in one step: that is no motion, but a cut
const HASTE = 2.5; // how much faster than it was made a clip goes by while somebody scrubs it, at most

/** Materials show how far flesh has gone, on request. */
function makePaint() {
  const uniforms = { supplePaint: { value: 0 }, supplePaintScale: { value: 1 } };
  function colour_by_displacement(shader) {
    Object.assign(shader.uniforms, uniforms);
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', `#include <common>
        varying float suppleAmount;
        uniform float supplePaint, supplePaintScale;
        vec3 suppleHeat(float t) {
          t = clamp(t, 0.0, 1.0);
          vec3 low = mix(vec3(0.05, 0.08, 0.3), vec3(0.0, 0.45, 0.62), min(1.0, 3.0 * t));
          vec3 high = mix(vec3(0.95, 0.72, 0.2), vec3(0.75, 0.08, 0.05), clamp(3.0 * t - 2.0, 0.0, 1.0));
          return mix(low, high, clamp(3.0 * t - 1.0, 0.0, 1.0));
        }`)
      .replace('#include <color_fragment>', `#include <color_fragment>
        diffuseColor.rgb = mix(diffuseColor.rgb, suppleHeat(suppleAmount * supplePaintScale), supplePaint);`);
  }
  return { uniforms, paint: colour_by_displacement };
}

function ghost(root, colour) {
  root.traverse((object) => {
    if (!object.isMesh) return;
    object.material = new MeshStandardMaterial({ color: colour, transparent: true, opacity: 0.28, roughness: 0.9, depthWrite: false });
    object.castShadow = false;
    object.renderOrder = 2;
  });
}

export class LiveCharacter {
  static async load(supple, description, stage) {
    const [model, asset] = await Promise.all([readBlock('model'), readBlock('asset')]);
    const gltf = await loadGltf(model, description.name);
    return new LiveCharacter(gltf, supple.character(asset), description, stage);
  }

  constructor(gltf, character, description, stage) {
    this.stage = stage;
    this.character = character;
    this.gltf = gltf;
    this.settings = { damping: undefined, drive: 1 }; // undefined: as the asset has it
    this.ownDamping = description.damping ?? 0.15;
    this.rigid = clone(gltf.scene);
    this.overlay = clone(gltf.scene);
    ghost(this.overlay, new Color(0x6f9fe8));
    this.#shadows(gltf.scene);
    this.#shadows(this.rigid);
    const { uniforms, paint } = makePaint();
    this.paint = uniforms;
    this.paint.supplePaintScale.value = 1 / (0.06 * character.height);
    this.flesh = new SoftGltf(gltf, character, { bind: description.bind ?? false, paint, settings: this.#stateSettings() });
    this.canUseCard = !(description.bind ?? false);
    this.actors = [gltf.scene, this.rigid, this.overlay].map((root) => new Clips(root, gltf.animations));
    this.clips = gltf.animations.map(({ name, duration }) => ({ name, duration }));
    this.root = new Group();
    this.root.add(gltf.scene, this.rigid, this.overlay);
    stage.scene.add(this.root);
    this.bones = new SkeletonHelper(gltf.scene);
    this.bones.material.depthTest = false;
    this.bones.visible = false;
    stage.scene.add(this.bones);
    this.pull = new Pull(this.flesh, stage.camera, stage.canvas);
    this.times = { pose: 0, step: 0, show: 0, draw: 0 };
    this.steps = 0;
    this.missed = 0;
    this.simulated = 0;
    this.recovered = 0;
    this.last = { clip: null, time: 0 };
    this.flesh.update(0);
    this.box = new Box3().setFromArray(Array.from(this.flesh.state.positions(), (x) => x / character.metresPerUnit));
    this.setView('soft');
  }

  #shadows(root) {
    root.traverse((object) => {
      if (object.isMesh) object.castShadow = object.receiveShadow = true;
    });
  }

  #stateSettings() {
    const { damping, drive } = this.settings;
    return { damping, drive: Math.max(drive, 1e-6) };
  }

  set(name, value) {
    this.settings[name] = value;
    this.flesh.changeSettings(this.#stateSettings());
  }

  // ---- what is seen -------------------------------------------------------------------------------------------------

  setView(view) {
    this.view = view;
    const width = this.box.max.x - this.box.min.x;
    this.rigid.visible = view === 'beside';
    this.overlay.visible = view === 'overlaid';
    this.rigid.position.x = -1.15 * width;
    const shown = this.box.clone();
    if (view === 'beside') shown.min.x -= 1.15 * width;
    this.stage.frame(shown, view === 'beside');
  }

  /** What stands where, for labels. */
  labels() {
    if (this.view !== 'beside') return [];
    const at = (object) => new Vector3((this.box.min.x + this.box.max.x) / 2 + object.position.x, this.box.min.y, this.box.max.z);
    return [['rigid', at(this.rigid)], ['soft', at(this.gltf.scene)]];
  }

  setPaint(on) {
    this.paint.supplePaint.value = on ? 1 : 0;
  }
  setWireframe(on) {
    for (const { object } of this.flesh.parts) object.material.wireframe = on;
  }
  setBones(on) {
    this.bones.visible = on;
  }
  setProduct(product) {
    this.flesh.product = product;
  }

  /** The largest difference between the card's displacements and the processor's, of the height; null without a card. */
  compareProducts(renderer) {
    const before = this.flesh.product;
    this.flesh.product = 'card';
    this.flesh.show(renderer);
    this.flesh.product = before;
    const { cardProduct } = this.flesh;
    if (!cardProduct) return null;
    const card = cardProduct.read(renderer), own = this.flesh.state.displacements();
    let most = 0;
    for (let k = 0; k < own.length; ++k) most = Math.max(most, Math.abs(card[k] - own[k]));
    return most / this.character.height;
  }

  // ---- time ---------------------------------------------------------------------------------------------------------

  startClip(clip, fade = true) {
    for (const actor of this.actors) actor.start(clip?.name, fade);
    this.jumpsAtEnd = clip ? this.#jumps(clip) : false;
    this.last = { clip, time: 0 };
  }

  /** Whether a clip ends elsewhere than it begins: then beginning anew is a cut, and no motion. */
  #jumps(clip) {
    const animation = this.gltf.animations.find(({ name }) => name === clip.name);
    const limit = 0.02 * this.character.height;
    return animation.tracks.some((track) => {
      if (!track.name.endsWith('.position')) return false;
      const size = track.getValueSize(), values = track.values;
      return Math.hypot(...[0, 1, 2].map((i) => values[i] - values[values.length - size + i])) > limit;
    });
  }

  reset() {
    this.flesh.state.reset();
  }

  /** `seconds` of the display have passed. */
  advance(seconds, player) {
    this.missed += Math.max(0, seconds - LONGEST);
    const span = Math.min(seconds, LONGEST) * player.speed;
    const step = this.pull.active ? PULL_STEP : JOINT_STEP;
    const count = Math.max(1, Math.ceil(span / step - 1e-9));
    let posing = 0, stepping = 0;
    for (let k = 0; k < count && span > 0; ++k) {
      const start = performance.now();
      const anew = player.advance(span / count);
      this.#pose(player, anew, span / count);
      this.pull.apply();
      const posed = performance.now();
      if (this.flesh.advance(span / count)) ++this.recovered;
      posing += posed - start;
      stepping += performance.now() - posed;
    }
    this.steps += count;
    this.simulated += span;
    this.#record('pose', posing);
    this.#record('step', stepping);
  }

  #pose(player, anew, seconds) {
    const jump = player.time - this.last.time;
    if ((anew && this.jumpsAtEnd) || (!anew && Math.abs(jump) > JUMP)) this.flesh.state.cut();
    else if (!anew && Math.abs(jump) > 1.01 * seconds) {
      this.last.time += Math.sign(jump) * Math.min(Math.abs(jump), HASTE * seconds);
      for (const actor of this.actors) actor.poseAt(this.last.time, seconds);
      return;
    }
    this.last.time = player.time;
    for (const actor of this.actors) actor.poseAt(player.time, seconds);
  }

  show(renderer) {
    const start = performance.now();
    this.flesh.show(renderer);
    this.#record('show', performance.now() - start);
  }

  #record(name, milliseconds) {
    this.times[name] += 0.08 * (milliseconds - this.times[name]);
  }
  recordDraw(milliseconds) {
    this.#record('draw', milliseconds);
  }

  restoreContext() {
    this.flesh.restoreContext();
  }
}
