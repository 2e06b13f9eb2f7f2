// Stands in for d3-interpolate in the bundle: scales here go from numbers to numbers, never to colors or dates.

/** @param {number} a @param {number} b */
export const interpolateNumber = (a, b) => (/** @type {number} */ t) => a * (1 - t) + b * t;

/** @param {number} a @param {number} b */
export const interpolateRound = (a, b) => (/** @type {number} */ t) => Math.round(a * (1 - t) + b * t);

export const interpolate = interpolateNumber;

/** @param {(a: number, b: number) => (t: number) => number} between @param {number[]} values */
export function piecewise(between, values) {
  const parts = values.slice(1).map((value, at) => between(values[at], value));
  return (/** @type {number} */ t) => {
    const at = Math.max(0, Math.min(parts.length - 1, Math.floor(t * parts.length)));
    return parts[at](t * parts.length - at);
  };
}
