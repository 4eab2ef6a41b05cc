// SPDX-License-Identifier: Apache-2.0
// What the command has put into the page: blocks of compressed bytes, and one of JSON that says what they are.

/** A fault that the page tells in one sentence. */
export class PageFault extends Error {}

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; ++k) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

export const hasBlock = (name) => document.getElementById(`supple-${name}`) !== null;

export async function readBlock(name) {
  const element = document.getElementById(`supple-${name}`);
  if (!element) throw new PageFault(`This page has lost its ${name}; make it again with supple view.`);
  try {
    const packed = decodeBase64(element.textContent.trim());
    element.remove(); // megabytes of text
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new PageFault(`The ${name} in this page is damaged; make the page again with supple view.`);
  }
}

/** {kind, name, …}; null in a page that nothing was put into. */
export function readDescription() {
  const element = document.getElementById('supple-what');
  if (!element) return null;
  try {
    return JSON.parse(element.textContent);
  } catch {
    throw new PageFault('The description in this page is damaged; make the page again with supple view.');
  }
}
