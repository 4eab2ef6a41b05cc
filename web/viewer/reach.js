// SPDX-License-Identifier: Apache-2.0
// Hands and feet to move: a handle on each joint at the end of a limb, and the runtime's inverse kinematics, which turn
// the limb so that it gets there. Clips go on meanwhile; what is let go returns to them.
import { Plane, Quaternion, Raycaster, Vector2, Vector3 } from 'three';

const SMALL = 0.14; // of the height: what hangs on a hand or a foot is no farther from it
const SLIGHT = 0.05; // of the height: no limb is so short
const MOST_LINKS = 3; // of a limb
const FOLLOW = 0.05; // [s] that a limb lags behind the pointer
const RETURN = 0.35; // [s]

/** Ends of limbs: [{tip, root, chain}], joints by number, `chain` from root to tip. */
export function findLimbs(joints, places, height, used) {
  const far = joints.map(() => 0), children = joints.map(() => []);
  for (let j = joints.length - 1; j >= 0; --j) {
    for (let p = joints[j].parent, at = j; p >= 0 && used[j]; at = p, p = joints[at].parent)
      far[p] = Math.max(far[p], Math.hypot(...[0, 1, 2].map((i) => places[j][i] - places[p][i])));
    if (joints[j].parent >= 0 && used[j]) children[joints[j].parent].push(j);
  }
  // What ends at a joint itself (a twist, a pocket) is no branch; what spreads within a hand is one end.
  const forks = (p, from) => children[p].some((c) => c !== from && far[c] > SLIGHT * height);
  const limbs = new Map();
  joints.forEach((_, leaf) => {
    if (!used[leaf] || children[leaf].length) return;
    let tip = leaf;
    for (let p = joints[leaf].parent; p >= 0 && used[p]; p = joints[p].parent) {
      if (children[p].length < 2) continue;
      if (far[p] > SMALL * height) break;
      tip = p;
    }
    const chain = [tip];
    for (let p = joints[tip].parent; p >= 0 && used[p] && chain.length <= MOST_LINKS && !forks(p, chain[0]); p = joints[p].parent) chain.unshift(p);
    if (chain.length > 1) limbs.set(tip, { tip, root: chain[0], chain });
  });
  return [...limbs.values()];
}

export class Reach {
  /** `copies`: roots of the same model that are posed alike. */
  constructor(flesh, copies, stage) {
    this.flesh = flesh;
    this.stage = stage;
    this.on = false;
    this.metres = flesh.character.metresPerUnit;
    flesh.readJoints();
    const places = flesh.joints.map((_, j) => [0, 1, 2].map((i) => flesh.matrices[16 * j + 12 + i]));
    const bones = new Set();
    flesh.scene.traverse((object) => object.isSkinnedMesh && object.skeleton.bones.forEach((bone) => bones.add(bone)));
    const used = flesh.joints.map((object) => object !== null && bones.has(object));
    this.copies = this.#match(copies);
    this.limbs = findLimbs(flesh.character.joints, places, flesh.character.height, used).map((limb) => ({
      ...limb, name: flesh.character.joints[limb.tip].name, target: null, goal: null, weight: 0, own: new Map(), turned: new Map(),
    }));
  }

  /** The same joint in each copy: copies have the same objects in the same order. */
  #match(copies) {
    const list = (root) => {
      const all = [];
      root.traverse((object) => all.push(object));
      return all;
    };
    const own = list(this.flesh.scene), lists = copies.map(list);
    return new Map(this.flesh.joints.map((object, j) => [j, object ? lists.map((all) => all[own.indexOf(object)]) : []]));
  }

  /** Where a joint is now [m]. */
  place(limb) {
    return new Vector3().setFromMatrixPosition(this.flesh.joints[limb.tip].matrixWorld).multiplyScalar(this.metres);
  }

  hold(limb) {
    limb.held = true;
    limb.target ??= this.place(limb);
    limb.goal = limb.target.clone();
  }
  move(limb, goal) {
    limb.goal = goal;
  }
  release(limb) {
    limb.held = false;
  }

  get active() {
    return this.limbs.some(({ target }) => target !== null);
  }

  /** Joints are as clips have them again: before clips are asked. */
  undo() {
    for (const limb of this.limbs)
      for (const [j, rotation] of limb.own)
        for (const object of [this.flesh.joints[j], ...this.copies.get(j)]) object.quaternion.copy(rotation);
  }

  /** Turns limbs; after clips were asked. */
  apply(seconds) {
    for (const limb of this.limbs) {
      limb.own.clear();
      if (!limb.target) continue;
      for (const j of limb.chain) limb.own.set(j, this.flesh.joints[j].quaternion.clone());
      limb.weight = limb.held ? 1 : limb.weight - seconds / RETURN;
      if (limb.weight <= 0) {
        limb.target = null;
        continue;
      }
      if (limb.held) this.#solve(limb, seconds);
      const s = limb.weight * limb.weight * (3 - 2 * limb.weight);
      for (const j of limb.chain.slice(0, -1)) {
        const turned = limb.turned.get(j);
        if (!turned) continue;
        for (const object of [this.flesh.joints[j], ...this.copies.get(j)]) object.quaternion.slerp(turned, s);
      }
    }
  }

  #solve(limb, seconds) {
    const { flesh } = this;
    limb.target.lerp(limb.goal, 1 - Math.exp(-seconds / FOLLOW));
    flesh.readJoints();
    limb.missed = flesh.state.reach(limb.root, limb.tip, limb.target.toArray());
    for (const j of limb.chain.slice(0, -1)) {
      const [, , , x, y, z, w] = flesh.state.joint(j);
      limb.turned.set(j, new Quaternion(x, y, z, w));
    }
  }
}

/** A button on every limb's end, for mouse, finger and arrow keys. */
export class Handles {
  constructor(reach, stage, box) {
    this.reach = reach;
    this.stage = stage;
    this.box = box;
    this.ray = new Raycaster();
    this.buttons = reach.limbs.map((limb) => this.#button(limb));
    box.append(...this.buttons);
    this.show(false);
  }

  show(on) {
    this.reach.on = on;
    this.box.hidden = !on;
    this.follow();
    if (!on) for (const limb of this.reach.limbs) this.reach.release(limb);
  }

  #button(limb) {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'handle', title: `${limb.name}: drag, or arrow keys; Escape lets go` });
    button.setAttribute('aria-label', `Move ${limb.name}`);
    const { reach } = this;
    let plane = null;
    const drop = () => {
      plane = null;
      button.classList.remove('held');
      reach.release(limb);
    };
    button.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      button.focus();
      button.setPointerCapture(event.pointerId);
      button.classList.add('held');
      reach.hold(limb);
      plane = new Plane().setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new Vector3()), limb.target.clone().divideScalar(reach.metres));
    });
    button.addEventListener('pointermove', (event) => {
      const goal = plane && this.#at(event, plane);
      if (goal) reach.move(limb, goal);
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) button.addEventListener(end, drop);
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    button.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') drop();
      const way = ways[event.key];
      if (!way) return;
      event.preventDefault();
      event.stopPropagation();
      if (!limb.held) reach.hold(limb);
      button.classList.add('held');
      const { camera } = this.stage, step = 0.03 * reach.flesh.character.height;
      const across = new Vector3(way[0], way[1], 0).applyQuaternion(camera.quaternion).multiplyScalar(step);
      reach.move(limb, limb.goal.clone().add(across));
    });
    button.addEventListener('blur', () => plane === null && drop());
    return button;
  }

  #at(event, plane) {
    const bounds = this.stage.canvas.getBoundingClientRect();
    this.ray.setFromCamera(new Vector2((2 * (event.clientX - bounds.left)) / bounds.width - 1, 1 - (2 * (event.clientY - bounds.top)) / bounds.height), this.stage.camera);
    return this.ray.ray.intersectPlane(plane, new Vector3())?.multiplyScalar(this.reach.metres) ?? null;
  }

  /** Buttons go where joints are. */
  follow() {
    if (this.box.hidden) return;
    const { canvas, camera } = this.stage;
    this.reach.limbs.forEach((limb, k) => {
      const at = this.reach.place(limb).divideScalar(this.reach.metres).project(camera);
      this.buttons[k].style.left = `${(0.5 + 0.5 * at.x) * canvas.clientWidth}px`;
      this.buttons[k].style.top = `${(0.5 - 0.5 * at.y) * canvas.clientHeight}px`;
    });
  }
}
