// SPDX-License-Identifier: Apache-2.0
// node three_positions.mjs MODULES IN.glb OUT.bin SAMPLES [CLIPS.glb]: where three.js puts every vertex, at SAMPLES
// times of every clip (those of another file, matched by names, where one is given; the rest pose where there is none).
//
// OUT: as three_clips.mjs describes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dirname, join, resolve } from 'node:path';
import { recordClips } from './three_clips.mjs';

const [modules, input, output, samples, clipFile] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, 'node_modules/three', path)));

// What a browser has and node lacks; pictures are not looked at.
globalThis.self = globalThis;
globalThis.window = globalThis;
globalThis.createImageBitmap = async () => ({ width: 1, height: 1, close() {} });
globalThis.fetch = async (request) => new Response(readFileSync(fileURLToPath(request.url ?? request)));
// Requests may only name the network, so they are made of the address alone.
globalThis.Request = class {
  constructor(url) {
    this.url = url;
  }
};
globalThis.ProgressEvent ??= class extends Event {};
globalThis.document = {
  createElementNS: () => {
    const image = new EventTarget();
    setTimeout(() => image.dispatchEvent(new Event('load')));
    return image;
  },
};

const THREE = await load('build/three.module.js');
const { GLTFLoader } = await load('examples/jsm/loaders/GLTFLoader.js');
const { MeshoptDecoder } = await load('examples/jsm/libs/meshopt_decoder.module.js');
console.warn = () => {};
console.error = () => {};

async function open(file) {
  await MeshoptDecoder.ready;
  const folder = pathToFileURL(resolve(dirname(file))).href + '/';
  const manager = new THREE.LoadingManager();
  const loader = new GLTFLoader(manager);
  loader.setMeshoptDecoder(MeshoptDecoder);
  const bytes = readFileSync(file);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return new Promise((done, failed) => loader.parse(data, folder, done, failed));
}

const gltf = await open(input);
const clips = clipFile ? (await open(clipFile)).animations : gltf.animations;

// As three.js works it out on the processor: for picking, bounding boxes and the like.
function positionsOf(mesh) {
  const count = mesh.geometry.attributes.position.count;
  const values = new Float64Array(3 * count);
  const point = new THREE.Vector3();
  for (let i = 0; i < count; ++i)
    mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld).toArray(values, 3 * i);
  return values;
}

writeFileSync(output, Buffer.concat(recordClips(THREE, gltf, clips, Number(samples), positionsOf)));
