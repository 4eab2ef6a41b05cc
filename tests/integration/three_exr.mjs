// SPDX-License-Identifier: Apache-2.0
// node three_exr.mjs MODULES FILE OUT: the pixels of an OpenEXR image as three.js reads them, row after row from the top:
// width and height (uint32), then R, G, B of every pixel (float).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, input, output] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, 'node_modules/three', path)));
const THREE = await load('build/three.module.js');
const { EXRLoader } = await load('examples/jsm/loaders/EXRLoader.js');

const bytes = readFileSync(input);
const loader = new EXRLoader();
loader.setDataType(THREE.FloatType);
const image = loader.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const channels = image.data.length / (image.width * image.height);
const pixels = new Float32Array(3 * image.width * image.height);
for (let y = 0; y < image.height; ++y)
  for (let x = 0; x < image.width; ++x)
    for (let c = 0; c < 3; ++c)
      // textures of three.js begin at the bottom
      pixels[3 * (y * image.width + x) + c] = image.data[channels * ((image.height - 1 - y) * image.width + x) + c];
writeFileSync(output, Buffer.concat([Buffer.from(new Uint32Array([image.width, image.height]).buffer), Buffer.from(pixels.buffer)]));
