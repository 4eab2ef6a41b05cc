// SPDX-License-Identifier: Apache-2.0
// The package's types say what its classes do: every name of the one is in the other. Environment: none.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../web/runtime');
const types = readFileSync(join(folder, 'supple.d.ts'), 'utf8');

/** Methods and getters that the declaration of a class names. */
function declared(name) {
  const body = types.match(new RegExp(`export class ${name} [^{]*\\{([^]*?)\\n\\}`))[1];
  return [...body.matchAll(/^ {2}(\w+)\(/gm)].map((match) => match[1]);
}

test('methods and declarations agree', async () => {
  const classes = await import(pathToFileURL(join(folder, 'supple.js')));
  for (const name of ['Supple', 'Character', 'CharacterState', 'SoftObject', 'ObjectState']) {
    const own = Object.entries(Object.getOwnPropertyDescriptors(classes[name].prototype))
      .filter(([key, { value }]) => key !== 'constructor' && typeof value === 'function').map(([key]) => key);
    assert.deepEqual(declared(name).sort(), own.sort(), name);
  }
});

test('the package names files that exist', () => {
  const { files, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const file of files.filter((name) => !name.endsWith('.wasm'))) assert.ok(readFileSync(join(folder, file)).length > 0, file);
  assert.ok(exports['.'] && exports['./three'] && exports['./supple.wasm']);
});
