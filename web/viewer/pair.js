// SPDX-License-Identifier: Apache-2.0
// A baked file beside its original: both play the same clips, nothing is simulated.
import { Box3, Color, Group, MeshStandardMaterial, SkeletonHelper, Vector3 } from 'three';
import { loadGltf } from './load_gltf.js';
import { readBlock } from './data.js';
import { Clips } from './player.js';

export class BakedPair {
  static async load(description, stage) {
    const baked = await loadGltf(await readBlock('model'), description.name);
    const original = description.original ? await loadGltf(await readBlock('original'), description.original) : null;
    return new BakedPair(baked, original, stage);
  }

  constructor(baked, original, stage) {
    this.stage = stage;
    this.baked = baked;
    this.original = original;
    this.root = new Group();
    this.root.add(baked.scene);
    if (original) this.root.add(original.scene);
    stage.scene.add(this.root);
    const files = original ? [baked, original] : [baked];
    this.actors = files.map((file) => new Clips(file.scene, file.animations));
    this.clips = baked.animations.map(({ name, duration }) => ({ name, duration }));
    for (const { scene } of files)
      scene.traverse((object) => {
        if (!object.isMesh) return;
        object.castShadow = object.receiveShadow = true;
        object.frustumCulled = false; // morph targets carry skin beyond its bounds
        object.userData.own = object.material;
      });
    this.bones = new SkeletonHelper(baked.scene);
    this.bones.material.depthTest = false;
    this.bones.visible = false;
    stage.scene.add(this.bones);
    this.times = { pose: 0, draw: 0 };
    this.box = new Box3().setFromObject(original?.scene ?? baked.scene, true);
    this.setView(original ? 'beside' : 'soft');
  }

  setView(view) {
    this.view = view;
    const shown = this.box.clone(), width = shown.max.x - shown.min.x;
    if (this.original) {
      const { scene } = this.original;
      scene.visible = view !== 'soft';
      scene.position.x = view === 'beside' ? -1.15 * width : 0;
      scene.traverse((object) => {
        if (!object.isMesh) return;
        object.castShadow = view === 'beside';
        object.material = view === 'overlaid' ? this.#ghost() : object.userData.own;
      });
    }
    if (view === 'beside') shown.min.x -= 1.15 * width;
    this.stage.frame(shown, view === 'beside');
  }

  #ghost() {
    this.ghost ??= new MeshStandardMaterial({ color: new Color(0x6f9fe8), transparent: true, opacity: 0.28, depthWrite: false });
    return this.ghost;
  }

  labels() {
    if (this.view !== 'beside') return [];
    const at = (object) => new Vector3((this.box.min.x + this.box.max.x) / 2 + object.position.x, this.box.min.y, this.box.max.z);
    return [['original', at(this.original.scene)], ['baked', at(this.baked.scene)]];
  }

  setWireframe(on) {
    this.baked.scene.traverse((object) => object.isMesh && (object.material.wireframe = on));
  }
  setBones(on) {
    this.bones.visible = on;
  }

  startClip(clip) {
    for (const actor of this.actors) actor.start(clip?.name, false);
  }
  advance(seconds, player) {
    const start = performance.now();
    player.advance(Math.min(seconds, 0.25) * player.speed);
    for (const actor of this.actors) actor.poseAt(player.time, seconds);
    this.times.pose += 0.08 * (performance.now() - start - this.times.pose);
  }
  show() {}
  recordDraw(milliseconds) {
    this.times.draw += 0.08 * (milliseconds - this.times.draw);
  }
  restoreContext() {}
}
