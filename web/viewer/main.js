// SPDX-License-Identifier: Apache-2.0
// The page of `supple view`: reads what the command has put into it, shows it, and goes on until it is closed.
import { Vector3 } from 'three';
import { loadSupple } from '../runtime/supple.js';
import { readBlock, readDescription } from './data.js';
import { LiveCharacter } from './character.js';
import { LiveObject } from './object.js';
import { BakedPair } from './pair.js';
import { SolidMesh } from './solid.js';
import { Handles } from './reach.js';
import { Player } from './player.js';
import { Stage } from './stage.js';
import { fillPanel } from './controls.js';
import { listenToKeys, listenToPointers } from './input.js';

const byId = (id) => document.getElementById(id);

function tell(sentence) {
  byId('message').textContent = sentence;
  byId('message').hidden = false;
}

async function loadThing(description, stage) {
  switch (description?.kind) {
    case 'character':
      return LiveCharacter.load(await loadSupple(await readBlock('module')), description, stage);
    case 'object':
      return LiveObject.load(await loadSupple(await readBlock('objects-module')), description, stage);
    case 'baked':
      return BakedPair.load(description, stage);
    case 'solid':
      return SolidMesh.load(description, stage);
    case undefined:
      throw new Error('There is nothing in this page yet; supple view THING -o page.html makes one that shows a thing.');
    default:
      throw new Error(`This page holds a ${description.kind}, which it can't show; make it again with supple view.`);
  }
}

/** Names under what stands side by side. */
function placeLabels(thing, stage) {
  const box = byId('labels'), labels = thing.labels();
  if (box.childElementCount !== labels.length)
    box.replaceChildren(...labels.map(([text]) => Object.assign(document.createElement('span'), { textContent: text })));
  labels.forEach(([, place], k) => {
    const at = new Vector3().copy(place).project(stage.camera);
    const label = box.children[k];
    label.style.left = `${(0.5 + 0.5 * at.x) * stage.canvas.clientWidth}px`;
    label.style.top = `${(0.5 - 0.5 * at.y) * stage.canvas.clientHeight + 10}px`;
  });
}

function run(thing, stage, player, panel, frames) {
  let last = performance.now(), shownFacts = 0;
  const frame = (now) => {
    requestAnimationFrame(frame);
    const seconds = Math.max(0, (now - last) / 1000);
    last = now;
    thing.advance(seconds, player);
    if (!stage.lost) {
      thing.show(stage.renderer);
      const start = performance.now();
      stage.draw(seconds);
      thing.recordDraw(performance.now() - start);
      frames.count += 1;
      frames.first ??= performance.now();
    }
    player.show();
    placeLabels(thing, stage);
    thing.handles?.follow();
    panel.sample(now / 1000);
    if (now - shownFacts < 250) return;
    shownFacts = now;
    panel.update();
  };
  requestAnimationFrame(frame);
}

async function start() {
  const canvas = byId('view');
  const stage = new Stage(canvas);
  const description = readDescription();
  const thing = await loadThing(description, stage);
  document.title = `${description.name} – Supple`;
  byId('name').textContent = description.name;
  stage.resize();
  const player = new Player(thing.clips);
  if (thing.isSolid && !thing.clips.length) byId('player').hidden = true;
  if (thing.reach?.limbs.length) thing.handles = new Handles(thing.reach, stage, byId('handles'));
  player.onClip = (clip) => thing.startClip(clip);
  thing.startClip(player.clip, false);
  const panel = fillPanel(thing, stage, player, byId('facts'));
  byId('panel-button').hidden = false;
  const setPanel = (open) => {
    byId('panel').hidden = !open;
    byId('panel-button').setAttribute('aria-expanded', String(open));
    // A sheet over the lower half of a phone hides what it hides; beside it there is room.
    stage.inset = open && innerWidth > 760 ? 280 : 0;
    stage.resize();
  };
  setPanel(innerWidth > 760);
  byId('panel-button').addEventListener('click', () => setPanel(byId('panel').hidden));
  stage.onRestored = () => thing.restoreContext();
  listenToPointers(thing, stage, byId('hint'));
  listenToKeys(thing, player, panel, stage, () => setPanel(byId('panel').hidden));
  const frames = { count: 0, first: null };
  run(thing, stage, player, panel, frames);
  // For tests, and for whoever looks from the console.
  globalThis.supple = { thing, stage, player, panel, frames };
}

start().catch((fault) => tell(fault.message));
