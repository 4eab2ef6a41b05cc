// SPDX-License-Identifier: Apache-2.0
// Pulling flesh: a spring between the pointer and a patch of skin around the point that was grabbed. How strong the
// spring may be depends on what hangs on it, which a trial of two steps tells: the same state goes on with a small force
// and without, and the difference is the mass m that the patch feels. The spring's frequency is then the same for an ear
// and a belly, and well below the rate at which its force is found anew, so that it can't shake itself to pieces.
import { Plane, Raycaster, Vector2, Vector3 } from 'three';

export const PULL_STEP = 1 / 240; // [s] between two forces
const SPRING = 75; // [rad/s]
const DAMPING = 0.5; // ratio
const RADIUS = 0.045; // of the patch, of the height
const REACH = 0.22; // how far skin is pulled at most, of the height
const MOST_VERTICES = 48;
const TRIAL_STEPS = 2;

/** The nearest triangle that a ray meets: {vertex, point, distance}, or null. */
export function firstHit(ray, positions, triangles) {
  const a = new Vector3(), b = new Vector3(), c = new Vector3(), at = new Vector3();
  let best = null;
  for (let t = 0; t < triangles.length; t += 3) {
    a.fromArray(positions, 3 * triangles[t]);
    b.fromArray(positions, 3 * triangles[t + 1]);
    c.fromArray(positions, 3 * triangles[t + 2]);
    if (!ray.intersectTriangle(a, b, c, false, at)) continue;
    const distance = at.distanceTo(ray.origin);
    if (best && best.distance <= distance) continue;
    const corner = [a, b, c].map((x) => x.distanceTo(at));
    best = { vertex: triangles[t + corner.indexOf(Math.min(...corner))], point: at.clone(), distance };
  }
  return best;
}

export class Pull {
  /** `flesh`: a SoftGltf; positions of the world are the scene's times its metres. */
  constructor(flesh, camera, canvas) {
    this.flesh = flesh;
    this.camera = camera;
    this.canvas = canvas;
    this.raycaster = new Raycaster();
    this.metres = flesh.character.metresPerUnit;
    this.grabs = new Map(); // of each pointer
    this.pace = 1; // how fast the flesh's own time goes
    this.forces = []; // of the last step
  }

  get active() {
    return this.grabs.size > 0;
  }

  #ray(x, y) {
    const bounds = this.canvas.getBoundingClientRect();
    const place = new Vector2((2 * (x - bounds.left)) / bounds.width - 1, 1 - (2 * (y - bounds.top)) / bounds.height);
    this.raycaster.setFromCamera(place, this.camera);
    const ray = this.raycaster.ray.clone();
    ray.origin.multiplyScalar(this.metres);
    return ray;
  }

  hit(x, y) {
    return firstHit(this.#ray(x, y), this.flesh.state.positions(), this.flesh.character.triangles);
  }

  /** Takes hold of the skin under the pointer; false where there is none. */
  begin(id, x, y) {
    const hit = this.hit(x, y);
    if (!hit) return false;
    const patch = this.#patch(hit.vertex);
    const normal = this.camera.getWorldDirection(new Vector3());
    const plane = new Plane().setFromNormalAndCoplanarPoint(normal, hit.point);
    const grab = { vertex: hit.vertex, patch, plane, mass: this.#mass(patch), offset: new Vector3(), start: hit.point, last: null };
    this.grabs.set(id, grab);
    return true;
  }

  /** Vertices around one, with shares that fall off. */
  #patch(vertex) {
    const x = this.flesh.state.positions(), radius = RADIUS * this.flesh.character.height;
    const near = [];
    for (let v = 0; v < this.flesh.character.vertexCount; ++v) {
      const d = Math.hypot(x[3 * v] - x[3 * vertex], x[3 * v + 1] - x[3 * vertex + 1], x[3 * v + 2] - x[3 * vertex + 2]);
      if (d < radius) near.push({ vertex: v, share: (1 - d / radius) ** 2 });
    }
    near.sort((a, b) => b.share - a.share);
    near.length = Math.min(near.length, MOST_VERTICES);
    const sum = near.reduce((total, { share }) => total + share, 0);
    return near.map(({ vertex: v, share }) => ({ vertex: v, share: share / sum }));
  }

  /** By a force that moves the patch a little: neither by less than rounding does, nor by more than flesh bears. */
  #mass(patch) {
    const { height } = this.flesh.character;
    let force = 1;
    for (let trial = 0; trial < 5; ++trial) {
      const moved = this.#response(patch, force), share = moved / height;
      if (share > 1e-5 && share < 1e-2) return (force * (TRIAL_STEPS * PULL_STEP) ** 2) / (2 * moved);
      force *= share >= 1e-2 ? 1e-3 : 1e2;
    }
    return 0; // held by bone: no force moves it
  }

  #response(patch, force) {
    const { state } = this.flesh;
    const saved = state.save();
    const after = (pulls) => {
      state.setPulls(pulls);
      for (let k = 0; k < TRIAL_STEPS; ++k) state.advance(PULL_STEP);
      const moved = mean(patch, state.displacements());
      state.restore(saved);
      return moved;
    };
    const free = after([]);
    const axes = [[force, 0, 0], [0, force, 0], [0, 0, force]];
    return Math.max(...axes.map((axis, k) => Math.abs(
      after(patch.map(({ vertex, share }) => ({ vertex, force: axis.map((f) => f * share) }))).sub(free).getComponent(k))));
  }

  move(id, x, y) {
    const grab = this.grabs.get(id);
    const target = grab && this.#ray(x, y).intersectPlane(grab.plane, new Vector3());
    if (!target) return;
    grab.offset.copy(target).sub(grab.start);
    const reach = REACH * this.flesh.character.height, length = grab.offset.length();
    if (length > 0) grab.offset.multiplyScalar(reach / (reach + length)); // the farther, the harder
  }

  /** A pull that no pointer makes: from a vertex along an offset [m], for so many seconds. */
  hold(id, vertex, offset, seconds) {
    const patch = this.#patch(vertex);
    this.grabs.set(id, { vertex, patch, mass: this.#mass(patch), offset, last: null, left: seconds });
  }

  end(id) {
    this.grabs.delete(id);
    if (!this.active) this.flesh.state.setPulls([]);
  }

  /** Forces for the next step. The patch shall be displaced by the offset, wherever the rig carries it meanwhile. */
  apply() {
    for (const [id, grab] of this.grabs) if (grab.left !== undefined && (grab.left -= PULL_STEP) < 0) this.end(id);
    if (!this.active) return;
    const u = this.flesh.state.displacements(), pulls = [];
    for (const grab of this.grabs.values()) {
      const now = mean(grab.patch, u);
      grab.first ??= now.clone();
      const velocity = now.clone().sub(grab.last ?? now).divideScalar(this.pace * PULL_STEP);
      grab.last = now.clone();
      const force = grab.offset.clone().add(grab.first).sub(now).multiplyScalar(grab.mass * SPRING * SPRING);
      force.addScaledVector(velocity, -2 * DAMPING * SPRING * grab.mass);
      for (const { vertex, share } of grab.patch) pulls.push({ vertex, force: [force.x * share, force.y * share, force.z * share] });
    }
    this.forces = pulls.slice(0, 64);
    this.flesh.state.setPulls(this.forces);
  }
}

function mean(patch, xyz) {
  const sum = new Vector3();
  for (const { vertex, share } of patch)
    sum.add(new Vector3(xyz[3 * vertex], xyz[3 * vertex + 1], xyz[3 * vertex + 2]).multiplyScalar(share));
  return sum;
}
