// SPDX-License-Identifier: Apache-2.0
// The program in docs/web.md, as it stands there, in Chromium. Environment: SUPPLE_NPM, SUPPLE_RUNTIME, SUPPLE_MODEL and
// SUPPLE_ASSET.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch } from './browser.mjs';

const { SUPPLE_NPM: modules, SUPPLE_RUNTIME: runtime, SUPPLE_MODEL: model, SUPPLE_ASSET: asset } = process.env;
const here = dirname(fileURLToPath(import.meta.url));

async function bundled() {
  const book = readFileSync(join(here, '../../docs/web.md'), 'utf8');
  const program = book.match(/```js\n(import [^]*?)```/)[1];
  const esbuild = createRequire(join(resolve(modules), 'package.json'))('esbuild');
  const built = await esbuild.build({
    stdin: { contents: `${program}\nglobalThis.example = { flesh, gltf };`, resolveDir: here, loader: 'js' },
    bundle: true, write: false, format: 'esm', target: 'es2022', nodePaths: [join(resolve(modules), 'node_modules')],
    alias: { '@supple/runtime': join(resolve(runtime), 'supple.js'), '@supple/runtime/three': join(resolve(runtime), 'three.js') },
  });
  return built.outputFiles[0].text;
}

test('the program of the book shows a soft character', async (t) => {
  const files = {
    '/': ['text/html', '<!doctype html><body><script type="module" src="main.js"></script>'],
    '/main.js': ['text/javascript', await bundled()],
    '/supple.wasm': ['application/wasm', readFileSync(join(runtime, 'supple.wasm'))],
    '/hero.glb': ['model/gltf-binary', readFileSync(model)],
    '/hero.supple': ['application/octet-stream', readFileSync(asset)],
  };
  const server = createServer((request, response) => {
    const [type, body] = files[new URL(request.url, 'http://x').pathname] ?? ['text/plain', ''];
    response.writeHead(200, { 'Content-Type': type }).end(body);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const browser = await launch(modules);
  try {
    const page = await browser.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction(() => globalThis.example, null, { timeout: 30000 });
    await page.waitForTimeout(1500);
    // What three.js skins, with the displacements added before, is where the runtime says that the skin is.
    const { moved, error } = await page.evaluate(() => {
      const { flesh } = globalThis.example, { character, state } = flesh;
      let most = 0;
      for (const { object, primitive } of flesh.parts) {
        const bind = state.bindDisplacements(primitive).slice(), truth = state.positions(primitive).slice();
        const p = object.position.clone();
        for (let v = 0; v < bind.length / 3; v += 7) {
          p.fromBufferAttribute(object.geometry.attributes.position, v);
          p.set(p.x + bind[3 * v], p.y + bind[3 * v + 1], p.z + bind[3 * v + 2]);
          if (object.isSkinnedMesh) object.applyBoneTransform(v, p);
          p.applyMatrix4(object.matrixWorld);
          most = Math.max(most, Math.hypot(p.x - truth[3 * v], p.y - truth[3 * v + 1], p.z - truth[3 * v + 2]));
        }
      }
      return { error: most / character.height, moved: Math.max(...state.displacements().map(Math.abs)) / character.height };
    });
    t.diagnostic(`flesh moves by ${(100 * moved).toFixed(1)} % of the height; positions agree to ${error.toExponential(1)} of it`);
    assert.ok(moved > 1e-3);
    assert.ok(error < 1e-5);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    server.close();
  }
});
