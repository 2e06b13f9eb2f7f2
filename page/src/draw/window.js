// The part of the plane that is in sight: where it begins, and how many times it is enlarged.

/** @typedef {{x: number, y: number, k: number}} Window left and lower end, 0 … 1, and the enlargement, from 1 */

/** @type {Window} */
export const WHOLE = { x: 0, y: 0, k: 1 };
const MOST = 64;

/** @param {number} value @param {number} k */
const inside = (value, k) => Math.max(0, Math.min(1 - 1 / k, value));

/**
 * Enlarged by a factor around a point of what is in sight (0 … 1, y upwards), which stays where it is.
 * @param {Window} window @param {number} u @param {number} v @param {number} factor @returns {Window}
 */
export function enlarged({ x, y, k }, u, v, factor) {
  const now = Math.max(1, Math.min(MOST, k * factor));
  return { x: inside(x + u / k - u / now, now), y: inside(y + v / k - v / now, now), k: now };
}

/**
 * Moved by shares of what is in sight.
 * @param {Window} window @param {number} u @param {number} v @returns {Window}
 */
export const shifted = ({ x, y, k }, u, v) => ({ x: inside(x + u / k, k), y: inside(y + v / k, k), k });
