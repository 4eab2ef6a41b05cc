// SPDX-License-Identifier: Apache-2.0
// The page of the mascot, driven as people do: with mouse, fingers and keys. Environment: SUPPLE_PAGE, the page of a live
// character; SUPPLE_PAIR, that of a baked file beside its original; SUPPLE_OBJECT and SUPPLE_DOMAINS, those of objects; SUPPLE_NPM, the folder of playwright-core.
import assert from 'node:assert/strict';
import { readFileSync, statSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  for (const [key, what] of [['c', 'thing.paint.supplePaint.value'], ['b', 'thing.bones.visible'], ['w', 'thing.flesh.parts[0].object.material.wireframe'], ['t', 'stage.theme']]) {
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
