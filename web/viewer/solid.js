// SPDX-License-Identifier: Apache-2.0
// A solid mesh, to cut through: elements beyond a plane are left out, and what is seen of the others are their faces.
// Its modes swing as clips do, one after the other; of a character's body the skin stands around it.
import { Box3, BufferAttribute, BufferGeometry, Color, DoubleSide, Group, Mesh, MeshStandardMaterial, Plane, Vector3 } from 'three';
import { hasBlock, PageFault, readBlock } from './data.js';
import { GREY, heat, kind } from './colours.js';

const SWING = 1.6; // [s] that a mode takes, whatever its frequency
const PLAIN = [0.62, 0.36, 0.14], INNER = [0.78, 0.66, 0.5];
// Outward, for the orders of nodes that meshes have.
const FACES = {
  4: [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
  8: [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]],
};

const numbers = async (Kind, name) => {
  const bytes = await readBlock(name);
  if (bytes.byteLength % 4 !== 0) throw new PageFault(`The ${name} in this page are damaged; make the page again with supple view.`);
  return new Kind(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
};
const perhaps = async (Kind, name) => (hasBlock(name) ? numbers(Kind, name) : null);

/** For each face of each element the element behind it; −1: none. */
export function neighbours(elements, nodes) {
  const faces = FACES[nodes], count = elements.length / nodes, across = new Int32Array(count * faces.length).fill(-1);
  let size = 16;
  while (size < 2 * across.length) size *= 2;
  const table = new Int32Array(size).fill(-1), keys = new Uint32Array(3 * across.length), corners = [];
  for (let f = 0; f < across.length; ++f) {
    const element = Math.floor(f / faces.length);
    corners.length = 0;
    for (const corner of faces[f % faces.length]) corners.push(elements[nodes * element + corner]);
    corners.sort((a, b) => a - b);
    const [a, b, c] = corners;
    keys.set([a, b, c], 3 * f);
    let place = (Math.imul(a, 73856093) ^ Math.imul(b, 19349663) ^ Math.imul(c, 83492791)) & (size - 1);
    for (; table[place] >= 0; place = (place + 1) & (size - 1)) {
      const other = table[place];
      if (keys[3 * other] !== a || keys[3 * other + 1] !== b || keys[3 * other + 2] !== c) continue;
      across[f] = Math.floor(other / faces.length);
      across[other] = element;
      break;
    }
    if (table[place] < 0) table[place] = f;
  }
  return across;
}

/** Inradius over a third of the circumradius of tetrahedra, 1 best; of bricks the smallest of the corners' determinants. */
function shapeOf(x, corners) {
  const p = corners.map((v) => new Vector3(x[3 * v], x[3 * v + 1], x[3 * v + 2]));
  if (corners.length === 8) {
    const beside = [[1, 3, 4], [2, 0, 5], [3, 1, 6], [0, 2, 7], [7, 5, 0], [4, 6, 1], [5, 7, 2], [6, 4, 3]];
    return Math.min(...beside.map((ends, k) => {
      const [a, b, c] = ends.map((end) => p[end].clone().sub(p[k]).normalize());
      return a.dot(b.cross(c));
    }));
  }
  const [a, b, c] = [1, 2, 3].map((k) => p[k].clone().sub(p[0]));
  const six = a.dot(b.clone().cross(c));
  const area = (u, v) => u.clone().cross(v).length() / 2;
  const areas = area(a, b) + area(b, c) + area(a, c) + area(b.clone().sub(a), c.clone().sub(a));
  const around = b.clone().cross(c).multiplyScalar(a.lengthSq()).addScaledVector(c.clone().cross(a), b.lengthSq()).addScaledVector(a.clone().cross(b), c.lengthSq());
  return six > 0 ? (3 * (six / (2 * areas))) / (around.length() / (2 * six)) : 0;
}

/** Edges of elements as dark lines, drawn with the faces. */
function drawEdges(material) {
  const shown = { value: 1 };
  material.onBeforeCompile = (shader) => {
    shader.uniforms.solidEdges = shown;
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nattribute vec4 edge;\nvarying vec3 solidEdge;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\nsolidEdge = edge.xyz;');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', '#include <common>\nvarying vec3 solidEdge;\nuniform float solidEdges;')
      .replace('#include <color_fragment>', `#include <color_fragment>
        vec3 solidNear = solidEdge / max(fwidth(solidEdge), vec3(1e-6));
        float solidLine = 1.0 - smoothstep(0.4, 1.4, min(solidNear.x, min(solidNear.y, solidNear.z)));
        // Where elements are smaller than lines, lines would be all.
        float solidRoom = clamp(1.3 - 4.0 * max(fwidth(solidEdge).x, max(fwidth(solidEdge).y, fwidth(solidEdge).z)), 0.0, 1.0);
        diffuseColor.rgb *= 1.0 - 0.75 * solidEdges * solidLine * solidRoom;`);
  };
  return shown;
}

export class SolidMesh {
  static async load(description, stage) {
    const data = { vertices: await numbers(Float32Array, 'vertices'), elements: await numbers(Uint32Array, 'elements') };
    for (const name of ['stiffness', 'shapes', 'skin', 'cubature']) data[name] = await perhaps(Float32Array, name);
    for (const name of ['materials', 'triangles', 'held', 'regions']) data[name] = await perhaps(Uint32Array, name);
    return new SolidMesh(data, description, stage);
  }

  constructor(data, description, stage) {
    this.isSolid = true;
    this.stage = stage;
    this.data = data;
    this.nodes = description.elementNodes;
    this.frequencies = description.frequencies ?? [];
    this.materials = description.materials ?? [];
    this.regionNames = description.regions ?? this.materials;
    this.vertexCount = data.vertices.length / 3;
    this.elementCount = data.elements.length / this.nodes;
    if (!FACES[this.nodes] || !Number.isInteger(this.elementCount) || !data.vertices.every(Number.isFinite) || data.elements.some((v) => v >= this.vertexCount))
      throw new PageFault('The mesh in this page is damaged; make the page again with supple view.');
    this.across = neighbours(data.elements, this.nodes);
    this.place = Float32Array.from(data.vertices);
    this.box = new Box3().setFromArray(data.vertices);
    this.size = this.box.getSize(new Vector3()).length();
    this.clips = this.frequencies.map((f, k) => ({ name: `mode ${k + 1}: ${Number(f.toPrecision(4))} Hz`, duration: SWING }));
    this.mode = 0;
    this.amplitude = 0.08;
    this.cut = { axis: 'none', share: 0.5 };
    this.colour = 'plain';
    this.times = { pose: 0, draw: 0 };
    this.simulated = 0;
    this.#middles();
    this.#build();
    this.setCut('none', 0.5);
    stage.frame(this.box);
  }

  #middles() {
    const { elements, vertices } = this.data;
    this.middles = new Float32Array(3 * this.elementCount);
    for (let e = 0; e < this.elementCount; ++e)
      for (let k = 0; k < this.nodes; ++k)
        for (let i = 0; i < 3; ++i) this.middles[3 * e + i] += vertices[3 * elements[this.nodes * e + k] + i] / this.nodes;
  }

  #build() {
    this.root = new Group();
    this.stage.scene.add(this.root);
    const material = new MeshStandardMaterial({ vertexColors: true, flatShading: true, roughness: 0.7, side: DoubleSide });
    this.edges = drawEdges(material);
    this.mesh = new Mesh(new BufferGeometry(), material);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.root.add(this.mesh);
    if (!this.data.skin || !this.data.triangles) return;
    const skin = new BufferGeometry();
    skin.setAttribute('position', new BufferAttribute(this.data.skin, 3));
    skin.setIndex(new BufferAttribute(this.data.triangles, 1));
    skin.computeVertexNormals();
    this.skin = new Mesh(skin, new MeshStandardMaterial({ color: new Color(0x6f9fe8), transparent: true, opacity: 0.22, roughness: 0.9, depthWrite: false }));
    this.skin.renderOrder = 2;
    this.root.add(this.skin);
  }

  // ---- what is seen -------------------------------------------------------------------------------------------------

  /** The plane is across an axis, at a share of the box; what is beyond it is left out. */
  setCut(axis, share) {
    this.cut = { axis, share };
    const along = ['x', 'y', 'z'].indexOf(axis);
    this.kept = new Uint8Array(this.elementCount);
    const from = along < 0 ? 0 : this.box.min.getComponent(along), to = along < 0 ? 0 : this.box.max.getComponent(along);
    const limit = from + share * (to - from);
    for (let e = 0; e < this.elementCount; ++e) this.kept[e] = along < 0 || this.middles[3 * e + along] <= limit ? 1 : 0;
    if (this.skin) {
      const normal = new Vector3();
      if (along >= 0) normal.setComponent(along, -1);
      this.stage.renderer.localClippingEnabled = true;
      this.skin.material.clippingPlanes = along < 0 ? [] : [new Plane(normal, limit)];
    }
    this.#findFaces();
  }

  #findFaces() {
    const faces = FACES[this.nodes], { elements } = this.data, corners = [], owners = [], inner = [], edges = [];
    for (let e = 0; e < this.elementCount; ++e) {
      if (!this.kept[e]) continue;
      for (let f = 0; f < faces.length; ++f) {
        const other = this.across[faces.length * e + f];
        if (other >= 0 && this.kept[other]) continue;
        const [a, b, c, d] = faces[f].map((k) => elements[this.nodes * e + k]);
        const add = (three, hidden) => {
          corners.push(...three);
          owners.push(e);
          inner.push(other >= 0 ? 1 : 0);
          for (let k = 0; k < 3; ++k) for (let i = 0; i < 4; ++i) edges.push(i === k || i === hidden ? 255 : 0);
        };
        add([a, b, c], d === undefined ? -1 : 1);
        if (d !== undefined) add([a, c, d], 2);
      }
    }
    this.corners = Uint32Array.from(corners);
    this.owners = Uint32Array.from(owners);
    this.inner = Uint8Array.from(inner);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * corners.length), 3));
    geometry.setAttribute('color', new BufferAttribute(new Float32Array(3 * corners.length), 3));
    geometry.setAttribute('edge', new BufferAttribute(Uint8Array.from(edges), 4, true));
    this.mesh.geometry.dispose();
    this.mesh.geometry = geometry;
    this.stale = true;
    this.setColour(this.colour);
  }

  get colours() {
    const { data } = this, all = [['plain', 'Plain']];
    if (this.frequencies.length) all.push(['displacement', 'Displacement']);
    if (data.regions) all.push(['region', 'Region']);
    else if (this.materials.length > 1) all.push(['region', 'Material']);
    if (data.stiffness && Math.max(...this.#range(data.stiffness)) > 1.001 * this.#range(data.stiffness)[0]) all.push(['stiffness', 'Stiffness']);
    if (data.held) all.push(['held', 'Held by bones']);
    if (data.cubature) all.push(['cubature', 'Cubature weight']);
    all.push(['shape', 'Shape of elements']);
    return all;
  }

  #range(values) {
    let least = Infinity, most = -Infinity;
    for (const x of values) {
      least = Math.min(least, x);
      most = Math.max(most, x);
    }
    return [least, most];
  }

  /** Values of the elements, as shares of a scale with a name for either end. */
  #scale(colour) {
    const { data } = this;
    if (colour === 'stiffness') {
      const [least, most] = this.#range(data.stiffness), pascals = (x) => `${Number(x.toPrecision(3)).toLocaleString('en')} Pa`;
      return { share: (e) => Math.log(data.stiffness[e] / least) / Math.max(1e-9, Math.log(most / least)), low: pascals(least), high: pascals(most) };
    }
    if (colour === 'cubature') {
      const [, most] = this.#range(data.cubature), count = data.cubature.reduce((sum, w) => sum + (w > 0 ? 1 : 0), 0);
      const least = data.cubature.reduce((low, w) => (w > 0 ? Math.min(low, w) : low), Infinity);
      return {
        share: (e) => (data.cubature[e] > 0 ? Math.log(data.cubature[e] / least) / Math.max(1e-9, Math.log(most / least)) : NaN),
        low: `${count} elements: ${least.toFixed(1)}×`, high: `${most.toFixed(0)}× their volume`,
      };
    }
    if (colour === 'shape') {
      this.quality ??= Float32Array.from({ length: this.elementCount }, (_, e) =>
        shapeOf(data.vertices, Array.from(data.elements.subarray(this.nodes * e, this.nodes * (e + 1)))));
      const [least] = this.#range(this.quality);
      return { share: (e) => 1 - this.quality[e], low: 'regular', high: `worst here ${least.toFixed(2)}` };
    }
    return null;
  }

  setColour(colour) {
    this.colour = colour;
    this.stale = true; // displacements are coloured as they come
    const { color } = this.mesh.geometry.attributes, scale = this.#scale(colour), one = [0, 0, 0], { data } = this;
    this.legend = colour === 'displacement' ? { low: '0', high: 'largest' } : colour === 'region' ? this.#regionLegend() : scale;
    for (let t = 0; t < this.owners.length; ++t) {
      const e = this.owners[t];
      const share = scale?.share(e);
      if (scale && Number.isFinite(share)) heat(share, one);
      else if (scale) one.splice(0, 3, ...GREY);
      else if (colour === 'region') this.#regionColour((data.regions ?? data.materials)[e], one);
      else if (colour === 'held')
        one.splice(0, 3, ...(Array.from(data.elements.subarray(this.nodes * e, this.nodes * (e + 1))).every((v) => data.held[v]) ? GREY : PLAIN));
      else one.splice(0, 3, ...(this.inner[t] ? INNER : PLAIN));
      for (let k = 0; k < 3; ++k) color.setXYZ(3 * t + k, one[0], one[1], one[2]);
    }
    color.needsUpdate = true;
  }

  /** Bones are grey; they are the first of a character's regions. */
  #regionColour(number, out) {
    if (this.data.regions && number === 0) out.splice(0, 3, ...GREY);
    else kind(number, out);
  }
  #regionLegend() {
    const there = [...new Set(this.data.regions ?? this.data.materials)].sort((a, b) => a - b), one = [0, 0, 0];
    return {
      names: there.slice(0, 12).map((number) => {
        this.#regionColour(number, one);
        return [this.regionNames[number] || `material ${number + 1}`, [...one]];
      }),
    };
  }

  setWireframe(on) {
    this.mesh.material.wireframe = on;
  }
  setEdges(on) {
    this.edges.value = on ? 1 : 0;
  }
  setSkin(on) {
    this.skin.visible = on;
  }
  labels() {
    return [];
  }

  // ---- modes --------------------------------------------------------------------------------------------------------

  startClip(clip) {
    this.mode = Math.max(0, this.clips.indexOf(clip));
    this.stale = true;
  }
  setAmplitude(share) {
    this.amplitude = share;
    this.stale = true;
  }
  advance(seconds, player) {
    const span = Math.min(seconds, 0.25) * player.speed;
    player.advance(span);
    this.simulated += span;
    this.phase = Math.sin((2 * Math.PI * player.time) / SWING);
  }
  show() {
    if (!this.clips.length && !this.stale) return;
    const start = performance.now(), { vertices, shapes } = this.data, { place, corners } = this;
    const { position, color } = this.mesh.geometry.attributes;
    if (shapes) {
      const from = this.mode * vertices.length, amount = this.amplitude * this.size * (this.phase ?? 0);
      for (let k = 0; k < place.length; ++k) place[k] = vertices[k] + amount * shapes[from + k];
      if (this.colour === 'displacement') {
        for (let k = 0; k < corners.length; ++k) {
          const v = from + 3 * corners[k];
          heat(Math.abs(this.phase ?? 0) * Math.hypot(shapes[v], shapes[v + 1], shapes[v + 2]), color.array, 3 * k);
        }
        color.needsUpdate = true;
      }
    }
    for (let k = 0; k < corners.length; ++k)
      for (let i = 0; i < 3; ++i) position.array[3 * k + i] = place[3 * corners[k] + i];
    position.needsUpdate = true;
    this.stale = false;
    this.times.pose += 0.08 * (performance.now() - start - this.times.pose);
  }
  recordDraw(milliseconds) {
    this.times.draw += 0.08 * (milliseconds - this.times.draw);
  }
  restoreContext() {}
}
