// SPDX-License-Identifier: Apache-2.0
// node three_positions.mjs MODULES IN.glb OUT.bin SAMPLES [CLIPS.glb]: where three.js puts every vertex, at SAMPLES
// times of every clip (those of another file, matched by names, where one is given; the rest pose where there is none).
//
// OUT: little-endian. For each clip and time: "POSE", uint32 clip, float64 time, uint32 meshes; for each mesh: uint32
// node, uint32 primitive, uint32 vertices, float64 x y z of each in the world.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dirname, join, resolve } from 'node:path';

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

// The number of the file's node and primitive that a mesh came from: GLTFLoader makes a group of meshes where a node
// has several primitives.
function origin(parser, object) {
  const own = parser.associations.get(object) ?? {};
  for (let o = object; o; o = o.parent) {
    const found = parser.associations.get(o);
    if (found?.nodes !== undefined) return { node: found.nodes, primitive: own.primitives ?? 0 };
  }
  throw new Error('a mesh without a node');
}

const gltf = await open(input);
const clips = clipFile ? (await open(clipFile)).animations : gltf.animations;
const scene = gltf.scene;
const meshes = [];
scene.traverse((o) => o.isMesh && meshes.push(o));

const chunks = [];
const uint = (n) => chunks.push(Buffer.from(new Uint32Array([n]).buffer));
const doubles = (a) => chunks.push(Buffer.from(new Float64Array(a).buffer));

function record(clip, time) {
  scene.updateMatrixWorld(true);
  chunks.push(Buffer.from('POSE'));
  uint(clip);
  doubles([time]);
  uint(meshes.length);
  for (const mesh of meshes) {
    if (mesh.isSkinnedMesh) mesh.skeleton.update();
    const from = origin(gltf.parser, mesh);
    const count = mesh.geometry.attributes.position.count;
    const values = new Float64Array(3 * count);
    const point = new THREE.Vector3();
    for (let i = 0; i < count; ++i) {
      mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld).toArray(values, 3 * i);
    }
    uint(from.node);
    uint(from.primitive);
    uint(count);
    doubles(values);
  }
}

if (clips.length === 0) record(0xffffffff, 0);
for (let c = 0; c < clips.length; ++c) {
  // A mixer of its own for every clip, or the end of one becomes the start of the next.
  const mixer = new THREE.AnimationMixer(scene);
  const action = mixer.clipAction(clips[c]);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  for (let k = 0; k < Number(samples); ++k) {
    const time = (clips[c].duration * (k + 0.5)) / Number(samples);
    mixer.setTime(time);
    record(c, time);
  }
  mixer.stopAllAction();
  mixer.uncacheRoot(scene);
}
writeFileSync(output, Buffer.concat(chunks));
