// Objects as pixels: a scatter of any size without a GPU, drawn into the bytes of a canvas.
import { missingOf } from "./align.js";
import { colourOf, markOf, rgb } from "./palette.js";

/** @typedef {{left: number, top: number, width: number, height: number}} Box */

/** Offsets (dx, dy) of the pixels of each mark, by half size. @type {((r: number) => number[][])[]} */
const SHAPES = [
  (r) => grid(r, (x, y) => x * x + y * y <= r * r + 0.4 * r + 0.3), // dot
  (r) => grid(r + 1, (x, y) => { const d = Math.hypot(x, y); return d <= r + 1.2 && d > r - 0.1; }), // ring
  (r) => grid(r + 1, (x, y) => Math.abs(Math.abs(x) - Math.abs(y)) < 0.5), // cross
  (r) => grid(r, () => true), // square
  (r) => grid(r + 1, (_x, y) => Math.abs(y) <= Math.max(0, r / 2 - 0.5)), // bar
];

/** @param {number} r @param {(x: number, y: number) => boolean} inside */
function grid(r, inside) {
  const found = [], size = Math.ceil(r);
  for (let y = -size; y <= size; y++) for (let x = -size; x <= size; x++) if (inside(x, y)) found.push([x, y]);
  return found;
}

/** Half size of a mark for so many objects on so many pixels: single pixels only where they would cover most of the canvas. @param {number} n @param {number} width @param {number} height */
export function markSize(n, width, height) {
  const room = (width * height) / n;
  return Math.max(room < 6 ? 0 : 1, Math.min(5, Math.round(Math.sqrt(room / 40))));
}

/** Where a value from 0 to 1 falls on a canvas: from `pad` on, over `across` pixels or `down` ones. @param {number} n @param {number} width @param {number} height */
export function frame(n, width, height) {
  const pad = markSize(n, width, height) + 2;
  return { pad, across: width - 1 - 2 * pad, down: height - 1 - 2 * pad };
}

/** A little-endian pixel. @param {string} hex @param {number} [alpha] */
const pixel = (hex, alpha = 255) => packed(rgb(hex), alpha);

/** @param {number[]} colour red, green, blue @param {number} [alpha] */
export function packed([r, g, b], alpha = 255) {
  return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/**
 * Draw objects at xy (0 … 1, y upwards) with the colour and mark of their cluster's slot.
 * @param {HTMLCanvasElement} canvas @param {Float32Array} xy
 * @param {import("./align.js").Labels} labels @param {ArrayLike<number>} slots
 * @param {{confidence?: Uint8Array | null, threshold?: number, mask?: Uint8Array | null, dark?: boolean}} [how]
 *   objects less sure than the threshold (0 … 1) are hollow; with a mask only objects with a 1 in it are in colour
 */
export function scatter(canvas, xy, labels, slots, how = {}) {
  const { width, height } = canvas, context = canvas.getContext("2d");
  if (!context || !width || !height) return;
  const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
  const n = labels.length, none = missingOf(labels), r = markSize(n, width, height), { pad, across, down } = frame(n, width, height);
  const faint = pixel(how.dark ? "#5a5f66" : "#c4c8cc"), mask = how.mask ?? null;
  const shapes = SHAPES.map((make) => make(r).map(([x, y]) => y * width + x));
  const ring = SHAPES[1](Math.max(1, r)).map(([x, y]) => y * width + x);
  const colours = Array.from(slots, (slot) => pixel(colourOf(slot)));
  const marks = Array.from(slots, (slot) => (r ? shapes[markOf(slot)] : [0]));
  const sure = how.confidence ?? null, least = Math.round(254 * (how.threshold ?? 0.5));
  for (let pass = mask ? 0 : 1; pass < 2; pass++) {
    for (let i = 0; i < n; i++) {
      if (mask && mask[i] !== pass) continue;
      const label = labels[i];
      const at = (pad + Math.round((1 - xy[2 * i + 1]) * down)) * width + pad + Math.round(xy[2 * i] * across);
      const plain = label === none || pass === 0;
      const mark = plain ? shapes[0] : sure && sure[i] < least ? ring : marks[label];
      const colour = plain ? faint : colours[label];
      for (let j = 0; j < mark.length; j++) pixels[at + mark[j]] = colour;
    }
  }
  context.putImageData(image, 0, 0);
}

/** The object nearest to a point of the canvas, within a few pixels; −1 if there is none. */
/** @param {{width: number, height: number}} canvas @param {Float32Array} xy @param {number} px @param {number} py @param {number} [reach] */
export function nearest(canvas, xy, px, py, reach = 10) {
  const { width, height } = canvas, { pad, across, down } = frame(xy.length / 2, width, height);
  let best = -1, least = reach * reach;
  for (let i = 0; i < xy.length / 2; i++) {
    const dx = pad + xy[2 * i] * across - px, dy = pad + (1 - xy[2 * i + 1]) * down - py, d = dx * dx + dy * dy;
    if (d < least) { least = d; best = i; }
  }
  return best;
}
