// Colors that people with any color vision can tell apart, for clusters and for scores.

// The same twenty as in reports/figures.py, which says where they come from; past twenty the mark changes.
export const COLORS = [
  "#0072B2",
  "#E69F00",
  "#009E73",
  "#CC79A7",
  "#56B4E9",
  "#D55E00",
  "#850344",
  "#26E085",
  "#7348E2",
  "#1035C2",
  "#661091",
  "#416407",
  "#1A4D68",
  "#B91A96",
  "#9980FE",
  "#81555B",
  "#C11435",
  "#D3D316",
  "#96AE7F",
  "#27E3FD",
];
// Seven of them are too dark on a dark ground (less than 3 : 1): these stand for them, as unlike the others as before.
const ON_DARK = /** @type {Record<number, string>} */ ({
  6: "#FA2569",
  9: "#CCA7F8",
  10: "#ED49F6",
  11: "#5E730F",
  12: "#D6E2F6",
  15: "#845B6C",
  16: "#F9AEA4",
});
// A hollow mark means a floater and nothing else, so that none of these is hollow.
export const MARKS = ["dot", "square", "cross", "bar", "diamond"];
export const MARK_TEXT = ["●", "■", "✕", "▬", "◆"];

/** @param {number} slot @param {boolean} [dark] the ground */
export function colorOf(slot, dark = false) {
  const at = slot % COLORS.length;
  return (dark && ON_DARK[at]) || COLORS[at];
}

/** What is said where only colors tell clusters apart. @param {number} clusters the most that are shown */
export const repeated = (clusters) =>
  clusters > COLORS.length ? ` Past ${COLORS.length} clusters colors come again: their numbers tell them apart.` : "";

/** @param {number} slot */
export const markOf = (slot) => Math.floor(slot / COLORS.length) % MARKS.length;

const SHADES = { light: ["#4a5560", "#8a95a1"], dark: ["#c3ccd5", "#7d8894"] };

/**
 * Neutral shades of the groups, so that color is for clusters alone: two in turn, neighbors on the tree unlike.
 * @param {import("../core/tree.js").Tree} tree @param {number[]} groups @param {boolean} dark
 */
export function groupShades(tree, groups, dark) {
  const shades = dark ? SHADES.dark : SHADES.light;
  const found = Array(groups.length);
  [...groups.keys()]
    .sort((a, b) => tree.first[groups[a]] - tree.first[groups[b]])
    .forEach((g, place) => {
      found[g] = shades[place % 2];
    });
  return /** @type {string[]} */ (found);
}

/** @param {string} hex @returns {number[]} red, green, blue */
export const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

// A few colors of a dark-to-light scale (blue to yellow through grey) that keeps its order without color.
const RAMP = [
  "#00224E",
  "#123570",
  "#3B496C",
  "#575D6D",
  "#707173",
  "#8A8678",
  "#A59C74",
  "#C3B369",
  "#E1CC55",
  "#FEE838",
].map(rgb);

/** The part of the scale that is seen on a light or a dark ground. @param {number} value @param {boolean} dark */
const legible = (value, dark) => (dark ? 0.25 + 0.75 * value : 0.85 * value);

/** Red, green, blue of a value from 0 to 1. @param {number} value @param {boolean} [dark] the ground */
export function rampRgb(value, dark = false) {
  const at = legible(Math.max(0, Math.min(1, value)), dark) * (RAMP.length - 1);
  const low = Math.min(RAMP.length - 2, Math.floor(at));
  return RAMP[low].map((a, i) => Math.round(a + (RAMP[low + 1][i] - a) * (at - low)));
}

/**
 * Color of a value from 0 to 1; grey where it is not known.
 * @param {number} value @param {boolean} [dark] the ground
 */
export const ramp = (value, dark = false) =>
  Number.isFinite(value) ? `rgb(${rampRgb(value, dark).join(" ")})` : "#9994";
