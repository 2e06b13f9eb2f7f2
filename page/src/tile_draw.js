// One clustering of the objects, drawn: colours, hollow marks where it is unsure, numbers on the clusters.
import { missingOf } from "./align.js";
import { font } from "./canvas.js";
import { colourOf } from "./palette.js";
import { placesOf } from "./points.js";
import { scatter } from "./raster.js";

const UNSURE = 0.5, NUMBERED = 10; // clusters past so many are told apart by numbers too

/** The middle of every cluster, NaN for an empty one. @param {Float32Array} xy @param {import("./align.js").Labels} labels @param {number} k */
export function centres(xy, labels, k) {
  const sum = new Float64Array(2 * k), count = new Int32Array(k), none = missingOf(labels);
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i];
    if (label === none) continue;
    sum[2 * label] += xy[2 * i];
    sum[2 * label + 1] += xy[2 * i + 1];
    count[label]++;
  }
  return sum.map((total, at) => total / count[at >> 1]);
}

/** Objects of one cluster. @param {import("./align.js").Labels} labels @param {number} cluster */
export const maskOf = (labels, cluster) => Uint8Array.from(labels, (label) => (label === cluster ? 1 : 0));

/**
 * @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2D} context @param {import("./canvas.js").Theme} theme @param {import("./canvas.js").Size} size
 * @param {Float32Array} xy @param {import("./labels.js").Shown} shown @param {ArrayLike<number>} slots
 * @param {{mask?: Uint8Array | null, cluster?: number}} how `cluster` is the one that is picked out
 */
export function drawTile(canvas, context, theme, size, xy, shown, slots, { mask = null, cluster = -1 }) {
  scatter(canvas, xy, shown.labels, slots, { confidence: shown.confidence, threshold: UNSURE, mask, dark: theme.dark });
  if (shown.clusters <= NUMBERED && cluster < 0) return;
  const place = placesOf(shown.labels.length, size), middle = centres(xy, shown.labels, shown.clusters), small = size.width < 200;
  context.font = `600 ${font(small ? 9 : 12)}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.lineJoin = "round";
  for (let c = 0; c < shown.clusters; c++) {
    if (Number.isNaN(middle[2 * c]) || (cluster >= 0 && c !== cluster)) continue;
    const x = place.x(middle[2 * c]), y = place.y(middle[2 * c + 1]);
    context.strokeStyle = theme.ground;
    context.strokeText(String(c), x, y);
    context.fillStyle = small ? theme.ink : mix(colourOf(slots[c]), theme.ink);
    context.fillText(String(c), x, y);
  }
}

/** A colour darkened or lightened towards the ink, to be read as text. @param {string} colour @param {string} ink */
const mix = (colour, ink) => `color-mix(in srgb, ${colour} 40%, ${ink})`;
