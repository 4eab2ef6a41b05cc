// SPDX-License-Identifier: Apache-2.0
// Soft tissue on a character that three.js's GLTFLoader has loaded:
//
//   const flesh = new SoftGltf(gltf, supple.character(bytes));
//   every frame, after the AnimationMixer:  flesh.update(seconds);
//
// The skin stays three.js's own: skinning, morph targets, materials and shadows are untouched. A texture with one
// displacement for each welded vertex is added in the vertex shader. It is filled in one of two ways:
//
//   'processor'   the module multiplies, and the texture is uploaded
//   'card'        basis and nodes were uploaded once, and the graphics card multiplies: u = Σ a R Σ U c
import {
  DataTexture, FloatType, Matrix3, Matrix4, MeshDepthMaterial, NearestFilter, RGBADepthPacking, RGBAFormat, Vector3,
  Float32BufferAttribute,
} from 'three';
import { CardProduct } from './card_product.js';

export { CardProduct };

/** The node of the file that each joint of a character is: parents first, else in the file's order. */
export function nodesOfJoints(json) {
  const nodes = json.nodes ?? [];
  const parents = nodes.map(() => -1);
  nodes.forEach((node, n) => (node.children ?? []).forEach((child) => (parents[child] = n)));
  const order = [];
  const seen = new Set();
  nodes.forEach((_, n) => {
    const waiting = [];
    for (let k = n; k >= 0 && !seen.has(k) && !waiting.includes(k); k = parents[k]) waiting.push(k);
    for (const k of waiting.reverse()) {
      seen.add(k);
      order.push(k);
    }
  });
  return order;
}

/** An RGBA float texture with room for `count` entries. */
export function floatTexture(count, width = 256) {
  const height = Math.max(1, Math.ceil(count / width));
  const texture = new DataTexture(new Float32Array(4 * width * height), width, height, RGBAFormat, FloatType);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
}

function fillTriples(texture, xyz) {
  const { data } = texture.image;
  for (let v = 0, from = 0, to = 0; from < xyz.length; ++v, from += 3, to += 4) {
    data[to] = xyz[from];
    data[to + 1] = xyz[from + 1];
    data[to + 2] = xyz[from + 2];
  }
  texture.needsUpdate = true;
}

const declarations = /* glsl */ `
  attribute vec2 suppleVertex; // welded vertex; 1 where its normal is the smooth one
  uniform highp sampler2D suppleDisplacement;
  uniform highp sampler2D suppleNormal;
  uniform mat3 suppleToLocal, suppleNormalToLocal;
  uniform vec3 suppleUse; // displacement before skinning, after skinning, normals
  varying float suppleAmount;
  ivec2 supplePlace(highp sampler2D table) {
    int k = int(suppleVertex.x + 0.5), width = textureSize(table, 0).x;
    return ivec2(k % width, k / width);
  }
`;
const beforeSkinning = /* glsl */ `
  vec3 suppleMoved = texelFetch(suppleDisplacement, supplePlace(suppleDisplacement), 0).xyz;
  transformed += suppleUse.x * suppleMoved;
`;
const afterSkinning = /* glsl */ `
  suppleAmount = length(suppleMoved);
  transformed += suppleUse.y * (suppleToLocal * suppleMoved);
`;
const softNormal = /* glsl */ `
  vec3 suppleTurned = suppleNormalToLocal * texelFetch(suppleNormal, supplePlace(suppleNormal), 0).xyz;
  objectNormal = mix(objectNormal, suppleTurned, suppleUse.z * suppleVertex.y);
`;

/** Makes a material add the displacements; `paint` may change the fragment shader. */
function soften(material, uniforms, paint) {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', `#include <common>\n${declarations}`)
      .replace('#include <skinnormal_vertex>', `#include <skinnormal_vertex>\n${softNormal}`)
      .replace('#include <morphtarget_vertex>', `#include <morphtarget_vertex>\n${beforeSkinning}`)
      .replace('#include <skinning_vertex>', `#include <skinning_vertex>\n${afterSkinning}`);
    // The depth shader skins normals only where a displacement map asks for them.
    if (material.isMeshDepthMaterial)
      shader.vertexShader = shader.vertexShader.replace(softNormal, '');
    paint?.(shader);
  };
  material.customProgramCacheKey = () => `supple ${paint?.name ?? ''}`;
}

/** 1 where the file's normal is the smooth one at rest, so that soft normals may take its place; hard edges stay. */
function smoothness(geometry, welded, vertexCount) {
  const { position, normal } = geometry.attributes;
  const flags = new Float32Array(position.count);
  if (!normal) return flags;
  const sums = new Float32Array(3 * vertexCount);
  const a = new Vector3(), b = new Vector3(), c = new Vector3();
  const index = geometry.index;
  const corners = index ? index.count : position.count;
  for (let t = 0; t + 2 < corners; t += 3) {
    const [i, j, k] = [t, t + 1, t + 2].map((n) => (index ? index.getX(n) : n));
    a.fromBufferAttribute(position, i);
    b.fromBufferAttribute(position, j).sub(a);
    c.fromBufferAttribute(position, k).sub(a);
    b.cross(c);
    for (const v of [i, j, k])
      b.toArray([0, 0, 0]).forEach((x, axis) => (sums[3 * welded[v] + axis] += x));
  }
  for (let v = 0; v < position.count; ++v) {
    a.fromArray(sums, 3 * welded[v]).normalize();
    flags[v] = a.dot(b.fromBufferAttribute(normal, v)) > 0.9 ? 1 : 0;
  }
  return flags;
}

export class SoftGltf {
  /**
   * `options.settings`: of the state. `options.paint`: a function that changes the shaders of materials.
   * `options.bind`: displacements are added before skinning, as rigs need that engines don't skin as they were built.
   */
  constructor(gltf, character, options = {}) {
    this.scene = gltf.scene;
    this.character = character;
    this.state = character.createState(options.settings);
    this.bind = options.bind ?? true;
    this.normals = true;
    this.product = 'processor';
    this.displacement = floatTexture(character.vertexCount);
    this.normal = floatTexture(character.vertexCount);
    this.use = { value: new Vector3(1, 0, 1) };
    this.amount = 1;
    this.#findJoints(gltf.parser);
    this.#findMeshes(gltf.parser, options.paint);
    this.matrices = new Float32Array(16 * this.joints.length);
    this.#findMorphs();
  }

  #findJoints(parser) {
    const objects = new Map();
    this.scene.traverse((object) => {
      const node = parser.associations.get(object)?.nodes;
      if (node !== undefined) objects.set(node, object);
    });
    // Nodes outside the scene are shown nowhere and stay at rest.
    this.joints = nodesOfJoints(parser.json).map((node) => objects.get(node) ?? null);
    this.nodeOfJoint = nodesOfJoints(parser.json);
    if (this.joints.length !== this.character.joints.length)
      throw new Error(`${this.character.name}: the model has ${this.joints.length} nodes and the asset ` +
        `${this.character.joints.length}; build the asset from this file`);
  }

  #findMeshes(parser, paint) {
    this.parts = [];
    const found = [];
    this.scene.traverse((object) => object.isMesh && found.push(object));
    for (const object of found) {
      const { meshes, primitives, nodes } = parser.associations.get(object) ?? {};
      const node = nodes ?? parser.associations.get(object.parent)?.nodes;
      const mesh = this.character.meshes.findIndex((m) => m.fileMesh === meshes && this.nodeOfJoint[m.joint] === node);
      if (mesh < 0) continue;
      const primitive = this.character.meshes[mesh].firstPrimitive + (primitives ?? 0);
      const welded = this.character.primitives[primitive]?.weldedVertices;
      if (!welded?.length || welded.length !== object.geometry.attributes.position.count) continue;
      this.parts.push(this.#soften(object, mesh, primitive, welded, paint));
    }
    if (this.parts.length === 0)
      throw new Error(`${this.character.name}: no mesh of the model is one of the asset's; build the asset from this file`);
  }

  #soften(object, mesh, primitive, welded, paint) {
    const flags = smoothness(object.geometry, welded, this.character.vertexCount);
    const pairs = new Float32Array(2 * welded.length);
    welded.forEach((v, k) => pairs.set([v, flags[k]], 2 * k));
    object.geometry = object.geometry.clone();
    object.geometry.setAttribute('suppleVertex', new Float32BufferAttribute(pairs, 2));
    const uniforms = {
      suppleDisplacement: { value: this.displacement },
      suppleNormal: { value: this.normal },
      suppleToLocal: { value: new Matrix3() },
      suppleNormalToLocal: { value: new Matrix3() },
      suppleUse: this.use,
    };
    object.material = object.material.clone();
    soften(object.material, uniforms, paint);
    object.customDepthMaterial = new MeshDepthMaterial({ depthPacking: RGBADepthPacking, side: object.material.side });
    soften(object.customDepthMaterial, uniforms);
    object.frustumCulled = false; // bounds don't know of flesh
    return { object, mesh, primitive, uniforms };
  }

  #findMorphs() {
    this.morphs = [];
    for (const { object, mesh } of this.parts) {
      const names = Object.entries(object.morphTargetDictionary ?? {});
      for (const [name, index] of names) {
        const morph = this.character.morphs.findIndex((m) => m.name === `${this.character.meshes[mesh].name}.${name}`);
        if (morph >= 0) this.morphs.push({ morph, object, index, follows: this.character.morphs[morph].followsPose });
      }
    }
  }

  /** Damping and drive belong to a state from its beginning; the motion goes on in a new one. */
  changeSettings(settings) {
    const saved = this.state.save();
    this.state.dispose();
    this.state = this.character.createState(settings);
    this.state.restore(saved);
  }

  /** The scene's joints as they are now become the state's. */
  readJoints() {
    this.scene.updateWorldMatrix(true, true);
    const metres = this.character.metresPerUnit;
    this.joints.forEach((object, j) => {
      if (object) this.matrices.set(object.matrixWorld.elements, 16 * j);
      else this.matrices.set(identity, 16 * j);
      if (metres !== 1) for (let i = 12; i < 15; ++i) this.matrices[16 * j + i] *= metres;
    });
    this.state.setWorldMatrices(this.matrices);
    for (const { morph, object, index, follows } of this.morphs)
      if (!follows) this.state.setMorph(morph, object.morphTargetInfluences[index]);
  }

  /** Joints are where the scene has them, `seconds` after the last call. */
  advance(seconds) {
    this.readJoints();
    return this.state.advance(seconds);
  }

  /** Brings the state of the last advance() to the screen. */
  show(renderer) {
    for (const { morph, object, index, follows } of this.morphs)
      if (follows) object.morphTargetInfluences[index] = this.state.morphWeight(morph);
    const card = this.product === 'card' && renderer && this.#card(renderer);
    if (card) {
      card.run(renderer, this.state);
    } else {
      fillTriples(this.displacement, this.bind ? this.state.bindDisplacements() : this.state.displacements());
    }
    if (this.normals) fillTriples(this.normal, this.state.normals());
    const bind = this.bind && !card, scale = this.amount / this.character.metresPerUnit;
    this.use.value.set(bind ? scale : 0, bind ? 0 : scale, this.normals ? this.amount : 0);
    for (const { object, uniforms } of this.parts) {
      uniforms.suppleDisplacement.value = card ? card.texture : this.displacement;
      uniforms.suppleToLocal.value.setFromMatrix4(scratch.copy(object.matrixWorld).invert());
      uniforms.suppleNormalToLocal.value.setFromMatrix4(object.matrixWorld).transpose();
    }
  }

  #card(renderer) {
    if (this.cardProduct === undefined) this.cardProduct = CardProduct.create(renderer, this.character);
    return this.cardProduct;
  }

  update(seconds, renderer) {
    const recovered = this.advance(seconds);
    this.show(renderer);
    return recovered;
  }

  /** Textures and targets died with the context, and can't be deleted in the new one; what is uploaded is made anew. */
  restoreContext() {
    this.cardProduct = undefined;
    this.displacement.needsUpdate = this.normal.needsUpdate = true;
  }

  dispose() {
    this.cardProduct?.dispose();
    this.state.dispose();
    this.displacement.dispose();
    this.normal.dispose();
  }
}

const scratch = new Matrix4();
const identity = new Matrix4().elements;
