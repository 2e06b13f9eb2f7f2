// Objects as pixels: a scatter of any size without a GPU, drawn into the bytes of a canvas.
import { missingOf } from "../core/align.js";
import { colorOf, markOf, rgb } from "./palette.js";
import { Recorder } from "./svg_recorder.js";
import { WHOLE } from "./window.js";

/** @typedef {{left: number, top: number, width: number, height: number}} Box */

/** What lies inside each mark of half size r. @type {((r: number, x: number, y: number) => boolean)[]} */
const SHAPES = [
  (r, x, y) => Math.hypot(x, y) <= r + 0.4, // dot
  (r, x, y) => Math.max(Math.abs(x), Math.abs(y)) <= r + 0.4, // square
  // cross
  (r, x, y) => Math.abs(Math.abs(x) - Math.abs(y)) <= 0.2 * r + 0.5 && Math.max(Math.abs(x), Math.abs(y)) <= r + 0.9,
  (r, x, y) => Math.abs(x) <= r + 1.4 && Math.abs(y) <= 0.3 * r + 0.4, // bar
  (r, x, y) => Math.abs(x) + Math.abs(y) <= r + 1.2, // diamond
  (r, x, y) => Math.abs(Math.hypot(x, y) - r - 0.3) <= 0.2 * r + 0.5, // ring: a floater
];
const RING = 5;
const FAINT = ["#c4c8cc", "#5a5f66"]; // on a light and on a dark ground
const DRAWN = 3000; // objects that a picture that is taken away has as marks; more are an image in it
const SAMPLES = [-0.375, -0.125, 0.125, 0.375];

/**
 * @typedef {{full: Int32Array, edge: Int32Array, alpha: Uint8Array}} Stamp steps to the pixels inside and on the edge
 */

/** @param {number} shape @param {number} r @param {number} width of the canvas @returns {Stamp} */
function stamp(shape, r, width) {
  if (r === 0) return { full: Int32Array.of(0), edge: new Int32Array(0), alpha: new Uint8Array(0) };
  const full = [];
  /** @type {number[]} */
  const edge = [];
  /** @type {number[]} */
  const alpha = [];
  for (let y = -r - 2; y <= r + 2; y++) {
    for (let x = -r - 2; x <= r + 2; x++) {
      let hits = 0;
      for (const dy of SAMPLES) for (const dx of SAMPLES) if (SHAPES[shape](r, x + dx, y + dy)) hits++;
      if (hits === 16) full.push(y * width + x);
      else if (hits) {
        edge.push(y * width + x);
        alpha.push((hits * 255) >> 4);
      }
    }
  }
  return { full: Int32Array.from(full), edge: Int32Array.from(edge), alpha: Uint8Array.from(alpha) };
}

/**
 * Half size of a mark for so many objects on so many pixels: single pixels only where they would cover most of the
 * canvas.
 * @param {number} n @param {number} width @param {number} height
 */
export function markSize(n, width, height) {
  const room = (width * height) / n;
  return Math.max(room < 6 ? 0 : 1, Math.min(5, Math.round(Math.sqrt(room / 40))));
}

/**
 * Where a value from 0 to 1 falls on a canvas: at `left + value · across` or `bottom − value · down`.
 * @param {number} n @param {number} width @param {number} height @param {import("./window.js").Window} [window]
 */
export function frame(n, width, height, window = WHOLE) {
  const { x, y, k } = window;
  const r = markSize(n / (k * k), width, height); // about so many are in sight
  const pad = r + 3;
  const across = (width - 1 - 2 * pad) * k;
  const down = (height - 1 - 2 * pad) * k;
  return { r, pad, across, down, left: pad - x * across, bottom: height - 1 - pad + y * down };
}

/** A little-endian pixel. @param {string} hex @param {number} [alpha] */
const pixel = (hex, alpha = 255) => packed(rgb(hex), alpha);

/** @param {number[]} color red, green, blue @param {number} [alpha] */
export function packed([r, g, b], alpha = 255) {
  return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/**
 * Draw objects at xy (0 … 1, y upwards) with the color and mark of their cluster's slot.
 * @param {HTMLCanvasElement} canvas @param {Float32Array} xy
 * @param {import("../core/align.js").Labels} labels @param {ArrayLike<number>} slots
 * @param {{
 *   support?: Uint8Array | null, threshold?: number, mask?: Uint8Array | null, dark?: boolean, colors?: string[],
 *   window?: import("./window.js").Window,
 * }} [how] `colors` of the clusters in place of their slots';
 *   objects no surer than the threshold (0 … 1) are hollow, single pixels of them pale; with a mask only objects with
 * a 1 in it are in color
 */
export function scatter(canvas, xy, labels, slots, how = {}) {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  if (!context || !width || !height) return;
  if (context instanceof Recorder && labels.length <= DRAWN) return drawMarks(context, xy, labels, slots, how);
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const n = labels.length;
  const none = missingOf(labels);
  const { r, across, down, left, bottom } = frame(n, width, height, how.window);
  const margin = r + 2; // of the largest mark
  const faint = pixel(how.dark ? FAINT[1] : FAINT[0]);
  const mask = how.mask ?? null;
  const stamps = SHAPES.map((_, shape) => stamp(shape, r, width));
  const ring = r
    ? stamp(RING, r, width)
    : { full: new Int32Array(0), edge: Int32Array.of(0), alpha: Uint8Array.of(96) };
  const colors = how.colors?.map((one) => pixel(one)) ?? Array.from(slots, (slot) => pixel(colorOf(slot, how.dark)));
  const marks = Array.from(slots, (slot) => stamps[markOf(slot)]);
  const support = how.support ?? null;
  const least = Math.round(254 * (how.threshold ?? 0.5));
  for (let pass = mask ? 0 : 1; pass < 2; pass++) {
    for (let i = 0; i < n; i++) {
      if (mask && mask[i] !== pass) continue;
      const label = labels[i];
      const x = Math.round(left + xy[2 * i] * across);
      const y = Math.round(bottom - xy[2 * i + 1] * down);
      if (!(x >= margin && y >= margin && x < width - margin && y < height - margin)) continue; // out of sight
      const at = y * width + x;
      const plain = label === none || pass === 0;
      const mark = plain ? stamps[0] : support && support[i] <= least ? ring : marks[label];
      const color = plain ? faint : colors[label];
      const { full, edge, alpha } = mark;
      for (let j = 0; j < full.length; j++) pixels[at + full[j]] = color;
      for (let j = 0; j < edge.length; j++) {
        const to = at + edge[j];
        // smooth on the ground only: exact mixing costs more than it shows
        if (pixels[to] === 0) pixels[to] = ((color & 0xffffff) | (alpha[j] << 24)) >>> 0;
      }
    }
  }
  context.putImageData(image, 0, 0);
}

/**
 * The same as marks of a drawing that keeps them.
 * @param {Recorder} recorder @param {Float32Array} xy @param {import("../core/align.js").Labels} labels
 * @param {ArrayLike<number>} slots @param {NonNullable<Parameters<typeof scatter>[4]>} how
 */
function drawMarks(recorder, xy, labels, slots, how) {
  const { width, height } = recorder;
  const none = missingOf(labels);
  const { r, across, down, left, bottom } = frame(labels.length, width, height, how.window);
  const { mask = null, support = null } = how;
  const least = Math.round(254 * (how.threshold ?? 0.5));
  for (let pass = mask ? 0 : 1; pass < 2; pass++) {
    for (let i = 0; i < labels.length; i++) {
      if (mask && mask[i] !== pass) continue;
      const x = left + xy[2 * i] * across;
      const y = bottom - xy[2 * i + 1] * down;
      if (!(x >= r && y >= r && x < width - r && y < height - r)) continue;
      const label = labels[i];
      const isPlain = label === none || pass === 0;
      const shape = isPlain ? 0 : support && support[i] <= least ? RING : markOf(slots[label]);
      const color = isPlain
        ? how.dark
          ? FAINT[1]
          : FAINT[0]
        : (how.colors?.[label] ?? colorOf(slots[label], how.dark));
      recorder.mark(shape, x, y, r, color);
    }
  }
}

/** The object nearest to a point of the canvas, within a few pixels; −1 if there is none. */
/**
 * @param {{width: number, height: number}} canvas @param {Float32Array} xy @param {number} px @param {number} py
 * @param {number} [reach] @param {import("./window.js").Window} [window]
 */
export function nearest(canvas, xy, px, py, reach = 10, window = WHOLE) {
  const { width, height } = canvas;
  const { across, down, left, bottom } = frame(xy.length / 2, width, height, window);
  let best = -1;
  let least = reach * reach;
  for (let i = 0; i < xy.length / 2; i++) {
    const dx = left + xy[2 * i] * across - px;
    const dy = bottom - xy[2 * i + 1] * down - py;
    const d = dx * dx + dy * dy;
    if (d < least) {
      least = d;
      best = i;
    }
  }
  return best;
}
