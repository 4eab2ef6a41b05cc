// SPDX-License-Identifier: Apache-2.0
export class SuppleError extends Error {
  /** 1: our fault or the machine's; 2: the call is wrong; 3: the file or the numbers are at fault. */
  readonly status: number;
}

export type Bytes = ArrayBuffer | ArrayBufferView;
export type Numbers = ArrayLike<number>;

/** Makes the module from its bytes, a WebAssembly.Module, a Response, or an address that `fetch` takes. */
export function loadSupple(source: Bytes | WebAssembly.Module | Response | string | URL): Promise<Supple>;

export class Supple {
  readonly version: string;
  readonly memoryBytes: number;
  /** A character from the bytes of a `.supple` file. Throws a SuppleError on anything else. The module is supple.wasm. */
  character(bytes: Bytes): Character;
  /** A deformable object from the bytes of a `.supple` file. The module is supple_objects.wasm. */
  object(bytes: Bytes): SoftObject;
}

export interface Joint {
  readonly name: string;
  /** -1: none. Parents come before their children. */
  readonly parent: number;
}
export interface Morph {
  /** "mesh.target" */
  readonly name: string;
  readonly neutral: number;
  /** It corrects a pose: its weight follows the joints as long as none is set. */
  readonly followsPose: boolean;
}
export interface Mesh {
  readonly name: string;
  /** The joint that carries it. */
  readonly joint: number;
  /** Its number in the character's file. */
  readonly fileMesh: number;
  readonly firstVertex: number;
  readonly vertexCount: number;
  readonly firstPrimitive: number;
  readonly primitiveCount: number;
}
export interface Primitive {
  readonly mesh: number;
  /** The welded vertex of each vertex of the file; empty where the primitive takes no part. */
  readonly weldedVertices: Int32Array;
}

export interface CharacterSettings {
  /** Of the grid inside [s]; 1/240 where it isn't given. */
  timeStep?: number;
  /** Ratio; that of the asset where it isn't given. */
  damping?: number;
  stepsPerPose?: number;
  mostPulls?: number;
  /** How strongly the motion of the rig drives the flesh, as a multiple of the asset's; above zero. */
  drive?: number;
}
export interface Pull {
  /** Welded. */
  vertex: number;
  /** [N], in the world. */
  force: Numbers;
}

/** Immutable; any number of states share it. */
export class Character {
  readonly name: string;
  /** [m] */
  readonly height: number;
  /** What lengths of the character's file were multiplied with. */
  readonly metresPerUnit: number;
  readonly coordinateCount: number;
  /** Welded, of all meshes. */
  readonly vertexCount: number;
  readonly nodeCount: number;
  readonly poseCount: number;
  readonly joints: readonly Joint[];
  readonly morphs: readonly Morph[];
  readonly meshes: readonly Mesh[];
  readonly primitives: readonly Primitive[];
  /** Three welded vertices each. */
  readonly triangles: Int32Array;
  /** -1: there is none. */
  findJoint(name: string): number;
  /** Ten numbers: translation, rotation x y z w, scale. */
  jointRest(joint: number): Float32Array;
  /** U of a pose: three rows of coordinateCount numbers for each node. */
  nodeBasis(pose: number): Float32Array;
  /** Four nodes, and their weights, of each welded vertex. */
  vertexNodes(): { nodes: Uint32Array; weights: Float32Array };
  createState(settings?: CharacterSettings): CharacterState;
  dispose(): void;
}

/**
 * One on the stage. Arrays that come out are views of the module's memory: look at them, or copy them, before the next
 * call. Without a primitive all welded vertices are meant.
 */
export class CharacterState {
  readonly character: Character;
  setJoint(joint: number, transform: Numbers): void;
  /** World matrices of all joints, 16 numbers each, as three.js has them [m]. */
  setWorldMatrices(matrices: Numbers): void;
  /** Ten numbers against its parent, as jointRest() gives them; after reach() the turned ones. */
  joint(joint: number): Float32Array;
  jointPosition(joint: number): Float32Array;
  /** Inverse kinematics; returns how far the tip stays away [m]. */
  reach(root: number, tip: number, target: Numbers): number;
  setMorph(morph: number, weight: number): void;
  releaseMorph(morph: number): void;
  morphWeight(morph: number): number;
  /** [m/s²]; rigs are drawn as gravity leaves them, so by default there is none. */
  setGravity(acceleration: Numbers): void;
  /** Velocity of the air [m/s], and the share of the velocity against it that flesh loses per second. */
  setWind(velocity: Numbers, drag: number): void;
  setPulls(pulls: readonly Pull[]): void;
  /** Fewer coordinates for a character that is far away. */
  setDetail(coordinates: number, fadeSeconds?: number): void;
  readonly detail: number;
  setOrigin(origin: Numbers): void;

  /** The joints have come to where they were set, in so many seconds. True: flesh had to be put at rest. */
  advance(seconds: number): boolean;
  /** What comes next is no motion: a teleport, a camera cut. */
  cut(): void;
  /** Flesh at rest, motion forgotten. */
  reset(): void;
  save(): Uint8Array;
  restore(bytes: Uint8Array): void;

  /** In the world: added to vertices after skinning [m]. */
  displacements(primitive?: number): Float32Array;
  /** Before skinning: added to vertices after morph targets. */
  bindDisplacements(primitive?: number): Float32Array;
  /** In the world, flesh included. */
  positions(primitive?: number): Float32Array;
  normals(primitive?: number): Float32Array;
  coordinates(): Float32Array;
  poseCoordinates(pose: number): Float32Array;
  /** Nine numbers per node, column after column. */
  nodeRotations(): Float32Array;
  /** [J] */
  energy(): { elastic: number; kinetic: number };
  dispose(): void;
}

export interface ObjectSettings {
  /** [s]; 1/1000 where it isn't given. */
  timeStep?: number;
  massDamping?: number;
  stiffnessDamping?: number;
  /** [m/s²]; weight on earth where it isn't given. */
  gravity?: Numbers;
  mostForces?: number;
}

/** A deformable object: immutable, shared by its states. */
export class SoftObject {
  readonly anchored: boolean;
  readonly coordinateCount: number;
  /** Parts with coordinates of their own: 1 unless it was built from domains. */
  readonly domainCount: number;
  /** [kg] */
  readonly mass: number;
  readonly vertexCount: number;
  readonly triangles: Int32Array;
  restPositions(): Float32Array;
  createState(settings?: ObjectSettings): ObjectState;
  dispose(): void;
}

export class ObjectState {
  readonly object: SoftObject;
  setForces(forces: readonly Pull[]): void;
  setGravity(acceleration: Numbers): void;
  /** Objects of several domains only; `gusts` and `turbulence` are parts of the speed. */
  setWind(velocity: Numbers, gusts?: number, turbulence?: number): void;
  advance(seconds: number): boolean;
  reset(): void;
  save(): Uint8Array;
  restore(bytes: Uint8Array): void;
  displacements(): Float32Array;
  positions(): Float32Array;
  coordinates(): Float32Array;
  /** Seven numbers: position, rotation x y z w. */
  where(): Float32Array;
  dispose(): void;
}
