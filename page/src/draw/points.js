// Clusterings as points, for the scores and the map: which are drawn, where the marks of groups stand, which one is
// near.

import { useRef } from "preact/hooks";
import { clusteringName, sentence } from "../core/commands.js";
import { nodeOf, parseRef } from "../core/tree.js";
import { font } from "./font.js";
import { frame, scatter } from "./raster.js";

/** @typedef {import("../core/store.js").Store} Store */
/** @typedef {import("./canvas.jsx").Theme} Theme */
/** @typedef {import("./canvas.jsx").Size} Size */
/** @typedef {{leaf: Int32Array, xy: Float32Array, labels: Uint16Array, mask: Uint8Array | null}} Cloud */

/**
 * The points that have a place, with their groups, and which of them are brushed; those of the selected branch are of
 * a group past the last, those outside the branch that is opened of none.
 * @param {Float32Array} xy one pair a clustering, 0 … 1, NaN unknown @param {ArrayLike<number>} groupOf −1 for none
 * @param {number[] | null} brushed @param {number} [groups] @param {ArrayLike<number>} [selected] clusterings
 * @returns {Cloud}
 */
export function cloudOf(xy, groupOf, brushed, groups = 0, selected = []) {
  const own = new Set(Array.from(selected));
  const found = [];
  const inside = brushed && new Uint8Array(xy.length / 2);
  if (inside) for (const leaf of brushed) inside[leaf] = 1;
  for (let i = 0; i < xy.length / 2; i++) if (Number.isFinite(xy[2 * i] + xy[2 * i + 1])) found.push(i);
  return {
    leaf: Int32Array.from(found),
    xy: Float32Array.from(found.flatMap((leaf) => [xy[2 * leaf], xy[2 * leaf + 1]])),
    labels: Uint16Array.from(found, (leaf) => (own.has(leaf) ? groups : groupOf[leaf])),
    mask: inside && Uint8Array.from(found, (leaf) => inside[leaf]),
  };
}

/**
 * Points moved and scaled alike in both directions to fill a box.
 * @param {Float32Array} xy @param {number} width @param {number} height
 */
export function fitted(xy, width, height) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  xy.forEach((value, i) => {
    low[i % 2] = Math.min(low[i % 2], value);
    high[i % 2] = Math.max(high[i % 2], value);
  });
  const scale = Math.min(width / (high[0] - low[0] || 1), height / (high[1] - low[1] || 1));
  const sides = [width, height];
  return xy.map((value, i) => ((value - (low[i % 2] + high[i % 2]) / 2) * scale) / sides[i % 2] + 0.5);
}

/**
 * Where a value from 0 to 1 is drawn, in CSS pixels, and back.
 * @param {number} n @param {Size} size @param {import("./window.js").Window} [window]
 */
export function placesOf(n, { width, height, ratio }, window) {
  const { across, down, left, bottom } = frame(n, Math.round(width * ratio), Math.round(height * ratio), window);
  return {
    x: (/** @type {number} */ value) => (left + value * across) / ratio,
    y: (/** @type {number} */ value) => (bottom - value * down) / ratio,
    toX: (/** @type {number} */ px) => (px * ratio - left) / across,
    toY: (/** @type {number} */ px) => (bottom - px * ratio) / down,
  };
}

/**
 * Clusterings in the shades of their groups, those of the selected branch in the accent's.
 * @param {HTMLCanvasElement} canvas @param {Theme} theme @param {Cloud} cloud @param {string[]} shades
 */
export function drawCloud(canvas, theme, cloud, shades) {
  const colors = [...shades, theme.accent];
  const marks = new Uint8Array(colors.length);
  scatter(canvas, cloud.xy, cloud.labels, marks, { dark: theme.dark, mask: cloud.mask, colors });
}

/**
 * The clustering that a ref is: itself or the medoid of a branch; null for a consensus, or as long as it is not
 * known.
 * @param {Store} store @param {string} ref
 */
export function leafOf(store, ref) {
  const parsed = parseRef(ref);
  if (!parsed) return null;
  if (parsed.m === null && parsed.node < store.tree.value.m) return parsed.node;
  return store.labels.known.get(ref)?.value?.leaf ?? null;
}

/**
 * Where a ref stands: at its clustering, a consensus in the mean of its branch; null if it is not of this tree,
 * undefined as long as its medoid is not known.
 * @param {Store} store @param {string | null} ref @param {Float32Array} xy
 */
export function spotOf(store, ref, xy) {
  if (!ref) return null;
  const leaf = leafOf(store, ref);
  if (leaf !== null) return [xy[2 * leaf], xy[2 * leaf + 1]];
  const tree = store.tree.value;
  const node = nodeOf(tree, ref);
  if (node < 0) return null;
  if (ref.endsWith("m")) return undefined;
  let x = 0;
  let y = 0;
  let count = 0;
  for (const one of tree.leaves(node)) {
    if (!Number.isFinite(xy[2 * one] + xy[2 * one + 1])) continue;
    x += xy[2 * one];
    y += xy[2 * one + 1];
    count++;
  }
  return count ? [x / count, y / count] : null;
}

/**
 * Where a ref stands, or stood before as long as that is not known: nothing jumps.
 * @param {Store} store @param {string | null} ref @param {Float32Array} xy
 */
export function useSpot(store, ref, xy) {
  const spot = spotOf(store, ref, xy);
  const last = useRef(/** @type {number[] | null} */ (null));
  if (spot !== undefined) last.current = spot;
  return last.current;
}

const ASKED = 64; // groups whose medoids are asked for, so that their marks stand where they are

/** Where the groups' representatives stand. @param {Store} store @param {Float32Array} xy */
export function groupSpots(store, xy) {
  return store.representatives.value.flatMap((ref, g) => {
    if (g < ASKED && ref.endsWith("m")) store.labels.get(ref); // tiles ask for the consensuses in sight
    const at = spotOf(store, ref, xy);
    return at && Number.isFinite(at[0] + at[1]) ? [{ g, ref, at }] : [];
  });
}

/**
 * Numbered marks of the groups, a ring around the selected, a triangle on the pinned one.
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {ReturnType<typeof placesOf>} place
 * @param {{g: number, ref: string, at: number[]}[]} spots
 * @param {number[] | null} selected @param {number[] | null} pinned
 */
export function drawSpots(context, theme, place, spots, selected, pinned) {
  const r = spots.length >= ASKED ? 3.5 : 8;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `600 ${font(10)}`;
  for (const { g, at } of spots) {
    const x = place.x(at[0]);
    const y = place.y(at[1]);
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fillStyle = theme.ink;
    context.fill();
    context.strokeStyle = theme.ground;
    context.lineWidth = 1.5;
    context.stroke();
    if (r < 6) continue;
    context.fillStyle = theme.ground;
    context.fillText(String(g + 1), x, y + 0.5);
  }
  if (selected) {
    for (const [color, width] of /** @type {[string, number][]} */ ([
      [theme.ground, 5],
      [theme.accent, 2.5],
    ])) {
      context.beginPath();
      context.arc(place.x(selected[0]), place.y(selected[1]), r + 3, 0, 2 * Math.PI);
      context.strokeStyle = color;
      context.lineWidth = width;
      context.stroke();
    }
  }
  if (pinned) {
    drawPin(context, theme, place.x(pinned[0]), place.y(pinned[1]) - r - 1);
  }
}

/** What the pointer is on, in words. @param {Store} store @param {number} leaf */
export function describeLeaf(store, leaf) {
  const { scores } = store.session.value;
  const clusters = store.boot.value.arrays.clusters[leaf];
  const values = scores.slice(0, 6).map((one) => ({
    name: one.name,
    value: /** @type {Float32Array} */ (store.score(one.name))[leaf],
  }));
  return { title: sentence(clusteringName(store, leaf)), group: store.groupOf.value[leaf] + 1, clusters, values };
}

/**
 * The mark above what is pinned.
 * @param {CanvasRenderingContext2D} context @param {{ink: string}} theme @param {number} x @param {number} y
 */
export function drawPin(context, theme, x, y) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 5, y - 8);
  context.lineTo(x + 5, y - 8);
  context.closePath();
  context.fillStyle = theme.ink;
  context.fill();
}
