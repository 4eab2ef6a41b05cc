// SPDX-License-Identifier: Apache-2.0
import type { DataTexture, Mesh, Object3D, Texture, WebGLRenderer, WebGLProgramParametersWithUniforms } from 'three';
import type { Character, CharacterSettings, CharacterState } from './supple.js';

/** What GLTFLoader gives. */
export interface LoadedGltf {
  scene: Object3D;
  parser: { json: { nodes?: { children?: number[] }[] }; associations: Map<unknown, unknown> };
}

export interface SoftGltfOptions {
  settings?: CharacterSettings;
  /** Displacements are added before skinning, which is right for every rig; otherwise in the world, which costs less. */
  bind?: boolean;
  /** Changes the shaders of the character's materials. */
  paint?: (shader: WebGLProgramParametersWithUniforms) => void;
}

/** Soft tissue on a character that GLTFLoader has loaded. */
export class SoftGltf {
  constructor(gltf: LoadedGltf, character: Character, options?: SoftGltfOptions);
  readonly scene: Object3D;
  readonly character: Character;
  /** The one on the stage; changeSettings() replaces it. */
  readonly state: CharacterState;
  readonly joints: readonly (Object3D | null)[];
  readonly parts: readonly { object: Mesh; mesh: number; primitive: number }[];
  readonly displacement: DataTexture;
  readonly normal: DataTexture;
  /** Who multiplies u = Uq. */
  product: 'processor' | 'card';
  normals: boolean;
  bind: boolean;
  /** 1: soft, 0: rigid, and anything between. */
  amount: number;
  changeSettings(settings: CharacterSettings): void;
  readJoints(): void;
  /** Joints are where the scene has them, `seconds` after the last call. True: flesh had to be put at rest. */
  advance(seconds: number): boolean;
  /** Brings the state of the last advance() to the screen. The card needs the renderer. */
  show(renderer?: WebGLRenderer): void;
  /** advance() and show(). */
  update(seconds: number, renderer?: WebGLRenderer): boolean;
  restoreContext(): void;
  dispose(): void;
}

/** u = Uq on the graphics card. */
export class CardProduct {
  /** Null where the card can't. */
  static create(renderer: WebGLRenderer, character: Character): CardProduct | null;
  readonly texture: Texture;
  run(renderer: WebGLRenderer, state: CharacterState): void;
  read(renderer: WebGLRenderer): Float32Array;
  dispose(): void;
}

/** The node of the file that each joint of a character is. */
export function nodesOfJoints(json: { nodes?: { children?: number[] }[] }): number[];
/** An RGBA float texture with room for so many entries. */
export function floatTexture(count: number, width?: number): DataTexture;
