// SPDX-License-Identifier: Apache-2.0
// Plays the clips of a loaded glTF file with three.js, in node or in a browser, and records where its vertices are.
//
// The record, little-endian. For each clip and time: "POSE", uint32 clip, float64 time, uint32 meshes; for each mesh:
// uint32 node, uint32 primitive, uint32 vertices, float64 x y z of each in the world.

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

// `positionsOf(mesh)` gives the world positions of a mesh's vertices as a Float64Array. Without clips the rest pose is
// recorded as clip 0xffffffff.
export function recordClips(THREE, gltf, clips, samples, positionsOf) {
  const scene = gltf.scene;
  const meshes = [];
  scene.traverse((o) => o.isMesh && meshes.push(o));
  const chunks = [];
  const add = (array) => chunks.push(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));

  const record = (clip, time) => {
    scene.updateMatrixWorld(true);
    add(new TextEncoder().encode('POSE'));
    add(new Uint32Array([clip]));
    add(new Float64Array([time]));
    add(new Uint32Array([meshes.length]));
    for (const mesh of meshes) {
      if (mesh.isSkinnedMesh) mesh.skeleton.update();
      const from = origin(gltf.parser, mesh);
      add(new Uint32Array([from.node, from.primitive, mesh.geometry.attributes.position.count]));
      add(positionsOf(mesh));
    }
  };

  if (clips.length === 0) record(0xffffffff, 0);
  for (let c = 0; c < clips.length; ++c) {
    // A mixer of its own for every clip, or the end of one becomes the start of the next.
    const mixer = new THREE.AnimationMixer(scene);
    const action = mixer.clipAction(clips[c]);
    action.setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    action.play();
    for (let k = 0; k < samples; ++k) {
      const time = (clips[c].duration * (k + 0.5)) / samples;
      mixer.setTime(time);
      record(c, time);
    }
    mixer.stopAllAction();
    mixer.uncacheRoot(scene);
  }
  return chunks;
}
