// SPDX-License-Identifier: Apache-2.0
// A real Chromium for the tests of the page: headless, drawing in software, opening files from the disk as a double click
// does. Whatever the page complains of or asks the network for is kept and fails the test.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const arguments_ = [
  '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

export async function launch(modules) {
  const { chromium } = createRequire(join(resolve(modules), 'package.json'))('playwright-core');
  return chromium.launch({ executablePath: process.env.SUPPLE_CHROMIUM ?? '/usr/bin/chromium', args: arguments_ });
}

/** Opens a file; `complaints` and `requests` are filled as they come. */
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  const complaints = [], requests = [];
  page.on('console', (message) => {
    // Software drawing is slow to read back, and Chromium says so.
    if (['error', 'warning'].includes(message.type()) && !/GPU stall|GL Driver Message/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url())) requests.push(request.url());
  });
  await page.goto(pathToFileURL(resolve(file)).href);
  return { page, context, complaints, requests };
}

export const running = (page) => page.waitForFunction(() => globalThis.supple?.frames.count > 2, null, { timeout: 60000 });

/** What the card draws now, shrunk to some hundred bright or dark patches; always from as many pixels, whatever the load. */
export const pixels = (page) => page.evaluate(() => {
  const { stage } = globalThis.supple, { scale } = stage;
  stage.scale = 0.6;
  stage.resize();
  stage.controls.update();
  stage.renderer.render(stage.scene, stage.camera);
  const gl = stage.renderer.getContext(), width = gl.drawingBufferWidth, height = gl.drawingBufferHeight;
  const all = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, all);
  stage.scale = scale;
  stage.resize();
  const patches = [];
  for (let y = 0; y < 36; ++y)
    for (let x = 0; x < 64; ++x) {
      const at = 4 * (Math.floor(((y + 0.5) * height) / 36) * width + Math.floor(((x + 0.5) * width) / 64));
      patches.push(all[at] + all[at + 1] + all[at + 2]);
    }
  return patches;
});

export function changed(before, after) {
  return before.filter((value, k) => Math.abs(value - after[k]) > 12).length;
}

/** Where a welded vertex is on the screen, and how flesh has moved it [m]. */
export const vertexState = (page, vertex) => page.evaluate((v) => {
  const { thing, stage } = globalThis.supple;
  const x = thing.flesh.state.positions().slice(3 * v, 3 * v + 3), u = thing.flesh.state.displacements().slice(3 * v, 3 * v + 3);
  const at = stage.camera.position.clone().fromArray(x).divideScalar(thing.character.metresPerUnit).project(stage.camera);
  const box = stage.canvas.getBoundingClientRect();
  return { position: Array.from(x), displacement: Array.from(u), x: box.left + (0.5 + 0.5 * at.x) * box.width, y: box.top + (0.5 - 0.5 * at.y) * box.height };
}, vertex);

/** The skin in front at this share of the height: the belly of whoever stands upright. */
export const vertexAt = (page, share) => page.evaluate((height) => {
  const { thing, stage } = globalThis.supple;
  const { min, max } = thing.box, target = stage.camera.position.clone().set((min.x + max.x) / 2, min.y + height * (max.y - min.y), 0);
  const at = target.project(stage.camera), box = stage.canvas.getBoundingClientRect();
  return thing.pull.hit(box.left + (0.5 + 0.5 * at.x) * box.width, box.top + (0.5 - 0.5 * at.y) * box.height)?.vertex ?? -1;
}, share);
