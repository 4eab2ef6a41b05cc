// SPDX-License-Identifier: Apache-2.0
// The page of the mascot, driven as people do: with mouse, fingers and keys. Environment: SUPPLE_PAGE, the page of a live
// character; SUPPLE_PAIR, that of a baked file beside its original; SUPPLE_OBJECT and SUPPLE_DOMAINS, those of objects; SUPPLE_INSIDE
// and SUPPLE_MODES, those of a character's tetrahedra and of a mesh; SUPPLE_MODEL, the character's file; SUPPLE_COMMAND, supple
// itself; SUPPLE_NPM, the folder of playwright-core.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, statSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { changed, launch, open, pixels, running, vertexAt, vertexState } from './browser.mjs';

const PAGE = process.env.SUPPLE_PAGE, PAIR = process.env.SUPPLE_PAIR;
const work = mkdtempSync(join(tmpdir(), 'supple-page-'));
let browser, live;

const state = (page, what) => page.evaluate(`globalThis.supple.${what}`);
const wait = (page, milliseconds) => page.waitForTimeout(milliseconds);
/** Until so much time has passed for the flesh, however slow the machine. */
const pass = async (page, seconds) => {
  const end = (await state(page, 'thing.simulated')) + seconds;
  await page.waitForFunction((time) => supple.thing.simulated >= time, end, { timeout: 60000 });
};
/** Until what was asked for has been drawn, however slow the machine. */
const drawn = async (page) => {
  const count = (await state(page, 'frames.count')) + 2;
  await page.waitForFunction((frames) => supple.frames.count >= frames, count, { timeout: 60000 });
};
const still = async (page) => {
  if (await state(page, 'player.playing')) await page.keyboard.press('Space');
  await page.keyboard.press('r');
  await pass(page, 0.5);
};

before(async () => {
  browser = await launch(process.env.SUPPLE_NPM);
});
after(async () => {
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
});

test('is small, and moves within three seconds of being opened', async (t) => {
  const megabytes = statSync(PAGE).size / 1e6;
  t.diagnostic(`${megabytes.toFixed(2)} MB`);
  assert.ok(megabytes <= 8);
  live = await open(browser, PAGE);
  await running(live.page);
  const seconds = (await state(live.page, 'frames.first')) / 1000;
  t.diagnostic(`first picture after ${seconds.toFixed(2)} s`);
  assert.ok(seconds <= 3, `${seconds} s`);
  const first = await pixels(live.page);
  await wait(live.page, 300);
  assert.ok(changed(first, await pixels(live.page)) > 5, 'nothing moves');
});

test('simulates without a missed step and draws twenty pictures a second', async (t) => {
  const { page } = live;
  await wait(page, 2500); // the resolution finds its place
  const look = () => page.evaluate(() => ({ now: performance.now(), frames: supple.frames.count, missed: supple.thing.missed, simulated: supple.thing.simulated, steps: supple.thing.steps, recovered: supple.thing.recovered }));
  const start = await look();
  await wait(page, 5000);
  const end = await look();
  const seconds = (end.now - start.now) / 1000, rate = (end.frames - start.frames) / seconds;
  const times = await state(page, 'thing.times');
  t.diagnostic(`${rate.toFixed(1)} pictures/s, ${((end.steps - start.steps) / seconds).toFixed(0)} poses/s; ` +
    Object.entries(times).map(([name, ms]) => `${name} ${ms.toFixed(2)} ms`).join(', '));
  assert.equal(end.missed - start.missed, 0);
  assert.equal(end.recovered, 0);
  assert.ok(Math.abs(end.simulated - start.simulated - seconds) < 0.15, 'time was lost');
  assert.ok((end.steps - start.steps) / seconds >= 89, 'fewer than 90 poses a second');
  assert.ok(rate >= 20, `${rate} pictures a second`);
});

async function pullBelly(page, down, move, up) {
  await still(page);
  const vertex = await vertexAt(page, 0.42);
  assert.ok(vertex >= 0, 'there is no belly');
  const height = await state(page, 'thing.character.height');
  const rest = await vertexState(page, vertex), picture = await pixels(page);
  await down(rest.x, rest.y);
  for (let k = 1; k <= 6; ++k) await move(rest.x + 15 * k, rest.y - 5 * k);
  await pass(page, 0.7);
  const held = await vertexState(page, vertex);
  assert.ok(held.x > rest.x + 8, `the belly has followed by ${held.x - rest.x} pixels`);
  const length = Math.hypot(...held.displacement.map((x, k) => x - rest.displacement[k])) / height;
  assert.ok(length > 0.01 && length < 0.3, `it was pulled by ${length} of the height`);
  assert.ok(changed(picture, await pixels(page)) > 0, 'the picture is the same');
  const direction = held.displacement.map((x, k) => x - rest.displacement[k]);
  await page.evaluate((v) => {
    // Pictures may be rare; every step is looked at.
    globalThis.seen = [];
    const { flesh } = supple.thing, advance = flesh.advance;
    flesh.advance = function (seconds) {
      const recovered = advance.call(this, seconds);
      globalThis.seen.push(Array.from(this.state.displacements().slice(3 * v, 3 * v + 3)));
      return recovered;
    };
  }, vertex);
  await up();
  await pass(page, 2.5);
  const seen = await page.evaluate(() => (delete supple.thing.flesh.advance, globalThis.seen));
  const norm = direction.reduce((sum, x) => sum + x * x, 0);
  const along = seen.map((u) => u.reduce((sum, x, k) => sum + (x - rest.displacement[k]) * direction[k], 0) / norm);
  assert.ok(Math.min(...along) < -0.03, `it doesn't swing through: ${Math.min(...along)}`);
  assert.ok(Math.abs(along.at(-1)) < 0.2, `it doesn't come back: ${along.at(-1)}`);
}

test('a mouse pulls the belly, and it swings back', async () => {
  const { page } = live;
  await pullBelly(page, async (x, y) => (await page.mouse.move(x, y), page.mouse.down()), (x, y) => page.mouse.move(x, y), () => page.mouse.up());
});

test('a finger pulls the belly, and it swings back', async () => {
  const { page, context } = live;
  const session = await context.newCDPSession(page);
  const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points });
  await pullBelly(page, (x, y) => touch('touchStart', [{ x, y }]), (x, y) => touch('touchMove', [{ x, y }]), () => touch('touchEnd', []));
});

test('dragging beside the character turns the camera', async () => {
  const { page } = live;
  const where = await page.evaluate(() => supple.stage.camera.position.toArray());
  await page.mouse.move(120, 400);
  await page.mouse.down();
  await page.mouse.move(220, 420, { steps: 5 });
  await page.mouse.up();
  await wait(page, 300);
  const there = await page.evaluate(() => supple.stage.camera.position.toArray());
  assert.ok(Math.hypot(...where.map((x, k) => x - there[k])) > 0.05);
  await page.evaluate(() => supple.thing.setView('soft'));
});

test('the timeline is scrubbed with the mouse', async () => {
  const { page } = live;
  const joints = () => page.evaluate(() => (supple.thing.flesh.readJoints(), Array.from(supple.thing.flesh.matrices)));
  const line = await page.locator('#timeline').boundingBox();
  await page.mouse.move(line.x + 0.2 * line.width, line.y + line.height / 2);
  await page.mouse.down();
  await wait(page, 200);
  const early = await joints();
  await page.mouse.move(line.x + 0.7 * line.width, line.y + line.height / 2, { steps: 4 });
  await wait(page, 200);
  const share = await page.evaluate(() => supple.player.time / supple.player.duration);
  assert.ok(Math.abs(share - 0.7) < 0.05, `${share}`);
  const late = await joints();
  await page.mouse.up();
  assert.ok(Math.max(...early.map((x, k) => Math.abs(x - late[k]))) > 0.01, 'no joint has moved');
  const largest = await page.evaluate(() => Math.max(...supple.thing.flesh.state.displacements().map(Math.abs)) / supple.thing.character.height);
  assert.ok(largest < 0.3, 'scrubbing tears the flesh');
});

test('every key does what its title says', async () => {
  const { page } = live;
  await page.locator('#view').focus();
  const press = (key) => page.keyboard.press(key);
  const playing = await state(page, 'player.playing');
  await press('Space');
  assert.equal(await state(page, 'player.playing'), !playing);
  if (playing) await press('Space');
  const clip = await state(page, 'player.index');
  await press('ArrowDown');
  assert.notEqual(await state(page, 'player.index'), clip);
  await press('ArrowUp');
  const time = await state(page, 'player.time');
  await press('ArrowRight');
  assert.ok((await state(page, 'player.time')) !== time && !(await state(page, 'player.playing')));
  for (const [key, view] of [['2', 'beside'], ['3', 'overlaid'], ['1', 'soft']]) {
    await press(key);
    assert.equal(await state(page, 'thing.view'), view);
  }
  for (const [key, what] of [['c', 'thing.paint.supplePaint.value'], ['b', 'thing.bones.visible'], ['k', 'thing.dots.visible'], ['w', 'thing.flesh.parts[0].object.material.wireframe'], ['t', 'stage.theme']]) {
    const was = await state(page, what);
    await press(key);
    assert.notEqual(await state(page, what), was, key);
    await wait(page, 150);
    await press(key);
    assert.equal(await state(page, what), was, key);
  }
  await still(page);
  await press('f');
  await pass(page, 0.2);
  const moved = await page.evaluate(() => Math.max(...supple.thing.flesh.state.displacements().map(Math.abs)));
  assert.ok(moved > 1e-3, 'F moves nothing');
});

test('regions and contacts are shown in colours', async () => {
  const { page } = live;
  await still(page);
  const list = page.locator('#panel select[aria-label^="What colours"]');
  const colours = async (name) => {
    await list.selectOption(name);
    await drawn(page);
    await wait(page, 200);
    return page.evaluate(() => Array.from(supple.thing.paint.suppleColours.value.image.data));
  };
  const regions = await colours('region');
  const kinds = new Set(await page.evaluate(() => Array.from(supple.thing.regions.numbers)));
  assert.ok(kinds.has(0) && kinds.has(1), 'bones and flesh');
  const names = page.locator('#panel .legend .names span');
  assert.deepEqual((await names.allTextContents()).slice(0, 2), ['bone', 'flesh']);
  const different = new Set();
  for (let k = 0; k < regions.length; k += 4) different.add(regions.slice(k, k + 3).map((x) => x.toFixed(3)).join());
  assert.equal(different.size >= kinds.size, true);
  await colours('contact');
  const nearest = () => page.evaluate(() => Math.min(...supple.thing.contacts.gaps) / supple.thing.character.height);
  const before = await nearest();
  const { least, height } = await page.evaluate(() => {
    const { thing } = supple, x = Float32Array.from(thing.flesh.state.positions());
    // As if the right half of the body had come through its middle: the skin of both halves is near and inside.
    const middle = (thing.box.min.x + thing.box.max.x) / 2 * thing.character.metresPerUnit;
    for (let k = 0; k < x.length; k += 3) if (x[k] > middle) x[k] -= 0.12 * thing.character.height;
    return { least: Math.min(...thing.contacts.update(x)), height: thing.character.height };
  });
  assert.ok(least / height < Math.min(before, 0), `${before} and ${least / height}`);
  await list.selectOption('plain');
});

test('sliders change the flesh', async () => {
  const { page } = live;
  await still(page);
  const set = (name, value) => page.evaluate(([label, x]) => {
    const input = document.querySelector(`#panel input[aria-label^="${label}"]`);
    input.value = x;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, [name, value]);
  const sag = () => page.evaluate(() => { const u = supple.thing.flesh.state.displacements(); let sum = 0; for (let k = 1; k < u.length; k += 3) sum += u[k]; return (3 * sum) / u.length; });
  await set('Weight', 10);
  await set('Damping', 0.5);
  await pass(page, 1.5);
  const down = await sag();
  await set('Weight', -10);
  await pass(page, 1.5);
  assert.ok(down < -1e-5 && (await sag()) > 1e-5, 'weight pulls nowhere');
  await set('Number', 8);
  await pass(page, 1);
  assert.ok((await state(page, 'thing.flesh.state.detail')) <= 8);
  await page.keyboard.press('r');
});

test('flesh that is twice as soft hangs twice as deep, and swings more slowly', async (t) => {
  const { page } = live;
  await still(page);
  const fill = (title, value) => page.locator(`#panel input[title^="${title}"]`).fill(String(value));
  // Gently, and well damped: where it hangs is proportional to its weight.
  await fill('Damping', 0.6);
  const sag = async (softness) => {
    await fill('How much softer', softness);
    await fill('Weight besides', 0.5);
    await pass(page, 3);
    return page.evaluate(() => supple.thing.flesh.state.displacements().reduce((sum, u, k) => (k % 3 === 1 ? sum + u : sum), 0));
  };
  const [once, twice] = [await sag(1), await sag(2)];
  t.diagnostic(`sag ${(twice / once).toFixed(3)} of that of flesh as it was built`);
  assert.ok(once < 0 && Math.abs(twice / once - 2) < 0.04, `${twice / once}`);
  // Let go, it comes back √2 times as late: so much later is it halfway.
  const halfway = async (softness) => {
    await sag(softness);
    return page.evaluate(async () => {
      const total = () => supple.thing.flesh.state.displacements().reduce((sum, u, k) => (k % 3 === 1 ? sum + u : sum), 0);
      const begin = total();
      supple.thing.setGravity(0);
      const { flesh } = supple.thing, advance = flesh.advance, pace = supple.thing.pace;
      let time = 0, found = 0;
      flesh.advance = function (seconds) {
        const recovered = advance.call(this, seconds);
        time += seconds / pace;
        if (!found && Math.abs(total()) < 0.5 * Math.abs(begin)) found = time;
        return recovered;
      };
      while (!found) await new Promise((resume) => setTimeout(resume, 20));
      delete flesh.advance;
      return found;
    });
  };
  const ratio = (await halfway(4)) / (await halfway(1));
  t.diagnostic(`four times as soft takes ${ratio.toFixed(2)} times as long`);
  assert.ok(Math.abs(ratio - 2) < 0.3, `${ratio}`); // joints come 90 times a second: so coarse is time
  await page.keyboard.press('r');
  assert.equal(await state(page, 'thing.settings.softness'), 1);
});

test('a hand follows the mouse, and arrow keys; let go, it returns to its clip', async () => {
  const { page } = live;
  await still(page);
  await page.keyboard.press('j');
  const hand = page.locator('.handle[aria-label="Move left_hand"]');
  const where = () => page.evaluate(() => {
    const { reach } = supple.thing, limb = reach.limbs.find(({ name }) => name === 'left_hand');
    return { place: reach.place(limb).toArray(), goal: limb.goal?.toArray(), pose: supple.thing.flesh.joints.map((joint) => joint?.quaternion.toArray()) };
  });
  const away = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
  const rest = await where(), height = await state(page, 'thing.character.height');
  const box = await hand.boundingBox();
  await page.mouse.move(box.x + 15, box.y + 15);
  await page.mouse.down();
  await page.mouse.move(box.x + 5, box.y - 25, { steps: 4 });
  await pass(page, 0.8);
  const held = await where();
  assert.ok(away(held.place, rest.place) > 0.02 * height, 'the hand stays where it was');
  assert.ok(away(held.place, held.goal) < 0.02 * height, `it is ${away(held.place, held.goal)} m from the mouse`);
  assert.ok(await page.evaluate(() => { // the picture's joints are the runtime's
    const { flesh, reach } = supple.thing, limb = reach.limbs.find(({ name }) => name === 'left_hand');
    return Math.hypot(...Array.from(flesh.state.jointPosition(limb.tip)).map((x, k) => x - reach.place(limb).getComponent(k))) < 1e-3;
  }));
  await page.mouse.up();
  await pass(page, 1.2);
  const back = await where();
  assert.ok(Math.max(...back.pose.map((q, k) => (q ? away(q, rest.pose[k]) : 0))) < 1e-5, 'it does not return');
  await hand.focus();
  for (let k = 0; k < 3; ++k) await page.keyboard.press('ArrowUp');
  await pass(page, 0.8);
  assert.ok((await where()).place[1] > rest.place[1] + 0.01 * height, 'arrow keys do nothing');
  assert.equal(await state(page, 'player.playing'), false);
  await page.keyboard.press('Escape');
  await page.locator('#view').focus();
  await page.keyboard.press('j');
  assert.ok(await page.locator('#handles').isHidden());
});

test('softness is painted, undone, and saved as what [[paint]] reads', async () => {
  const { page } = live;
  await still(page);
  await page.keyboard.press('s');
  const vertex = await vertexAt(page, 0.42), at = await vertexState(page, vertex);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 12, at.y + 6, { steps: 5 });
  await page.mouse.up();
  const values = () => page.evaluate((v) => [supple.thing.brush.values[v], Math.max(...supple.thing.brush.values), Math.min(...supple.thing.brush.values)], vertex);
  const painted = await values();
  assert.ok(painted[0] > 2 && painted[1] <= 4.001 && painted[2] === 1, `${painted}`);
  assert.equal(await state(page, 'thing.pull.active'), false);
  assert.equal(await state(page, 'thing.colour'), 'brush');
  await page.keyboard.press('z');
  assert.deepEqual(await values(), [1, 1, 1]);
  await page.keyboard.press('f'); // the middle of the picture, without a mouse
  assert.ok((await values())[1] > 2);
  const saving = page.waitForEvent('download');
  await page.locator('#panel button', { hasText: 'Save' }).click();
  const download = await saving, file = join(work, download.suggestedFilename());
  await download.saveAs(file);
  copyFileSync(process.env.SUPPLE_MODEL, join(work, 'mascot.glb'));
  // A body of few tetrahedra, with the paint that the page tells to add and without.
  const young = (recipe) => {
    writeFileSync(join(work, 'painted.toml'), `input = "mascot.glb"\n[body]\ntets = 1500\nexclude = ["mascot_details"]\n[material]\nyoung = 20000\n${recipe}\n`);
    execFileSync(process.env.SUPPLE_COMMAND, ['view', join(work, 'painted.toml'), '--inside', '--no-cache', '--force', '--quiet', '-o', join(work, 'painted.html'), '--page', join(process.env.SUPPLE_RUNTIME, '../view.html')]);
    return open(browser, join(work, 'painted.html')).then(async (opened) => {
      await running(opened.page);
      const ends = await opened.page.evaluate(() => [Math.min(...supple.thing.data.stiffness), Math.max(...supple.thing.data.stiffness)]);
      await opened.context.close();
      return ends;
    });
  };
  const plain = await young(''), soft = await young(await page.locator('.code').textContent());
  assert.deepEqual(plain, [20000, 20000]);
  assert.ok(soft[0] < 0.6 * 20000 && soft[1] > 0.98 * 20000, `painted flesh has ${soft} Pa`);
  await page.keyboard.press('s');
  assert.equal(await state(page, 'thing.colour'), 'plain');
});

test('every colour shows something else', async () => {
  const { page } = live;
  await still(page);
  const list = page.locator('#panel select'), seen = new Set();
  const colours = await list.locator('option').evaluateAll((options) => options.map(({ value }) => value));
  assert.deepEqual(colours, ['plain', 'displacement', 'stretch', 'stiffness', 'region', 'contact', 'joint', 'brush']);
  for (const colour of colours) {
    await list.selectOption(colour);
    await wait(page, 200);
    seen.add((await pixels(page)).map((x) => Math.round(x / 8)).join());
    assert.equal(await page.locator('.legend').isVisible(), !['plain', 'joint'].includes(colour), colour);
  }
  assert.equal(seen.size, colours.length);
  const [least, most] = await page.evaluate(() => { const soft = supple.thing.stiffness.filter((x) => x > 0); return [Math.min(...soft), Math.max(...soft)]; });
  assert.ok(least > 0.1 && most > 2 * least && most < 1e5, `${least} to ${most} kPa`);
  await list.selectOption('plain');
});

test('card and processor give the same displacements', async (t) => {
  const { page } = live;
  await page.evaluate(() => { supple.player.playing = true; });
  await pass(page, 1);
  const [difference, largest] = await page.evaluate(() => [supple.thing.compareProducts(supple.stage.renderer),
    Math.max(...supple.thing.flesh.state.displacements().map(Math.abs)) / supple.thing.character.height]);
  t.diagnostic(`${difference.toExponential(1)} of the height, where flesh moves by ${largest.toExponential(1)}`);
  // The processor's basis is in half precision, eleven bits; errors of some coordinates add up.
  assert.ok(largest > 1e-3 && difference < 2 ** -10 * largest);
  await page.evaluate(() => { supple.player.playing = false; });
  await wait(page, 300);
  const own = await pixels(page);
  await page.locator('input[value=card]').click();
  await wait(page, 300);
  assert.equal(await state(page, 'thing.flesh.product'), 'card');
  assert.ok(changed(own, await pixels(page)) < 12, 'the card draws something else');
  await page.locator('input[value=processor]').click();
});

test('fits from a small phone to a large screen', async () => {
  const { page } = live;
  for (const [width, height] of [[320, 568], [844, 390], [3840, 2160], [1280, 720]]) {
    await page.setViewportSize({ width, height });
    await page.waitForFunction((aspect) => Math.abs(supple.stage.camera.aspect - aspect) < 0.02, width / height);
    if (await page.locator('#panel').isHidden()) await page.keyboard.press('p');
    for (const part of ['#player', '#panel', '#panel-button', '#title']) {
      const box = await page.locator(part).boundingBox();
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1,
        `${part} leaves ${width} × ${height}: ${JSON.stringify(box)}`);
    }
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  }
});

test('a lost graphics context comes back', async () => {
  const { page } = live;
  const full = await pixels(page);
  await page.evaluate(() => {
    globalThis.loss = supple.stage.renderer.getContext().getExtension('WEBGL_lose_context');
    globalThis.loss.loseContext();
  });
  await page.waitForFunction(() => supple.stage.lost);
  await pass(page, 0.3); // the flesh goes on
  const frames = await state(page, 'frames.count');
  await page.evaluate(() => globalThis.loss.restoreContext());
  await page.waitForFunction((count) => !supple.stage.lost && supple.frames.count > count + 2, frames);
  assert.ok(changed(full, await pixels(page)) < 400, 'the picture is another');
});

test('nothing was complained of, and nothing asked for', () => {
  const own = live.complaints.filter((text) => !/CONTEXT_LOST_WEBGL|Context Lost|Context Restored/i.test(text));
  assert.deepEqual(own, []);
  assert.deepEqual(live.requests, []);
});

test('a baked file plays beside its original', async () => {
  const { page, complaints, requests } = await open(browser, PAIR);
  await running(page);
  assert.equal(await state(page, 'thing.view'), 'beside');
  const first = await pixels(page);
  await wait(page, 400);
  assert.ok(changed(first, await pixels(page)) > 5);
  assert.deepEqual(await page.locator('#labels span').allTextContents(), ['original', 'baked']);
  assert.deepEqual([complaints, requests], [[], []]);
  await page.close();
});

test('what is broken is told in a sentence', async () => {
  const whole = readFileSync(PAGE, 'utf8');
  const damage = (id, change) => whole.replace(new RegExp(`(<script[^>]*id="supple-${id}">)([^<]*)`), (_, head, body) => head + change(body));
  const broken = {
    'asset cut in half': [damage('asset', (text) => text.slice(0, text.length / 2)), /asset in this page is damaged/],
    'another asset': [damage('asset', () => Buffer.from('').toString('base64')), /damaged|isn't|not/],
    'no model': [whole.replace(/<script[^>]*id="supple-model">[^<]*<\/script>/, ''), /lost its model/],
    'unknown kind': [damage('what', () => '{"kind":"teapot","name":"x"}'), /teapot/],
    'no description': [damage('what', () => '{'), /description/],
  };
  for (const [name, [text, sentence]] of Object.entries(broken)) {
    const file = join(work, 'broken.html');
    writeFileSync(file, text);
    const { page, complaints } = await open(browser, file);
    await page.locator('#message').waitFor({ state: 'visible', timeout: 20000 });
    assert.match(await page.locator('#message').textContent(), sentence, name);
    assert.deepEqual(complaints, [], name);
    await page.close();
  }
});

// ---- deformable objects -------------------------------------------------------------------------------------------------

/** Pulls what is in the middle of the picture by a hundred pixels, and gives how far that was moved, of the size. */
async function pullMiddle(page) {
  const vertex = await page.evaluate(() => {
    const { thing, stage } = supple, box = stage.canvas.getBoundingClientRect();
    // The first thing on a grid around the middle: objects may have holes.
    const across = box.width - stage.inset;
    for (let k = 0; k < 400; ++k) {
      const x = box.left + across * (0.5 + 0.4 * Math.cos(k) * (k / 400)), y = box.top + box.height * (0.5 + 0.4 * Math.sin(k) * (k / 400));
      const hit = thing.pull.hit(x, y);
      if (hit) return { x, y, vertex: hit.vertex };
    }
    return null;
  });
  assert.ok(vertex, 'nothing is seen');
  const place = () => page.evaluate((v) => Array.from(supple.thing.state.positions().slice(3 * v, 3 * v + 3)), vertex.vertex);
  const rest = await place(), picture = await pixels(page);
  await page.mouse.move(vertex.x, vertex.y);
  await page.mouse.down();
  assert.ok(await state(page, 'thing.pull.active'), 'the mouse holds nothing');
  await page.mouse.move(vertex.x + 100, vertex.y - 60, { steps: 6 });
  await pass(page, 0.8);
  const held = await place();
  const moved = Math.hypot(...held.map((x, k) => x - rest[k])) / (await state(page, 'thing.size'));
  const differs = changed(picture, await pixels(page));
  await page.mouse.up();
  return { moved, differs, rest, place };
}

test('a deformable object is pulled, swings back and hangs under its weight', async () => {
  const { page, complaints, requests } = await open(browser, process.env.SUPPLE_OBJECT);
  await running(page);
  const { moved, differs, rest, place } = await pullMiddle(page);
  assert.ok(moved > 0.005 && moved < 0.5, `it was pulled by ${moved} of its size`);
  assert.ok(differs > 0, 'the picture is the same');
  await pass(page, 4);
  const size = await state(page, 'thing.size'), back = await place();
  assert.ok(Math.hypot(...back.map((x, k) => x - rest[k])) / size < 0.3 * moved, 'it does not come back');
  await page.keyboard.press('r');
  const lowest = () => page.evaluate(() => Math.min(...supple.thing.state.positions().filter((_, k) => k % 3 === 1)));
  const before = await lowest();
  await page.locator('input[title^="Downwards"]').fill('9.5');
  await pass(page, 0.5);
  assert.ok((await lowest()) < before - 1e-6 * size, 'weight does nothing');
  for (const key of ['2', '3', '1', 'c', 'w', 'b', 't', 'f', 'r']) await page.keyboard.press(key);
  await pass(page, 0.3);
  assert.equal(await state(page, 'thing.recovered'), 0);
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests, []);
  // Pulls are recorded as the file that makes a basis of them.
  await page.keyboard.press('s');
  await pullMiddle(page);
  await page.keyboard.press('s');
  const loads = await state(page, 'thing.sketch.loads.length');
  assert.ok(loads >= 3, `${loads} loads`);
  const saving = page.waitForEvent('download');
  await page.locator('#panel button', { hasText: 'Save' }).click();
  const sketch = join(work, 'pulled.sketch');
  await (await saving).saveAs(sketch);
  const scene = readFileSync(join(import.meta.dirname, '../../examples/beam_model.toml'), 'utf8').replace('[reduce]', '[reduce]\nsketch = "pulled.sketch"').replace('size = 20', 'size = 3');
  writeFileSync(join(work, 'sketched.toml'), scene);
  const told = execFileSync(process.env.SUPPLE_COMMAND, ['build', join(work, 'sketched.toml'), '-o', join(work, 'sketched.supple'), '--force'], { encoding: 'utf8' });
  assert.match(told, /[1-9]\d* solved loads, [1-9]\d* different shapes/);
  await page.context().close();
});

test('a scene of many parts is pulled and feels the wind', async () => {
  const { page, complaints, requests } = await open(browser, process.env.SUPPLE_DOMAINS);
  await running(page);
  assert.ok((await state(page, 'thing.object.domainCount')) > 1);
  const { moved, differs } = await pullMiddle(page);
  assert.ok(moved > 0.002 && moved < 0.8, `it was pulled by ${moved} of its size`);
  assert.ok(differs > 0, 'the picture is the same');
  await page.keyboard.press('r');
  const far = () => page.evaluate(() => supple.thing.state.displacements().reduce((most, u) => Math.max(most, Math.abs(u)), 0) / supple.thing.size);
  assert.ok((await far()) < 1e-3, 'it is not at rest');
  await page.locator('input[title^="Air from the side"]').fill('12');
  await pass(page, 1);
  assert.ok((await far()) > 1e-3, 'no wind is felt');
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests, []);
  await page.context().close();
});

test('a report plays a character within its own page', async () => {
  const results = join(work, 'results');
  cpSync(join(import.meta.dirname, '../../bench/results/xeon-avx2-2core'), join(results, 'here'), { recursive: true });
  mkdirSync(join(results, 'here/figures'), { recursive: true });
  copyFileSync(process.env.SUPPLE_OBJECT, join(results, 'here/figures/beam.html'));
  const report = join(work, 'report.html');
  execFileSync(process.env.SUPPLE_COMMAND, ['report', '-o', report, '--results', results, '--force']);
  const { page, complaints, requests } = await open(browser, report);
  await page.locator('figure.live button').click();
  const frame = await (await page.locator('figure.live iframe').elementHandle()).contentFrame();
  await frame.waitForFunction(() => globalThis.supple?.frames.count > 2, null, { timeout: 60000 });
  assert.equal(await frame.evaluate(() => supple.thing.isObject), true);
  assert.deepEqual([complaints, requests], [[], []]);
  await page.context().close();
});

// ---- solid meshes -------------------------------------------------------------------------------------------------------

test('modes of a mesh swing, one after the other', async () => {
  const { page, complaints, requests } = await open(browser, process.env.SUPPLE_MODES);
  await running(page);
  const frequencies = await state(page, 'thing.frequencies');
  assert.equal(frequencies.length, 6);
  assert.ok(frequencies.every((f, k) => f > 0 && (k === 0 || f >= frequencies[k - 1])));
  await page.keyboard.press('Space');
  const shape = () => page.evaluate(() => Array.from(supple.thing.place));
  const line = await page.locator('#timeline').boundingBox();
  const scrub = (share) => page.mouse.click(line.x + share * line.width, line.y + line.height / 2);
  await scrub(0.25);
  await drawn(page);
  const [first, size] = [await shape(), await state(page, 'thing.size')];
  const rest = await page.evaluate(() => Array.from(supple.thing.data.vertices));
  const far = (a, b) => { let most = 0; for (let k = 0; k < a.length; k += 3) most = Math.max(most, Math.hypot(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2])); return most / size; };
  assert.ok(Math.abs(far(first, rest) - 0.08) < 0.004, `it swings by ${far(first, rest)} of its size`);
  await page.locator('#panel input[title^="Which mode"]').fill('4');
  assert.equal(await state(page, 'thing.mode'), 3);
  await page.keyboard.press('p');
  await page.keyboard.press('p');
  await page.locator('#view').focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await state(page, 'thing.mode'), 4);
  await drawn(page);
  assert.match(await page.locator('#panel table').first().textContent(), new RegExp(String(Number(frequencies[4].toPrecision(6)))));
  await scrub(0.25);
  await drawn(page);
  assert.ok(far(first, await shape()) > 0.02, 'two modes are one');
  assert.deepEqual([complaints, requests], [[], []]);
  await page.context().close();
});

test('tetrahedra of a character are cut open by a plane', async () => {
  const { page, complaints, requests } = await open(browser, process.env.SUPPLE_INSIDE);
  await running(page);
  const look = () => page.evaluate(() => {
    const { thing } = supple, x = thing.mesh.geometry.attributes.position.array, seen = { faces: thing.owners.length, inner: 0, area: 0, volume: 0, most: -Infinity };
    for (let t = 0; t < thing.owners.length; ++t) {
      seen.inner += thing.inner[t];
      const p = [0, 1, 2].map((k) => Array.from(x.slice(9 * t + 3 * k, 9 * t + 3 * k + 3)));
      seen.volume += (p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) + p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) / 6;
    }
    // What the kept tetrahedra add up to.
    const { elements, vertices } = thing.data;
    let kept = 0;
    for (let e = 0; e < thing.elementCount; ++e) {
      if (!thing.kept[e]) continue;
      const p = [0, 1, 2, 3].map((k) => vertices.slice(3 * elements[4 * e + k], 3 * elements[4 * e + k] + 3));
      const [a, b, c] = [1, 2, 3].map((k) => [0, 1, 2].map((i) => p[k][i] - p[0][i]));
      kept += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6;
    }
    return { ...seen, kept };
  });
  const whole = await look(), picture = await pixels(page);
  assert.equal(whole.inner, 0);
  assert.ok(Math.abs(whole.volume / whole.kept - 1) < 1e-4, 'the faces do not close');
  await page.keyboard.press('x');
  await drawn(page);
  const half = await look();
  assert.ok(half.inner > 20 && half.kept > 0.3 * whole.kept && half.kept < 0.7 * whole.kept);
  assert.ok(Math.abs(half.volume / half.kept - 1) < 1e-4, 'the cut is not closed');
  assert.ok(changed(picture, await pixels(page)) > 10, 'the picture is the same');
  await page.locator('#panel input[title^="Where the plane"]').fill('0.25');
  await drawn(page);
  assert.ok((await look()).kept < 0.7 * half.kept);
  const list = page.locator('#panel select');
  const colours = await list.locator('option').evaluateAll((options) => options.map(({ value }) => value));
  for (const colour of ['stiffness', 'region', 'held', 'cubature', 'shape']) {
    assert.ok(colours.includes(colour), colour);
    await list.selectOption(colour);
    await drawn(page);
  }
  // Elements of cubature stand for all of the flesh that moves, not for much more.
  const [volume, all] = await page.evaluate(() => {
    const { data, elementCount } = supple.thing;
    return [Array.from({ length: elementCount }, (_, e) => data.cubature[e]).filter((w) => w > 0).length, elementCount];
  });
  assert.ok(volume > 50 && volume < 0.2 * all, `${volume} of ${all} elements`);
  assert.deepEqual([complaints, requests], [[], []]);
  await page.context().close();
});
