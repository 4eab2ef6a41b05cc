// SPDX-License-Identifier: Apache-2.0
// Numbers as colours: from blue over sand to red, or of a kind each. Plain numbers from 0 to 1, linear light.

/** Writes red, green and blue of a share from 0 to 1 to out[at …]. */
export function heat(share, out, at = 0) {
  const t = Math.min(1, Math.max(0, share));
  const mix = (a, b, s) => a + (b - a) * s;
  const low = Math.min(1, 3 * t), middle = Math.min(1, Math.max(0, 3 * t - 1)), high = Math.min(1, Math.max(0, 3 * t - 2));
  out[at] = mix(mix(0.05, 0, low), mix(0.95, 0.75, high), middle);
  out[at + 1] = mix(mix(0.08, 0.45, low), mix(0.72, 0.08, high), middle);
  out[at + 2] = mix(mix(0.3, 0.62, low), mix(0.2, 0.05, high), middle);
}

/** A colour for each kind: neighbours in number are far apart in hue. */
export function kind(number, out, at = 0) {
  const hue = 6 * ((number * 0.618034) % 1), value = 0.55 + 0.3 * ((number * 0.381966) % 1);
  const channel = (k) => value * (0.28 + 0.72 * Math.min(1, Math.max(0, Math.abs(((hue + k) % 6) - 3) - 1)));
  out[at] = channel(0) ** 2;
  out[at + 1] = channel(4) ** 2;
  out[at + 2] = channel(2) ** 2;
}

export const GREY = [0.16, 0.17, 0.19];
/** For pictures of the scale: where it is what, as style sheets have it. */
export const heatGradient = 'linear-gradient(to right, #3f5094, #00b3cf 33%, #f9dc7c 67%, #e14f40)';
