// SPDX-License-Identifier: Apache-2.0
// A character with its asset, live: clips move the joints, the runtime moves the flesh, a pointer pulls it.
//
// Time. The flesh moves on a fixed grid of 240 steps a second inside the runtime, whatever the display does. Joints are
// given at least 90 times a second, and forces of a pull 240 times, so that one slow picture costs pictures and no motion.
import { Box3, BufferAttribute, BufferGeometry, Color, Group, MeshStandardMaterial, Points, PointsMaterial, SkeletonHelper, Vector3 } from 'three';
import { clone } from 'three/addons/utils/SkeletonUtils.js';
import { floatTexture, SoftGltf } from '../runtime/three.js';
import { loadGltf } from './load_gltf.js';
import { hasBlock, PageFault, readBlock } from './data.js';
import { Brush } from './brush.js';
import { Contacts } from './contacts.js';
import { GREY, heat, kind } from './colours.js';
import { Reach } from './reach.js';
import { Clips } from './player.js';
import { Pull, PULL_STEP } from './pull.js';

const JOINT_STEP = 1 / 90; // [s] between two poses, at most
const LONGEST = 0.25; // [s]: a longer pause is a pause
const JUMP = 0.5; // [s] of a clip in one step: that is no motion, but a cut
const HASTE = 2.5; // how much faster than it was made a clip goes by while somebody scrubs it, at most

const NEAR = 0.03; // of the height: gaps between skin and skin that are looked at
const TOUCHING = 0.003; // of the height: less is contact
const LOOK_EVERY = 0.12; // [s]: for contacts, which take some milliseconds to find

const BUSY = 0.75; // of the time, for steps: more leaves nothing to draw in

/** Materials show numbers in colours, on request: how far flesh has gone, or a colour for each welded vertex. */
function makePaint(vertexCount) {
  const uniforms = {
    supplePaint: { value: 0 }, supplePaintScale: { value: 1 },
    suppleOwnColour: { value: 0 }, suppleColours: { value: floatTexture(vertexCount) },
  };
  function colour_by_numbers(shader) {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace('varying float suppleAmount;', 'varying float suppleAmount;\nvarying vec3 suppleColour;\nuniform highp sampler2D suppleColours;')
      .replace('suppleAmount = length(suppleMoved);', `suppleAmount = length(suppleMoved);
        suppleColour = texelFetch(suppleColours, supplePlace(suppleColours), 0).xyz;`);
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', `#include <common>
        varying float suppleAmount;
        varying vec3 suppleColour;
        uniform float supplePaint, supplePaintScale, suppleOwnColour;
        vec3 suppleHeat(float t) {
          t = clamp(t, 0.0, 1.0);
          vec3 low = mix(vec3(0.05, 0.08, 0.3), vec3(0.0, 0.45, 0.62), min(1.0, 3.0 * t));
          vec3 high = mix(vec3(0.95, 0.72, 0.2), vec3(0.75, 0.08, 0.05), clamp(3.0 * t - 2.0, 0.0, 1.0));
          return mix(low, high, clamp(3.0 * t - 1.0, 0.0, 1.0));
        }`)
      .replace('#include <color_fragment>', `#include <color_fragment>
        diffuseColor.rgb = mix(diffuseColor.rgb, mix(suppleHeat(suppleAmount * supplePaintScale), suppleColour, suppleOwnColour), supplePaint);`);
  }
  return { uniforms, paint: colour_by_numbers };
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
    const character = supple.character(asset), numbers = {};
    for (const [name, Kind] of [['stiffness', Float32Array], ['regions', Uint32Array]]) {
      if (!hasBlock(name)) continue;
      const bytes = await readBlock(name);
      if (bytes.byteLength !== 4 * character.vertexCount)
        throw new PageFault(`The ${name} in this page are damaged; make the page again with supple view.`);
      numbers[name] = new Kind(bytes.buffer, bytes.byteOffset, character.vertexCount);
    }
    return new LiveCharacter(gltf, character, description, stage, numbers);
  }

  constructor(gltf, character, description, stage, { stiffness, regions }) {
    this.stage = stage;
    this.character = character;
    this.gltf = gltf;
    this.settings = { damping: undefined, drive: 1, softness: 1 }; // undefined: as the asset has it
    this.ownDamping = description.damping ?? 0.15;
    this.rigid = clone(gltf.scene);
    this.overlay = clone(gltf.scene);
    ghost(this.overlay, new Color(0x6f9fe8));
    this.#shadows(gltf.scene);
    this.#shadows(this.rigid);
    const { uniforms, paint } = makePaint(character.vertexCount);
    this.paint = uniforms;
    this.paint.supplePaintScale.value = 1 / (0.06 * character.height);
    this.flesh = new SoftGltf(gltf, character, { bind: description.bind ?? false, paint, settings: this.#stateSettings() });
    this.canUseCard = !(description.bind ?? false);
    this.stiffness = stiffness;
    this.regions = regions && { numbers: regions, names: description.regions ?? [] };
    this.colour = 'plain';
    this.air = { gravity: 0, wind: 0 };
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
    this.reach = new Reach(this.flesh, [this.rigid, this.overlay], stage);
    this.brush = new Brush(this.flesh, description.name);
    this.times = { pose: 0, step: 0, show: 0, draw: 0 };
    this.steps = 0;
    this.missed = 0;
    this.load = 0; // share of the time that steps take
    this.looked = 0;
    this.simulated = 0;
    this.recovered = 0;
    this.last = { clip: null, time: 0 };
    this.flesh.update(0);
    this.box = new Box3().setFromArray(Array.from(this.flesh.state.positions(), (x) => x / character.metresPerUnit));
    this.setView('soft');
    this.#markContacts();
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
    if (name === 'softness') this.#setAir();
    else this.flesh.changeSettings(this.#stateSettings());
  }

  // Softer by s in all of the flesh is the same flesh in slower time: with t' = t/√s its equations M ü + K(u)/s = f become
  // M u'' + K(u) = s f, exactly. So its steps take √s times less of its own time, forces grow by s and speeds by √s.
  get pace() {
    return 1 / Math.sqrt(this.settings.softness);
  }
  setGravity(downwards) {
    this.air.gravity = downwards;
    this.#setAir();
  }
  setWind(speed) {
    this.air.wind = speed;
    this.#setAir();
  }
  #setAir() {
    const { state } = this.flesh, { softness } = this.settings, { gravity, wind } = this.air;
    this.pull.pace = this.pace;
    state.setGravity([0, -gravity * softness, 0]);
    state.setWind([wind / this.pace, 0, 0], wind === 0 ? 0 : 3 / this.pace);
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

  get colours() {
    const all = [['plain', 'Plain'], ['displacement', 'Displacement'], ['stretch', 'Stretch of the skin']];
    if (this.stiffness) all.push(['stiffness', 'Stiffness']);
    if (this.regions) all.push(['region', 'Region']);
    all.push(['contact', 'Contact'], ['joint', 'Joints'], ['brush', 'Painted softness']);
    return all;
  }

  setColour(colour) {
    this.colour = colour;
    this.paint.supplePaint.value = colour === 'plain' ? 0 : 1;
    this.paint.suppleOwnColour.value = colour === 'plain' || colour === 'displacement' ? 0 : 1;
    this.legend = {
      displacement: { low: '0', high: '6 % of the height' }, stretch: { low: '−25 %', high: '+25 %' },
      brush: { low: '8× firmer', high: '8× softer' }, contact: { low: `${100 * NEAR} % of the height apart`, high: 'skin touches skin' },
    }[colour] ?? null;
    if (colour === 'stiffness') this.#colourStiffness();
    if (colour === 'joint') this.#colourJoints();
    if (colour === 'region') this.#colourRegions();
    this.lookedForContacts = -Infinity;
    if (colour === 'brush') this.showBrush();
  }

  #fill(colourOf) {
    const texture = this.paint.suppleColours.value, { data } = texture.image;
    for (let v = 0; v < this.character.vertexCount; ++v) colourOf(v, data, 4 * v);
    texture.needsUpdate = true;
  }
  showBrush() {
    this.#fill((v, out, at) => this.brush.colour(v, out, at));
  }
  #colourStiffness() {
    let least = Infinity, most = 0;
    for (const young of this.stiffness)
      if (young > 0) [least, most] = [Math.min(least, young), Math.max(most, young)];
    const named = (young) => `${Number(young.toPrecision(3))} kPa`;
    this.legend = { low: named(least), high: `${named(most)}; grey: bone` };
    this.#fill((v, out, at) => {
      if (this.stiffness[v] > 0) heat(Math.log(this.stiffness[v] / least) / Math.max(1e-9, Math.log(most / least)), out, at);
      else out.set(GREY, at);
    });
  }
  #colourRegions() {
    const { numbers, names } = this.regions, own = [0, 0, 0], there = [...new Set(numbers)].sort((a, b) => a - b);
    const colourOf = (number, out, at) => (number === 0 ? out.set(GREY, at) : kind(number, out, at));
    this.legend = {
      names: there.map((number) => {
        if (number === 0) own.splice(0, 3, ...GREY);
        else kind(number, own);
        return [names[number] ?? `region ${number}`, [...own]];
      }),
    };
    this.#fill((v, out, at) => colourOf(numbers[v], out, at));
  }
  /** The gaps between skin and skin as they are now, at most some times a second. */
  #lookForContacts() {
    const now = performance.now() / 1000;
    if (now < this.lookedForContacts + LOOK_EVERY) return;
    this.lookedForContacts = now;
    const { height } = this.character, reach = NEAR * height, x = this.flesh.state.positions();
    const gaps = this.contacts.update(x);
    if (this.colour === 'contact') this.#fill((v, out, at) => heat(Math.min(1, 1 - Math.max(0, gaps[v]) / reach), out, at));
    if (!this.dots.visible) return;
    const { position } = this.dots.geometry.attributes;
    let count = 0;
    for (let v = 0; v < gaps.length; ++v) {
      if (gaps[v] > TOUCHING * height) continue;
      for (let i = 0; i < 3; ++i) position.array[3 * count + i] = x[3 * v + i] / this.character.metresPerUnit;
      ++count;
    }
    position.needsUpdate = true;
    this.dots.geometry.setDrawRange(0, count);
    this.touching = count;
  }
  #markContacts() {
    this.contacts = new Contacts(this.flesh.state.positions(), this.character.triangles, NEAR * this.character.height);
    const points = new BufferGeometry();
    points.setAttribute('position', new BufferAttribute(new Float32Array(3 * this.character.vertexCount), 3));
    points.setDrawRange(0, 0);
    this.dots = new Points(points, new PointsMaterial({ color: 0xff3b30, size: 5, sizeAttenuation: false, depthTest: false }));
    this.dots.visible = this.dots.frustumCulled = false;
    this.dots.renderOrder = 3;
    this.lookedForContacts = -Infinity;
    this.stage.scene.add(this.dots);
  }
  setContacts(on) {
    this.dots.visible = on;
    this.lookedForContacts = -Infinity;
  }
  /** The joint that each vertex hangs on most. */
  #colourJoints() {
    const owner = new Int32Array(this.character.vertexCount);
    for (const { object, primitive } of this.flesh.parts) {
      const { skinIndex, skinWeight } = object.geometry.attributes;
      if (!skinIndex) continue;
      this.character.primitives[primitive].weldedVertices.forEach((v, k) => {
        let best = 0;
        for (let c = 1; c < 4; ++c) if (skinWeight.getComponent(k, c) > skinWeight.getComponent(k, best)) best = c;
        owner[v] = skinIndex.getComponent(k, best);
      });
    }
    this.#fill((v, out, at) => kind(owner[v], out, at));
  }
  /** By how much flesh stretches the skin beyond what the rig does: the mean over the edges around a vertex. */
  #colourStretch() {
    const { triangles, vertexCount } = this.character, u = this.flesh.state.displacements().slice(), x = this.flesh.state.positions();
    const sum = (this.stretch ??= new Float32Array(vertexCount)).fill(0), count = (this.edges ??= new Float32Array(vertexCount)).fill(0);
    for (let t = 0; t < triangles.length; t += 3)
      for (let k = 0; k < 3; ++k) {
        const a = 3 * triangles[t + k], b = 3 * triangles[t + ((k + 1) % 3)];
        const [dx, dy, dz] = [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]];
        const [ex, ey, ez] = [dx - u[b] + u[a], dy - u[b + 1] + u[a + 1], dz - u[b + 2] + u[a + 2]];
        const rest = Math.sqrt(ex * ex + ey * ey + ez * ez);
        if (rest === 0) continue;
        const stretch = Math.sqrt(dx * dx + dy * dy + dz * dz) / rest - 1;
        for (const v of [triangles[t + k], triangles[t + ((k + 1) % 3)]]) {
          sum[v] += stretch;
          count[v] += 1;
        }
      }
    this.#fill((v, out, at) => heat(0.5 + (2 * sum[v]) / Math.max(1, count[v]), out, at));
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
      if (this.flesh.advance((span / count) * this.pace)) ++this.recovered;
      posing += posed - start;
      stepping += performance.now() - posed;
    }
    this.steps += count;
    this.simulated += span;
    this.#record('pose', posing);
    this.#record('step', stepping);
    this.#keepUp(seconds, posing + stepping);
  }

  /** Where steps take all of the time, fewer coordinates move: slow motion would be worse. */
  #keepUp(seconds, milliseconds) {
    if (seconds <= 0) return;
    this.load += 0.1 * (milliseconds / (1000 * Math.min(seconds, LONGEST)) - this.load);
    if (++this.looked < 12 || this.load < BUSY) return;
    this.looked = 0;
    const { state } = this.flesh, least = Math.min(8, this.character.coordinateCount), fewer = Math.max(least, Math.floor(0.7 * state.detail));
    if (fewer === state.detail) return;
    state.setDetail(fewer, 0.2);
    this.lowered = true;
  }

  #pose(player, anew, seconds) {
    this.reach.undo();
    this.#poseClip(player, anew, seconds);
    this.reach.apply(seconds);
  }
  #poseClip(player, anew, seconds) {
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
    if (this.colour === 'stretch') this.#colourStretch();
    if (this.colour === 'contact' || this.dots.visible) this.#lookForContacts();
    this.#record('show', performance.now() - start);
  }

  #record(name, milliseconds) {
    this.times[name] += 0.08 * (milliseconds - this.times[name]);
  }
  recordDraw(milliseconds) {
    this.#record('draw', milliseconds);
  }

  restoreContext() {
    this.paint.suppleColours.value.needsUpdate = true;
    this.flesh.restoreContext();
  }
}
