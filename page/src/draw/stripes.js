// The stripe picture: a row for each clustering, a column for each object, or for a few of either that share a cell.
import { slots } from "../core/align.js";
import { font } from "./font.js";
import { colorOf, rgb } from "./palette.js";

/** @typedef {import("../core/messages.js").StripesMessage} Stripes */
/** @typedef {import("./canvas.jsx").Theme} Theme */

export const GUTTER = 26; // pixels at the left for numbers of groups
export const BAND = 12; // height of the consensus above
const LANE = 7; // between both, for picked objects
export const TOP = BAND + LANE;
const PALE = 0.3; // how much of its color a cell keeps that is as mixed as can be

/**
 * The consensus, from the order of the objects and the sizes of its clusters.
 * @param {Stripes} stripes @returns {Uint16Array}
 */
export function consensusOf({ header: { sizes }, arrays: { order } }) {
  const found = new Uint16Array(order.length).fill(65535);
  let at = 0;
  sizes.forEach((size, c) => {
    for (const end = at + size; at < end; at++) found[order[at]] = c;
  });
  return found;
}

/**
 * The page's color slot of every slot of the stripes: those of the consensus are matched to the reference, clusters
 * that no cluster of the consensus matches get colors that no other has.
 * @param {Stripes} stripes @param {{labels: import("../core/align.js").Labels, clusters: number}} pinned
 * @returns {Int32Array}
 */
export function stripeSlots(stripes, pinned) {
  const { clusters } = stripes.header;
  const count = stripes.shapes.own[1];
  const mine = slots(consensusOf(stripes), clusters, pinned.labels, pinned.clusters);
  const free = Math.max(pinned.clusters, ...mine.map((slot) => slot + 1));
  return Int32Array.from({ length: count }, (_, s) => (s < clusters ? mine[s] : free + s - clusters));
}

/**
 * The cells as pixels: the color of the most frequent cluster, paler the fewer objects are in it.
 * @param {Stripes} stripes @param {Int32Array} colors slots @param {Theme} theme
 */
export function cellBytes({ arrays }, colors, theme) {
  const ground = rgb(theme.ground);
  const none = rgb(theme.line);
  const palette = Array.from(colors, (slot) => rgb(colorOf(slot, theme.dark)));
  const bytes = new Uint8ClampedArray(4 * arrays.slots.length);
  for (let i = 0; i < arrays.slots.length; i++) {
    const color = palette[arrays.slots[i]] ?? none;
    const part = PALE + (1 - PALE) * (arrays.shares[i] / 254);
    for (let c = 0; c < 3; c++) bytes[4 * i + c] = ground[c] + part * (color[c] - ground[c]);
    bytes[4 * i + 3] = 255;
  }
  return bytes;
}

/** How large cells are and what lies where. @param {Stripes} stripes @param {{width: number, height: number}} size */
export function gridOf({ shapes, arrays }, size) {
  const [rows, columns] = shapes.slots;
  const width = Math.max(1, size.width - GUTTER);
  const height = Math.max(1, size.height - TOP);
  const n = arrays.order.length;
  const within = (/** @type {number} */ at, /** @type {number} */ count) => Math.max(0, Math.min(count - 1, at));
  return {
    width,
    height,
    rows,
    columns,
    x: (/** @type {number} */ place) => GUTTER + (width * place) / n, // of a place in the order of the objects
    y: (/** @type {number} */ row) => TOP + (height * row) / rows,
    column: (/** @type {number} */ x) => within(Math.floor(((x - GUTTER) / width) * columns), columns),
    row: (/** @type {number} */ y) => (y < TOP ? -1 : within(Math.floor(((y - TOP) / height) * rows), rows)),
  };
}

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {import("./canvas.jsx").Size} size
 * @param {Stripes} stripes @param {Int32Array} colors
 * @param {{groups: Int32Array, selected: number, mask: Uint8Array | null}} how the group of every clustering (−1
 *   none), the clustering that is selected, the objects that are picked
 */
export function drawStripes(context, theme, size, stripes, colors, { groups, selected, mask }) {
  const grid = gridOf(stripes, size);
  const { arrays, header } = stripes;
  const cells = new OffscreenCanvas(grid.columns, grid.rows);
  const inner = /** @type {OffscreenCanvasRenderingContext2D} */ (cells.getContext("2d"));
  inner.putImageData(new ImageData(cellBytes(stripes, colors, theme), grid.columns, grid.rows), 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, GUTTER, TOP, grid.width, grid.height);
  let begin = 0;
  header.sizes.forEach((count, c) => {
    context.fillStyle = colorOf(colors[c], theme.dark);
    context.fillRect(grid.x(begin), 0, grid.x(begin + count) - grid.x(begin), BAND);
    begin += count;
    context.fillStyle = theme.ground; // clusters of the consensus are told apart all the way down
    if (begin < arrays.order.length) context.fillRect(Math.round(grid.x(begin)) - 0.5, 0, 1, size.height);
  });
  if (begin < arrays.order.length) {
    context.fillStyle = theme.line;
    context.fillRect(grid.x(begin), 0, GUTTER + grid.width - grid.x(begin), BAND);
  }
  if (mask) drawPicked(context, theme, grid, arrays, mask);
  if (header.by === "tree") drawGroups(context, theme, grid, arrays, groups);
  const at = selected < 0 ? -1 : rowOf(arrays, selected);
  if (at >= 0) {
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.5;
    const y = grid.y(at);
    const high = Math.max(3, grid.y(at + 1) - y + 1);
    context.strokeRect(GUTTER - 1, y - 0.5, grid.width, high);
    context.fillStyle = theme.ink;
    context.beginPath();
    context.moveTo(GUTTER - 8, y + high / 2 - 5);
    context.lineTo(GUTTER - 2, y + high / 2 - 0.5);
    context.lineTo(GUTTER - 8, y + high / 2 + 4);
    context.fill();
  }
}

/** The row that a clustering is in; −1 if it is not here. @param {Stripes["arrays"]} arrays @param {number} leaf */
export function rowOf({ members, rows }, leaf) {
  const place = members.indexOf(leaf);
  if (place < 0) return -1;
  let row = 0;
  while (rows[row + 1] <= place) row++;
  return row;
}

/**
 * Ticks above the columns of picked objects; the others are dimmed.
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {ReturnType<typeof gridOf>} grid
 * @param {Stripes["arrays"]} arrays @param {Uint8Array} mask
 */
function drawPicked(context, theme, grid, { order, columns }, mask) {
  for (let column = 0; column < grid.columns; column++) {
    let count = 0;
    for (let at = columns[column]; at < columns[column + 1]; at++) count += mask[order[at]];
    const x = Math.round(grid.x(columns[column])); // on whole pixels: seams would look like stripes
    const wide = Math.round(grid.x(columns[column + 1])) - x;
    const share = count / (columns[column + 1] - columns[column]);
    context.globalAlpha = count ? 0.35 + 0.65 * share : 0.62;
    context.fillStyle = count ? theme.ink : theme.ground;
    if (count) context.fillRect(x, BAND + 1, Math.max(1, wide), LANE - 2);
    else context.fillRect(x, TOP, wide, grid.height);
  }
  context.globalAlpha = 1;
}

/**
 * Lines between the groups of clusterings, and their numbers where there is room.
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {ReturnType<typeof gridOf>} grid
 * @param {Stripes["arrays"]} arrays @param {Int32Array} groups
 */
function drawGroups(context, theme, grid, { members, rows }, groups) {
  context.font = font();
  context.textAlign = "center";
  context.textBaseline = "middle";
  let begin = 0;
  for (let row = 1; row <= grid.rows; row++) {
    const group = groups[members[rows[begin]]];
    if (row < grid.rows && groups[members[rows[row]]] === group) continue;
    const [top, bottom] = [grid.y(begin), grid.y(row)];
    context.fillStyle = theme.ground;
    if (row < grid.rows) context.fillRect(0, Math.round(bottom) - 0.5, GUTTER + grid.width, 1);
    context.fillStyle = theme.soft;
    if (group >= 0) context.fillRect(GUTTER - 4, top + 0.5, 2, bottom - top - 1);
    if (group >= 0 && bottom - top > 11) context.fillText(String(group + 1), GUTTER / 2 - 4, (top + bottom) / 2);
    begin = row;
  }
}

/**
 * What a cell holds.
 * @param {Stripes} stripes @param {number} row @param {number} column
 */
export function cellAt({ arrays, shapes }, row, column) {
  const at = row * shapes.slots[1] + column;
  const slot = arrays.slots[at];
  const members = arrays.members.subarray(arrays.rows[row], arrays.rows[row + 1]);
  const objects = arrays.order.subarray(arrays.columns[column], arrays.columns[column + 1]);
  // of the clusterings of the row, the one most like the consensus stands for them
  let best = arrays.rows[row];
  for (let one = best; one < arrays.rows[row + 1]; one++)
    if (arrays.agreement[one] > arrays.agreement[best]) best = one;
  const own = slot < shapes.own[1] ? arrays.own[best * shapes.own[1] + slot] : 65535;
  return { members, objects, best, leaf: arrays.members[best], own, slot, share: arrays.shares[at] / 254 };
}
