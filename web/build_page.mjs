// SPDX-License-Identifier: Apache-2.0
// node build_page.mjs MODULES WASM OBJECTS.wasm OUT.html: the page of `supple view`, whole but for what it shows. Scripts, styles and
// the modules are inside; the policy names them by their hashes, so that nothing else in the page can ever run.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';

const [modules, wasm, objects, output] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(resolve(modules), 'package.json'))('esbuild');

async function bundle(entry) {
  const built = await esbuild.build({
    entryPoints: [join(here, 'viewer', entry)], bundle: true, minify: true, write: false, legalComments: 'none',
    format: 'esm', target: 'es2022', nodePaths: [join(resolve(modules), 'node_modules')], logLevel: 'warning',
  });
  // A closing tag within a string would end the script.
  return built.outputFiles[0].text.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

const hash = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const script = `/* three.js: MIT licence, (c) its authors. Supple: Apache-2.0. */${await bundle('main.js')}`;
const style = await bundle('style.css');
const block = (id, file) =>
  `<script type="application/octet-stream" id="supple-${id}">${deflateSync(readFileSync(file), { level: 9 }).toString('base64')}</script>`;
const parts = {
  style, script, 'style-hash': hash(style), 'script-hash': hash(script),
  module: `${block('module', wasm)}\n${block('objects-module', objects)}`,
};
const page = readFileSync(join(here, 'viewer', 'page.html'), 'utf8').replace(/\{\{([a-z-]+)\}\}/g, (_, name) => parts[name]);
writeFileSync(output, page);
console.log(`${output}: ${(page.length / 1e6).toFixed(2)} MB`);
