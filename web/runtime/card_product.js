// SPDX-License-Identifier: Apache-2.0
// u = Uq on the graphics card (2005 paper, 6.4). Vertices hang on four nodes each, and nodes on coordinates:
//
//   pass 1, a texel per node:     n = R Σ_k U_k c_k      k: coordinate of a pose of the model
//   pass 2, a texel per vertex:   u = Σ a n
//
// U, the nodes of vertices and their weights a are uploaded once; c and R, some kilobytes, in each frame.
import {
  DataTexture, FloatType, GLSL3, Mesh, NearestFilter, OrthographicCamera, PlaneGeometry, RGBAFormat, RawShaderMaterial, Scene,
  WebGLRenderTarget,
} from 'three';

const WIDTH = 256; // of what is computed
const BASIS_WIDTH = 2048;

function table(texels, width) {
  const height = Math.max(1, Math.ceil(texels / width));
  const texture = new DataTexture(new Float32Array(4 * width * height), width, height, RGBAFormat, FloatType);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
}

function target(texels) {
  return new WebGLRenderTarget(WIDTH, Math.max(1, Math.ceil(texels / WIDTH)), {
    type: FloatType, format: RGBAFormat, minFilter: NearestFilter, magFilter: NearestFilter, depthBuffer: false,
  });
}

const vertexShader = /* glsl */ `
  in vec3 position;
  void main() { gl_Position = vec4(2.0 * position.xy, 0.0, 1.0); }
`;
const header = /* glsl */ `
  precision highp float;
  precision highp int;
  precision highp sampler2D;
  out vec4 result;
  int number() { return int(gl_FragCoord.x) + ${WIDTH} * int(gl_FragCoord.y); }
  vec4 entry(sampler2D from, int k) {
    int width = textureSize(from, 0).x;
    return texelFetch(from, ivec2(k % width, k / width), 0);
  }
`;
const nodeShader = /* glsl */ `${header}
  uniform sampler2D basis, coordinates, rotations;
  uniform int nodes, terms;
  void main() {
    int n = number();
    result = vec4(0.0);
    if (n >= nodes) return;
    vec3 sum = vec3(0.0);
    for (int k = 0; k < terms; ++k) {
      float c = entry(coordinates, k).x;
      if (c != 0.0) sum += c * entry(basis, k * nodes + n).xyz;
    }
    result.xyz = mat3(entry(rotations, 3 * n).xyz, entry(rotations, 3 * n + 1).xyz, entry(rotations, 3 * n + 2).xyz) * sum;
  }
`;
const vertexOfNodesShader = /* glsl */ `${header}
  uniform sampler2D moved, corners, weights;
  uniform int vertices;
  void main() {
    int v = number();
    result = vec4(0.0);
    if (v >= vertices) return;
    vec4 n = entry(corners, v), a = entry(weights, v);
    result.xyz = a.x * entry(moved, int(n.x + 0.5)).xyz + a.y * entry(moved, int(n.y + 0.5)).xyz +
                 a.z * entry(moved, int(n.z + 0.5)).xyz + a.w * entry(moved, int(n.w + 0.5)).xyz;
  }
`;

function pass(fragmentShader, uniforms) {
  const material = new RawShaderMaterial({
    glslVersion: GLSL3, vertexShader, fragmentShader, depthTest: false, depthWrite: false,
    uniforms: Object.fromEntries(Object.entries(uniforms).map(([name, value]) => [name, { value }])),
  });
  const scene = new Scene();
  const mesh = new Mesh(new PlaneGeometry(1, 1), material);
  mesh.frustumCulled = false;
  scene.add(mesh);
  return { scene, material, geometry: mesh.geometry };
}

export class CardProduct {
  /** Null where the card can't compute with floats, or the basis is too large for its textures. */
  static create(renderer, character) {
    const terms = character.poseCount * character.coordinateCount;
    const rows = Math.ceil((terms * character.nodeCount) / BASIS_WIDTH);
    if (!renderer.extensions.has('EXT_color_buffer_float') || rows > renderer.capabilities.maxTextureSize) return null;
    return new CardProduct(character, terms);
  }

  constructor(character, terms) {
    this.character = character;
    this.basis = table(terms * character.nodeCount, BASIS_WIDTH);
    this.coordinates = table(terms, 64);
    this.rotations = table(3 * character.nodeCount, WIDTH);
    this.corners = table(character.vertexCount, WIDTH);
    this.weights = table(character.vertexCount, WIDTH);
    this.#fill();
    this.moved = target(character.nodeCount);
    this.result = target(character.vertexCount);
    this.nodePass = pass(nodeShader, {
      basis: this.basis, coordinates: this.coordinates, rotations: this.rotations, nodes: character.nodeCount, terms,
    });
    this.vertexPass = pass(vertexOfNodesShader, {
      moved: this.moved.texture, corners: this.corners, weights: this.weights, vertices: character.vertexCount,
    });
    this.camera = new OrthographicCamera(-1, 1, 1, -1, 0, 1);
  }

  #fill() {
    const { character } = this;
    const r = character.coordinateCount, nodes = character.nodeCount;
    for (let pose = 0; pose < character.poseCount; ++pose) {
      const rows = character.nodeBasis(pose);
      for (let n = 0; n < nodes; ++n)
        for (let axis = 0; axis < 3; ++axis)
          for (let c = 0, from = (3 * n + axis) * r; c < r; ++c, ++from)
            this.basis.image.data[4 * ((pose * r + c) * nodes + n) + axis] = rows[from];
    }
    const { nodes: corners, weights } = character.vertexNodes();
    this.corners.image.data.set(corners);
    this.weights.image.data.set(weights);
  }

  /** One displacement for each welded vertex, in the world. */
  get texture() {
    return this.result.texture;
  }

  run(renderer, state) {
    const { character } = this;
    const r = character.coordinateCount;
    for (let pose = 0; pose < character.poseCount; ++pose) {
      const c = state.poseCoordinates(pose);
      for (let k = 0; k < r; ++k) this.coordinates.image.data[4 * (pose * r + k)] = c[k];
    }
    const rotations = state.nodeRotations(), data = this.rotations.image.data;
    for (let from = 0, to = 0; from < rotations.length; from += 3, to += 4) {
      data[to] = rotations[from];
      data[to + 1] = rotations[from + 1];
      data[to + 2] = rotations[from + 2];
    }
    this.coordinates.needsUpdate = this.rotations.needsUpdate = true;
    const before = renderer.getRenderTarget();
    renderer.setRenderTarget(this.moved);
    renderer.render(this.nodePass.scene, this.camera);
    renderer.setRenderTarget(this.result);
    renderer.render(this.vertexPass.scene, this.camera);
    renderer.setRenderTarget(before);
  }

  /** What the card has computed, three numbers for each welded vertex. Waits for the card. */
  read(renderer) {
    const { width, height } = this.result;
    const texels = new Float32Array(4 * width * height);
    renderer.readRenderTargetPixels(this.result, 0, 0, width, height, texels);
    const xyz = new Float32Array(3 * this.character.vertexCount);
    for (let v = 0; v < this.character.vertexCount; ++v) xyz.set(texels.subarray(4 * v, 4 * v + 3), 3 * v);
    return xyz;
  }

  dispose() {
    for (const thing of [this.basis, this.coordinates, this.rotations, this.corners, this.weights, this.moved, this.result,
      this.nodePass.material, this.nodePass.geometry, this.vertexPass.material, this.vertexPass.geometry]) thing.dispose();
  }
}
