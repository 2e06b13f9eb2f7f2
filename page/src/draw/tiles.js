// One clustering of the objects, drawn: colors, hollow marks where support is weak, numbers in the clusters.
import { missingOf } from "../core/align.js";
import { font } from "./font.js";
import { placesOf } from "./points.js";
import { scatter } from "./raster.js";

const UNSURE = 0.5;
const NUMBERED = 10; // clusters past so many are told apart by numbers too, on the large picture
const ROOM = 22; // pixels to the next number
const WIDE = 90; // and to the next words

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
 * @param {{
 *   mask?: Uint8Array | null, cluster?: number, numbers?: boolean, names?: string[] | null,
 *   window?: import("./window.js").Window,
 * }} how `cluster` is the one that is picked out; `names` stand in place of numbers
 */
export function drawTile(canvas, context, theme, size, xy, shown, slots, how) {
  const { mask = null, cluster = -1, numbers = false, names = null, window } = how;
  const { labels, support } = shown;
  scatter(canvas, xy, labels, slots, { support, threshold: UNSURE, mask, dark: theme.dark, window });
  if (!numbers || (shown.clusters <= NUMBERED && cluster < 0 && !names)) return;
  const place = placesOf(labels.length, size, window);
  const middle = centers(xy, labels, shown.clusters);
  const spots = [];
  for (let c = 0; c < shown.clusters; c++) {
    if (Number.isNaN(middle[2 * c]) || (cluster >= 0 && c !== cluster)) continue;
    const [x, y] = [place.x(middle[2 * c]), place.y(middle[2 * c + 1])];
    if (x > 0 && y > 0 && x < size.width && y < size.height) spots.push({ c, x, y });
  }
  drawNumbers(context, theme, withRoom(spots, names ? WIDE : ROOM), names);
}

/**
 * Numbers in the middle of clusters: letters with a thin rim, since disks would hide the points under them.
 * @param {CanvasRenderingContext2D} context @param {import("./canvas.jsx").Theme} theme
 * @param {{c: number, x: number, y: number}[]} spots @param {string[] | null} names
 */
function drawNumbers(context, theme, spots, names) {
  context.font = `700 ${font(11)}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 2.5;
  context.strokeStyle = theme.ground;
  context.fillStyle = theme.ink;
  for (const { c, x, y } of spots) {
    const text = names?.[c] || String(c);
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
}

/**
 * The spots that have room, the first ones before the others; more of them do when the plane is enlarged.
 * @template {{x: number, y: number}} T @param {T[]} spots @param {number} [room] across
 */
export function withRoom(spots, room = ROOM) {
  /** @type {T[]} */
  const found = [];
  for (const spot of spots)
    if (found.every((other) => Math.abs(other.x - spot.x) > room || Math.abs(other.y - spot.y) > ROOM))
      found.push(spot);
  return found;
}
