// SPDX-License-Identifier: Apache-2.0
/** Hands a text to the browser as a file to save; it stays within the page until then. */
export function saveFile(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
