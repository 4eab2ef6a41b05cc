// SPDX-License-Identifier: Apache-2.0
// Soft tissue from `.supple` files in JavaScript: supple.h, which says more about each call, as classes. The same file
// runs in browsers and in node, with any bundler, under a content security policy of 'wasm-unsafe-eval'.
//
// Numbers that come out are views of the module's memory: look at them, or copy them, before the next call. Calls that
// fail throw a SuppleError with one sentence; after creation nothing allocates, and step after step nothing fails.

const FLOAT = 4;
const DOUBLE = 8;
const PULL_BYTES = 16;
const RECOVERED = 4;

export class SuppleError extends Error {
  constructor(message, status = 1) {
    super(message);
    this.name = 'SuppleError';
    this.status = status;
  }
}

/** Makes the module from its bytes, a WebAssembly.Module, or where `fetch` finds supple.wasm. */
export async function loadSupple(source) {
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(await bytesOf(source));
  const memory = new Memory();
  const instance = await WebAssembly.instantiate(module, memory.imports(module));
  memory.take(instance.exports);
  return new Supple(memory);
}

async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok) throw new SuppleError(`${response.url}: the module can't be fetched (${response.status})`);
  return response.arrayBuffer();
}

/** The module's memory and functions. */
class Memory {
  imports(module) {
    const refuse = () => 52; // "not supported": there is no system behind the module
    const ended = () => {
      throw new SuppleError('the module has run out of memory or into a fault; load the page again');
    };
    const known = { proc_exit: ended, abort: ended, emscripten_notify_memory_growth: () => {} };
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
      (imports[from] ??= {})[name] = known[name] ?? refuse;
    return imports;
  }

  take(exports) {
    this.call = exports;
    exports._initialize?.();
    this.scratch = this.reserve(64);
  }

  reserve(bytes) {
    const place = this.call.malloc(Math.max(bytes, 1));
    if (place === 0) throw new SuppleError(`there is not enough memory for ${bytes} bytes`);
    return place;
  }

  free(place) {
    this.call.free(place);
  }

  // The memory may have grown since the last view was made of it.
  floats(place, count) {
    return new Float32Array(this.call.memory.buffer, place, count);
  }
  doubles(place, count) {
    return new Float64Array(this.call.memory.buffer, place, count);
  }
  ints(place, count) {
    return new Int32Array(this.call.memory.buffer, place, count);
  }
  uints(place, count) {
    return new Uint32Array(this.call.memory.buffer, place, count);
  }
  bytes(place, count) {
    return new Uint8Array(this.call.memory.buffer, place, count);
  }

  text(place) {
    const all = new Uint8Array(this.call.memory.buffer);
    return new TextDecoder().decode(all.subarray(place, all.indexOf(0, place)));
  }

  /** Throws the sentence of a call that has failed; says whether flesh had to be put at rest. */
  check(status) {
    if (status === 0) return false;
    if (status === RECOVERED) return true;
    throw new SuppleError(this.text(this.call.supple_last_error()), status);
  }

  /** Runs `use` with the place of some bytes in the module. */
  lend(bytes, use) {
    const place = this.reserve(bytes.byteLength);
    try {
      this.bytes(place, bytes.byteLength).set(new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength));
      return use(place);
    } finally {
      this.free(place);
    }
  }

  /** What `create` writes into the pointer that it is given. */
  handle(create) {
    this.check(create(this.scratch));
    return this.uints(this.scratch, 1)[0];
  }
}

export class Supple {
  #memory;
  constructor(memory) {
    this.#memory = memory;
  }
  get version() {
    return this.#memory.text(this.#memory.call.supple_version());
  }
  #need(name, file) {
    if (!this.#memory.call[name]) throw new SuppleError(`this module can't load that; load ${file} instead`, 2);
  }
  /** A character from the bytes of a `.supple` file; the module is supple.wasm. */
  character(bytes) {
    this.#need('supple_character_load_memory', 'supple.wasm');
    return new Character(this.#memory, bytes);
  }
  /** A deformable object from the bytes of a `.supple` file; the module is supple_objects.wasm. */
  object(bytes) {
    this.#need('supple_object_load_memory', 'supple_objects.wasm');
    return new SoftObject(this.#memory, bytes);
  }
  /** How much memory the module has taken [bytes]. */
  get memoryBytes() {
    return this.#memory.call.memory.buffer.byteLength;
  }
}

/** What a state writes its answers to, grown when more is asked for. */
class Answers {
  constructor(memory) {
    this.memory = memory;
    this.places = new Map();
  }
  place(name, bytes) {
    const known = this.places.get(name);
    if (known && known.bytes >= bytes) return known.place;
    if (known) this.memory.free(known.place);
    const place = this.memory.reserve(bytes);
    this.places.set(name, { place, bytes });
    return place;
  }
  floats(name, count, fill) {
    const place = this.place(name, FLOAT * count);
    this.memory.check(fill(place));
    return this.memory.floats(place, count);
  }
  dispose() {
    for (const { place } of this.places.values()) this.memory.free(place);
    this.places.clear();
  }
}

/** Immutable; any number of states share it. */
export class Character {
  #memory;
  #handle;
  #vertexCounts = [];

  constructor(memory, bytes) {
    this.#memory = memory;
    const { call } = memory;
    this.#handle = memory.lend(bytes, (place) =>
      memory.handle((out) => call.supple_character_load_memory(place, bytes.byteLength, out)));
    const of = this.#handle;
    this.name = memory.text(call.supple_character_name(of));
    this.height = call.supple_character_height(of);
    this.metresPerUnit = call.supple_character_metres_per_unit(of);
    this.coordinateCount = call.supple_character_coordinate_count(of);
    this.vertexCount = call.supple_character_vertex_count(of);
    this.nodeCount = call.supple_character_node_count(of);
    this.poseCount = call.supple_character_pose_count(of);
    this.joints = this.#list(call.supple_character_joint_count(of), (j) => ({
      name: memory.text(call.supple_character_joint_name(of, j)),
      parent: call.supple_character_joint_parent(of, j),
    }));
    this.morphs = this.#list(call.supple_character_morph_count(of), (m) => ({
      name: memory.text(call.supple_character_morph_name(of, m)),
      neutral: call.supple_character_morph_neutral(of, m),
      followsPose: call.supple_character_morph_follows_pose(of, m) !== 0,
    }));
    this.meshes = this.#list(call.supple_character_mesh_count(of), (m) => this.#mesh(m));
    this.primitives = this.#list(call.supple_character_primitive_count(of), (p) => ({
      mesh: call.supple_character_primitive_mesh(of, p),
      weldedVertices: this.#copied((count) => call.supple_character_file_vertices(of, p, count)),
    }));
    this.#vertexCounts = this.primitives.map((p) => p.weldedVertices.length);
    this.triangles = this.#copied((count) => call.supple_character_triangles(of, count));
  }

  #list(count, make) {
    return Array.from({ length: count }, (_, k) => make(k));
  }

  #copied(find) {
    const place = find(this.#memory.scratch);
    const count = this.#memory.uints(this.#memory.scratch, 1)[0];
    return this.#memory.ints(place, count).slice();
  }

  #mesh(m) {
    const memory = this.#memory;
    memory.check(memory.call.supple_character_mesh(this.#handle, m, memory.scratch));
    const [name, joint, fileMesh, firstVertex, vertexCount, firstPrimitive, primitiveCount] = memory.ints(memory.scratch, 7);
    return { name: memory.text(name), joint, fileMesh, firstVertex, vertexCount, firstPrimitive, primitiveCount };
  }

  findJoint(name) {
    return this.joints.findIndex((joint) => joint.name === name);
  }

  /** Ten numbers: translation, rotation x y z w, scale. */
  jointRest(joint) {
    const { call, scratch } = this.#memory;
    this.#memory.check(call.supple_character_joint_rest(this.#handle, joint, scratch));
    return this.#memory.floats(scratch, 10).slice();
  }

  /** U of a pose: three rows of coordinateCount numbers for each node. A copy. */
  nodeBasis(pose) {
    const count = 3 * this.nodeCount * this.coordinateCount;
    const place = this.#memory.reserve(FLOAT * count);
    try {
      this.#memory.check(this.#memory.call.supple_character_node_basis(this.#handle, pose, place, count));
      return this.#memory.floats(place, count).slice();
    } finally {
      this.#memory.free(place);
    }
  }

  /** Four nodes, and their weights, of each welded vertex. Copies. */
  vertexNodes() {
    const count = 4 * this.vertexCount;
    const place = this.#memory.reserve(2 * FLOAT * count);
    try {
      const weights = place + FLOAT * count;
      this.#memory.check(this.#memory.call.supple_character_vertex_nodes(this.#handle, place, weights, count));
      return { nodes: this.#memory.uints(place, count).slice(), weights: this.#memory.floats(weights, count).slice() };
    } finally {
      this.#memory.free(place);
    }
  }

  /** One on the stage. */
  createState(settings = {}) {
    return new CharacterState(this.#memory, this, this.#handle, settings, this.#vertexCounts);
  }

  /** States that were made of it stay alive. */
  dispose() {
    this.#memory.call.supple_character_free(this.#handle);
    this.#handle = 0;
  }
}

export class CharacterState {
  #memory;
  #handle;
  #answers;
  #vertexCounts;

  constructor(memory, character, of, settings, vertexCounts) {
    this.#memory = memory;
    this.character = character;
    this.#vertexCounts = vertexCounts;
    this.#answers = new Answers(memory);
    const place = this.#answers.place('settings', 40);
    memory.bytes(place, 40).fill(0);
    memory.doubles(place, 2).set([settings.timeStep ?? 0, settings.damping ?? -1]);
    memory.ints(place + 16, 2).set([settings.stepsPerPose ?? 0, settings.mostPulls ?? 0]);
    memory.doubles(place + 24, 1)[0] = settings.drive ?? 0;
    this.#handle = memory.handle((out) => memory.call.supple_state_create(of, place, out));
  }

  // ---- in -----------------------------------------------------------------------------------------------------------

  /** Ten numbers: translation, rotation x y z w, scale. */
  setJoint(joint, transform) {
    this.#memory.check(this.#memory.call.supple_state_set_joint(this.#handle, joint, this.#given('joint', transform)));
  }
  /** World matrices of all joints, 16 numbers each, column after column as three.js has them [m]. */
  setWorldMatrices(matrices) {
    const place = this.#given('matrices', matrices);
    this.#memory.check(
      this.#memory.call.supple_state_set_world_matrices(this.#handle, place, Math.floor(matrices.length / 16)));
  }
  /** Ten numbers: translation, rotation x y z w, scale, against its parent. */
  joint(joint) {
    return this.#answers.floats('joint out', 10, (out) => this.#memory.call.supple_state_joint(this.#handle, joint, out));
  }
  jointPosition(joint) {
    return this.#answers.floats('jointPosition', 3, (out) =>
      this.#memory.call.supple_state_joint_position(this.#handle, joint, out));
  }
  /** Inverse kinematics; returns how far the tip stays away [m]. */
  reach(root, tip, target) {
    const place = this.#given('target', target);
    const missed = this.#answers.place('missed', DOUBLE);
    this.#memory.check(this.#memory.call.supple_state_reach(this.#handle, root, tip, place, missed));
    return this.#memory.doubles(missed, 1)[0];
  }
  setMorph(morph, weight) {
    this.#memory.check(this.#memory.call.supple_state_set_morph(this.#handle, morph, weight));
  }
  releaseMorph(morph) {
    this.#memory.check(this.#memory.call.supple_state_release_morph(this.#handle, morph));
  }
  morphWeight(morph) {
    return this.#memory.call.supple_state_morph_weight(this.#handle, morph);
  }
  setGravity(acceleration) {
    this.#memory.check(this.#memory.call.supple_state_set_gravity(this.#handle, this.#given('three', acceleration)));
  }
  setWind(velocity, drag) {
    this.#memory.check(this.#memory.call.supple_state_set_wind(this.#handle, this.#given('three', velocity), drag));
  }
  /** Forces [N] on welded vertices, until others are set: [{vertex, force: [x, y, z]}, …]. */
  setPulls(pulls) {
    const place = this.#answers.place('pulls', PULL_BYTES * Math.max(pulls.length, 1));
    pulls.forEach(({ vertex, force }, k) => {
      this.#memory.ints(place + PULL_BYTES * k, 1)[0] = vertex;
      this.#memory.floats(place + PULL_BYTES * k + 4, 3).set(force);
    });
    this.#memory.check(this.#memory.call.supple_state_set_pulls(this.#handle, place, pulls.length));
  }
  setDetail(coordinates, fadeSeconds = 0.5) {
    this.#memory.check(this.#memory.call.supple_state_set_detail(this.#handle, coordinates, fadeSeconds));
  }
  get detail() {
    return this.#memory.call.supple_state_detail(this.#handle);
  }
  setOrigin(origin) {
    const place = this.#answers.place('origin', 3 * DOUBLE);
    this.#memory.doubles(place, 3).set(origin);
    this.#memory.check(this.#memory.call.supple_state_set_origin(this.#handle, place));
  }

  #given(name, numbers) {
    const place = this.#answers.place(name, FLOAT * numbers.length);
    this.#memory.floats(place, numbers.length).set(numbers);
    return place;
  }

  // ---- time ---------------------------------------------------------------------------------------------------------

  /** Says whether a step broke down and the flesh was put at rest. */
  advance(seconds) {
    return this.#memory.check(this.#memory.call.supple_state_advance(this.#handle, seconds));
  }
  cut() {
    this.#memory.check(this.#memory.call.supple_state_cut(this.#handle));
  }
  reset() {
    this.#memory.check(this.#memory.call.supple_state_reset(this.#handle));
  }
  /** A copy of all that the future depends on. */
  save() {
    const size = this.#memory.call.supple_state_saved_bytes(this.#handle);
    const place = this.#answers.place('saved', size);
    this.#memory.check(this.#memory.call.supple_state_save(this.#handle, place, size));
    return this.#memory.bytes(place, size).slice();
  }
  restore(bytes) {
    const place = this.#answers.place('saved', bytes.length);
    this.#memory.bytes(place, bytes.length).set(bytes);
    this.#memory.check(this.#memory.call.supple_state_restore(this.#handle, place, bytes.length));
  }

  // ---- out: three numbers for each vertex of a primitive of the file, or of all welded vertices -----------------------

  displacements(primitive = -1) {
    return this.#vertices('supple_state_displacements', primitive);
  }
  bindDisplacements(primitive = -1) {
    return this.#vertices('supple_state_bind_displacements', primitive);
  }
  positions(primitive = -1) {
    return this.#vertices('supple_state_positions', primitive);
  }
  normals(primitive = -1) {
    return this.#vertices('supple_state_normals', primitive);
  }
  #vertices(call, primitive) {
    const vertices = primitive < 0 ? this.character.vertexCount : this.#vertexCounts[primitive];
    const count = 3 * (vertices ?? 0);
    return this.#answers.floats(`${call} ${primitive}`, count, (out) =>
      this.#memory.call[call](this.#handle, primitive, out, count));
  }

  coordinates() {
    const count = this.character.coordinateCount;
    return this.#answers.floats('q', count, (out) => this.#memory.call.supple_state_coordinates(this.#handle, out, count));
  }
  poseCoordinates(pose) {
    const count = this.character.coordinateCount;
    return this.#answers.floats('c', count, (out) =>
      this.#memory.call.supple_state_pose_coordinates(this.#handle, pose, out, count));
  }
  nodeRotations() {
    const count = 9 * this.character.nodeCount;
    return this.#answers.floats('rotations', count, (out) =>
      this.#memory.call.supple_state_node_rotations(this.#handle, out, count));
  }
  /** Elastic and kinetic energy [J]. */
  energy() {
    const place = this.#answers.place('energy', 2 * DOUBLE);
    this.#memory.check(this.#memory.call.supple_state_energy(this.#handle, place));
    const [elastic, kinetic] = this.#memory.doubles(place, 2);
    return { elastic, kinetic };
  }

  dispose() {
    this.#memory.call.supple_state_free(this.#handle);
    this.#handle = 0;
    this.#answers.dispose();
  }
}

/** A deformable object: immutable, shared by its states. */
export class SoftObject {
  #memory;
  #handle;

  constructor(memory, bytes) {
    this.#memory = memory;
    const { call } = memory;
    this.#handle = memory.lend(bytes, (place) =>
      memory.handle((out) => call.supple_object_load_memory(place, bytes.byteLength, out)));
    this.anchored = call.supple_object_anchored(this.#handle) !== 0;
    this.coordinateCount = call.supple_object_coordinate_count(this.#handle);
    this.domainCount = call.supple_object_domain_count(this.#handle);
    this.mass = call.supple_object_mass(this.#handle);
    this.vertexCount = call.supple_object_vertex_count(this.#handle);
    const place = call.supple_object_triangles(this.#handle, memory.scratch);
    this.triangles = memory.ints(place, memory.uints(memory.scratch, 1)[0]).slice();
  }
  /** A copy. */
  restPositions() {
    const count = 3 * this.vertexCount;
    const place = this.#memory.reserve(FLOAT * count);
    try {
      this.#memory.check(this.#memory.call.supple_object_rest_positions(this.#handle, place, count));
      return this.#memory.floats(place, count).slice();
    } finally {
      this.#memory.free(place);
    }
  }
  createState(settings = {}) {
    return new ObjectState(this.#memory, this, this.#handle, settings);
  }
  dispose() {
    this.#memory.call.supple_object_free(this.#handle);
    this.#handle = 0;
  }
}

export class ObjectState {
  #memory;
  #handle;
  #answers;

  constructor(memory, object, of, settings) {
    this.#memory = memory;
    this.object = object;
    this.#answers = new Answers(memory);
    const place = this.#answers.place('settings', 40);
    memory.doubles(place, 3).set([settings.timeStep ?? 0, settings.massDamping ?? 0.5, settings.stiffnessDamping ?? 0.002]);
    memory.floats(place + 24, 3).set(settings.gravity ?? [0, -9.81, 0]);
    memory.ints(place + 36, 1)[0] = settings.mostForces ?? 0;
    this.#handle = memory.handle((out) => memory.call.supple_object_state_create(of, place, out));
  }
  setForces(forces) {
    const place = this.#answers.place('forces', PULL_BYTES * Math.max(forces.length, 1));
    forces.forEach(({ vertex, force }, k) => {
      this.#memory.ints(place + PULL_BYTES * k, 1)[0] = vertex;
      this.#memory.floats(place + PULL_BYTES * k + 4, 3).set(force);
    });
    this.#memory.check(this.#memory.call.supple_object_state_set_forces(this.#handle, place, forces.length));
  }
  setGravity(acceleration) {
    const place = this.#answers.place('three', 3 * FLOAT);
    this.#memory.floats(place, 3).set(acceleration);
    this.#memory.check(this.#memory.call.supple_object_state_set_gravity(this.#handle, place));
  }
  /** Objects of several domains only; `gusts` and `turbulence` are parts of the speed. */
  setWind(velocity, gusts = 0, turbulence = 0) {
    const place = this.#answers.place('three', 3 * FLOAT);
    this.#memory.floats(place, 3).set(velocity);
    this.#memory.check(this.#memory.call.supple_object_state_set_wind(this.#handle, place, gusts, turbulence));
  }
  advance(seconds) {
    return this.#memory.check(this.#memory.call.supple_object_state_advance(this.#handle, seconds));
  }
  reset() {
    this.#memory.check(this.#memory.call.supple_object_state_reset(this.#handle));
  }
  /** A copy of all that the future depends on. */
  save() {
    const size = this.#memory.call.supple_object_state_saved_bytes(this.#handle);
    const place = this.#answers.place('saved', size);
    this.#memory.check(this.#memory.call.supple_object_state_save(this.#handle, place, size));
    return this.#memory.bytes(place, size).slice();
  }
  restore(bytes) {
    const place = this.#answers.place('saved', bytes.length);
    this.#memory.bytes(place, bytes.length).set(bytes);
    this.#memory.check(this.#memory.call.supple_object_state_restore(this.#handle, place, bytes.length));
  }
  displacements() {
    return this.#vertices('supple_object_state_displacements');
  }
  positions() {
    return this.#vertices('supple_object_state_positions');
  }
  #vertices(call) {
    const count = 3 * this.object.vertexCount;
    return this.#answers.floats(call, count, (out) => this.#memory.call[call](this.#handle, out, count));
  }
  coordinates() {
    const count = this.object.coordinateCount;
    return this.#answers.floats('q', count, (out) =>
      this.#memory.call.supple_object_state_coordinates(this.#handle, out, count));
  }
  /** Seven numbers: position, rotation x y z w. */
  where() {
    return this.#answers.floats('where', 7, (out) => this.#memory.call.supple_object_state_where(this.#handle, out));
  }
  dispose() {
    this.#memory.call.supple_object_state_free(this.#handle);
    this.#handle = 0;
    this.#answers.dispose();
  }
}
