// SPDX-License-Identifier: Apache-2.0
// node chromium_positions.mjs MODULES IN.glb OUT.bin SAMPLES: where three.js in headless Chromium draws every vertex, at
// SAMPLES times of every clip. The positions come out of three.js's own vertex shader, so that morph targets and skins
// are what the graphics card makes of them. OUT: as three_clips.mjs describes it; the browser keeps its things in
// OUT.profile, for the caller to remove.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, input, output, samples] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const types = { js: 'text/javascript', mjs: 'text/javascript', html: 'text/html', wasm: 'application/wasm' };

function fileOf(path) {
  if (path === '/model.glb') return input;
  if (path.startsWith('/three/')) return join(modules, 'node_modules', normalize(path));
  return join(here, normalize(path));
}

function answer(request, response) {
  const path = new URL(request.url, 'http://localhost').pathname;
  if (request.method === 'POST') {
    const body = [];
    request.on('data', (part) => body.push(part));
    request.on('end', () => {
      response.end();
      if (path === '/result') writeFileSync(output, Buffer.concat(body));
      else console.error(Buffer.concat(body).toString());
      finish(path === '/result' ? 0 : 1);
    });
    return;
  }
  try {
    const bytes = readFileSync(fileOf(path));
    response.writeHead(200, { 'Content-Type': types[path.split('.').pop()] ?? 'application/octet-stream' });
    response.end(bytes);
  } catch {
    response.writeHead(404);
    response.end();
  }
}

let browser;
function finish(code) {
  browser.once('exit', () => process.exit(code));
  process.kill(-browser.pid, 'SIGKILL'); // and all that it has started
}

const server = createServer(answer);
server.listen(0, '127.0.0.1', () => {
  const page = `http://127.0.0.1:${server.address().port}/chromium_positions.html?samples=${samples}`;
  const options = ['--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run'];
  browser = spawn('chromium', [...options, `--user-data-dir=${output}.profile`, page], {
    detached: true,
    stdio: 'ignore',
  });
  browser.on('error', () => {
    console.error('chromium cannot be started');
    process.exit(1);
  });
});
setTimeout(() => {
  console.error('chromium did not answer within two minutes');
  finish(1);
}, 120000);
