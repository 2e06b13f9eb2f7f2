// Numbers and counts for people.

/** @param {number} n */
export const formatCount = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ","); // toLocaleString takes a millisecond each

/** @param {number} n @param {string} one @param {string} [several] */
export const plural = (n, one, several = `${one}s`) => `${formatCount(n)} ${n === 1 ? one : several}`;

/** @param {number} share */
export const formatPercent = (share) =>
  `${share >= 0.1 || share === 0 ? Math.round(100 * share) : Number((100 * share).toPrecision(2))}\u00a0%`;

/** A number for people, with a minus sign. @param {any} value @param {number} [digits] */
export const formatNumber = (value, digits = 4) =>
  value === null || value === undefined || Number.isNaN(value)
    ? "–"
    : typeof value === "number"
      ? String(Number(value.toPrecision(digits))).replace(/-/g, "−")
      : String(value);

/** The name of a score as it is read everywhere. @param {string} name */
export const scoreWords = (name) => name.replace(/^accuracy:\s*/, "purity: ");

/** A share from 0 to 1 with two digits: .93. @param {number} value */
export const formatScore = (value) => value.toFixed(2).replace(/^0/, "");
