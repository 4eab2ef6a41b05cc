// SPDX-License-Identifier: Apache-2.0
// A model from the bytes in the page.
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { PageFault } from './data.js';

export async function loadGltf(bytes, name) {
  try {
    return await new GLTFLoader().parseAsync(bytes.buffer, '');
  } catch (error) {
    throw new PageFault(`${name}: the model can't be read (${error.message}); make the page again with supple view.`);
  }
}
