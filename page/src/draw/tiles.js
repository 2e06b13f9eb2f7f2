// One clustering of the objects, drawn: colors, hollow marks where support is weak, numbers on the clusters.
import { missingOf } from "../core/align.js";
import { font } from "./font.js";
import { colorOf } from "./palette.js";
import { placesOf } from "./points.js";
import { scatter } from "./raster.js";

const UNSURE = 0.5;
const NUMBERED = 10; // clusters past so many are told apart by numbers too, on the large tile

/**
 * The middle of every cluster, NaN for an empty one.
 * @param {Float32Array} xy @param {import("../core/align.js").Labels} labels @param {number} k
 */
export function centers(xy, labels, k) {
  const sum = new Float64Array(2 * k);
  const count = new Int32Array(k);
  const none = missingOf(labels);
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i];
    if (label === none) continue;
    sum[2 * label] += xy[2 * i];
    sum[2 * label + 1] += xy[2 * i + 1];
    count[label]++;
  }
  return sum.map((total, at) => total / count[at >> 1]);
}

/** Objects of one cluster. @param {import("../core/align.js").Labels} labels @param {number} cluster */
export const maskOf = (labels, cluster) => Uint8Array.from(labels, (label) => (label === cluster ? 1 : 0));

/**
 * @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2D} context
 * @param {import("./canvas.jsx").Theme} theme @param {import("./canvas.jsx").Size} size
 * @param {Float32Array} xy @param {import("../core/labels.js").Shown} shown @param {ArrayLike<number>} slots
 * @param {{mask?: Uint8Array | null, cluster?: number, numbers?: boolean}} how `cluster` is the one that is picked out
 */
export function drawTile(
  canvas,
  context,
  theme,
  size,
  xy,
  shown,
  slots,
  { mask = null, cluster = -1, numbers = false },
) {
  scatter(canvas, xy, shown.labels, slots, { support: shown.support, threshold: UNSURE, mask, dark: theme.dark });
  if (!numbers || (shown.clusters <= NUMBERED && cluster < 0)) return;
  const place = placesOf(shown.labels.length, size);
  const middle = centers(xy, shown.labels, shown.clusters);
  const spots = [];
  for (let c = 0; c < shown.clusters; c++) {
    if (Number.isNaN(middle[2 * c]) || (cluster >= 0 && c !== cluster)) continue;
    spots.push({ c, x: place.x(middle[2 * c]), y: place.y(middle[2 * c + 1]) });
  }
  apart(spots, 18, size.width, size.height);
  context.font = `600 ${font(11)}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { c, x, y } of spots) {
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.fillStyle = theme.ground;
    context.globalAlpha = 0.85;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colorOf(slots[c]);
    context.lineWidth = 1.5;
    context.stroke();
    context.fillStyle = theme.ink;
    context.fillText(String(c), x, y + 0.5);
  }
}

/**
 * Push spots apart until none lies nearer to another than `gap`, or nearly so, inside a box.
 * @param {{x: number, y: number}[]} spots @param {number} gap @param {number} width @param {number} height
 */
export function apart(spots, gap, width, height) {
  for (let round = 0; round < 40; round++) {
    let pushed = false;
    for (let i = 1; i < spots.length; i++) {
      for (let j = 0; j < i; j++) {
        const a = spots[i];
        const b = spots[j];
        const dx = a.x - b.x || 0.01 * (i - j);
        const dy = a.y - b.y;
        const far = Math.hypot(dx, dy);
        if (far >= gap) continue;
        const push = (gap - far) / 2 / far;
        a.x += dx * push;
        a.y += dy * push;
        b.x -= dx * push;
        b.y -= dy * push;
        pushed = true;
      }
    }
    for (const spot of spots) {
      spot.x = Math.max(gap / 2, Math.min(width - gap / 2, spot.x));
      spot.y = Math.max(gap / 2, Math.min(height - gap / 2, spot.y));
    }
    if (!pushed) return;
  }
}
