// A scale from numbers to numbers, with round numbers along it: all that the axes here need.

/** @typedef {((value: number) => number) & {
 *   invert: (place: number) => number, ticks: (count: number) => number[],
 *   tickFormat: (count: number) => (tick: number) => string, nice: (count: number) => Scale,
 * }} Scale */

/** The power of ten below a step between about `count` ticks, and how many of it the step is: 1, 2, 5 or 10. */
/** @param {number} low @param {number} high @param {number} count @returns {[number, number]} */
function stepOf(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = Math.floor(Math.log10(rough));
  const many = rough / 10 ** power;
  return [power, many >= 50 ** 0.5 ? 10 : many >= 10 ** 0.5 ? 5 : many >= 2 ** 0.5 ? 2 : 1];
}

/** Multiples of the step: whole numbers are multiplied or divided, so that 0.3 is not 0.30000000000000004. */
/** @param {[number, number]} step @returns {{over: (whole: number) => number, of: (value: number) => number}} */
function multiples([power, factor]) {
  const per = 10 ** Math.abs(power);
  return power < 0
    ? { over: (whole) => (whole * factor) / per, of: (value) => (value * per) / factor }
    : { over: (whole) => whole * factor * per, of: (value) => value / (factor * per) };
}

/**
 * @param {[number, number]} domain low and high @param {[number, number]} range the places of both
 * @returns {Scale}
 */
export function scaleLinear([low, high], [from, to]) {
  const wide = high - low;
  const scale = (/** @type {number} */ value) => (wide ? from + ((value - low) / wide) * (to - from) : (from + to) / 2);
  return Object.assign(scale, {
    invert: (/** @type {number} */ place) => low + ((place - from) / (to - from)) * wide,
    ticks: (/** @type {number} */ count) => {
      if (!(wide > 0)) return [low];
      const { over, of } = multiples(stepOf(low, high, count));
      const first = Math.ceil(of(low) - 1e-9);
      const length = Math.max(0, Math.floor(of(high) + 1e-9) - first + 1);
      return Array.from({ length }, (_, at) => over(first + at));
    },
    tickFormat: (/** @type {number} */ count) => {
      const [power, factor] = wide > 0 ? stepOf(low, high, count) : [0, 1];
      const digits = Math.min(20, Math.max(0, -power - Number(factor === 10)));
      return (/** @type {number} */ tick) => tick.toFixed(digits).replace("-", "−");
    },
    nice: (/** @type {number} */ count) => {
      let ends = /** @type {[number, number]} */ ([low, high]);
      for (let i = 0; i < 3 && ends[1] > ends[0]; i++) {
        const { over, of } = multiples(stepOf(ends[0], ends[1], count));
        ends = [over(Math.floor(of(ends[0]) + 1e-9)), over(Math.ceil(of(ends[1]) - 1e-9))];
      }
      return scaleLinear(ends, [from, to]);
    },
  });
}
