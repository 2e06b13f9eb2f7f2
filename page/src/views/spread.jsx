// How a column is spread on two sides, as bars over each other: filled inside, a line outside.

import { formatNumber, formatPercent } from "../core/format.js";

const WIDTH = 84;
const HEIGHT = 22;

/**
 * @param {{
 *   spread: {inside: number[], outside: number[], levels?: string[] | null, low?: any, high?: any}, what: string,
 * }} props
 */
export function SpreadBars({ spread, what }) {
  const { inside, outside, levels, low, high } = spread;
  const most = Math.max(1e-9, ...inside, ...outside);
  const step = WIDTH / inside.length;
  const top = (/** @type {number} */ share) => HEIGHT - 1 - ((HEIGHT - 2) * share) / most;
  const line = outside.map((share, at) => `${at ? "H" : "M"}${at * step}${at ? "" : ` ${top(share)}`}V${top(share)}`);
  const ends = levels ? levels.join(", ") : `${formatNumber(low, 3)} to ${formatNumber(high, 3)}`;
  const words = levels
    ? levels.map((name, at) => `${name}: ${formatPercent(inside[at])} against ${formatPercent(outside[at])}`).join("; ")
    : `${ends}: filled here, the line elsewhere`;
  return (
    <svg class="spread" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Spread of ${what}, ${words}`}>
      <title>{words}</title>
      {inside.map((share, at) => (
        <rect key={at} x={at * step + 0.5} width={step - 1} y={top(share)} height={HEIGHT - 1 - top(share)} />
      ))}
      <path d={`${line.join("")}H${WIDTH}`} />
    </svg>
  );
}
