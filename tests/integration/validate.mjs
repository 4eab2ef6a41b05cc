// SPDX-License-Identifier: Apache-2.0
// node validate.mjs MODULES FILE…: the Khronos validator's errors, one line each; exit code 1 when there are any.
// An image that was missing before stays a reference; everything else is to stand in the file itself.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [modules, ...files] = process.argv.slice(2);
const validator = createRequire(modules + '/')('gltf-validator');

let errors = 0;
for (const file of files) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 0 });
  const missing = (m) => m.code === 'IO_ERROR' && m.pointer.startsWith('/images/');
  const found = report.issues.messages.filter((m) => m.severity === 0 && !missing(m));
  errors += found.length;
  for (const message of found.slice(0, 10))
    console.log(`${file}: ${message.code} at ${message.pointer}: ${message.message}`);
}
process.exit(errors > 0 ? 1 : 0);
