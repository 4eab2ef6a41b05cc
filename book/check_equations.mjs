// SPDX-License-Identifier: Apache-2.0
// node check_equations.mjs KATEX.js SITE: every equation of the site is one that KaTeX can set, and no page asks the network.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [library, site] = process.argv.slice(2);
const katex = createRequire(import.meta.url)(resolve(library));
const plain = (text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

let equations = 0, faults = 0;
const fault = (words) => { faults += 1; console.error(words); };
for (const name of readdirSync(site).filter((file) => file.endsWith('.html'))) {
  const page = readFileSync(join(site, name), 'utf8');
  for (const [, text] of page.matchAll(/class="arithmatex">([\s\S]*?)<\/(?:span|div)>/g)) {
    equations += 1;
    const display = text.startsWith('\\[');
    try {
      katex.renderToString(plain(text).trim().slice(2, -2), { throwOnError: true, strict: 'error', displayMode: display });
    } catch (error) {
      fault(`${name}: ${error.message}`);
    }
  }
  const words = page.replace(/<pre[\s\S]*?<\/pre>|<code[\s\S]*?<\/code>/g, '');
  if (/\$[^$<]*\\[a-z]+[^$<]*\$/.test(words)) fault(`${name}: an equation between $ was not found as one`);
  for (const [link] of page.matchAll(/<(?:script|img|iframe)[^>]*src="(?:https?:)?\/\/[^"]*"|<link[^>]*rel="(?:stylesheet|preconnect|icon)"[^>]*href="(?:https?:)?\/\/[^"]*"/g))
    fault(`${name} asks the network: ${link}`);
}
if (equations < 40) fault(`only ${equations} equations were found`);
if (faults > 0) process.exit(1);
console.log(`${equations} equations`);
