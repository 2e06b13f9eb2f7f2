// A few lines with errors over steps, on one scale.

import { formatNumber } from "../core/format.js";
import { useDark } from "../draw/canvas.jsx";
import { colorOf } from "../draw/palette.js";
import { scaleLinear } from "../draw/scale.js";

const WIDTH = 480;
const HEIGHT = 240;
const LEFT = 44;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 32;

/** @typedef {{name: string, points: {x: number, y: number, error?: number | null}[]}} Line */

/** @param {string} name @param {Line["points"][number]} point */
const describePoint = (name, { x, y, error }) =>
  `${name}, step ${x}: ${formatNumber(y)}${error ? ` ± ${formatNumber(error, 2)}` : ""}`;

/** @param {{lines: Line[], xLabel: string, label: string}} props */
export function LineChart({ lines, xLabel, label }) {
  const dark = useDark();
  const all = lines.flatMap((line) => line.points);
  if (!all.length) return <p class="empty">Nothing was measured.</p>;
  const ends = all.flatMap((p) => [p.y - (p.error ?? 0), p.y + (p.error ?? 0)]);
  const x = scaleLinear([Math.min(...all.map((p) => p.x)), Math.max(...all.map((p) => p.x))], [LEFT, WIDTH - RIGHT]);
  const y = scaleLinear([Math.min(...ends), Math.max(...ends)], [HEIGHT - BOTTOM, TOP]).nice(4);
  const ticks = x.ticks(8).filter(Number.isInteger);
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {y.ticks(4).map((at) => (
          <g key={at}>
            <line class="rule" x1={LEFT} x2={WIDTH - RIGHT} y1={y(at)} y2={y(at)} />
            <text x={LEFT - 6} y={y(at)} dy="0.35em" text-anchor="end">
              {formatNumber(at)}
            </text>
          </g>
        ))}
        {ticks.map((at) => (
          <text key={at} x={x(at)} y={HEIGHT - BOTTOM + 14} text-anchor="middle">
            {at}
          </text>
        ))}
        <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 4} text-anchor="middle">
          {xLabel}
        </text>
        {lines.map((line, at) => (
          <g key={line.name} stroke={colorOf(at, dark)} fill={colorOf(at, dark)}>
            <polyline fill="none" stroke-width="2" points={line.points.map((p) => `${x(p.x)},${y(p.y)}`).join(" ")} />
            {line.points.map((p) => (
              <g key={p.x}>
                {p.error ? <line x1={x(p.x)} x2={x(p.x)} y1={y(p.y - p.error)} y2={y(p.y + p.error)} /> : null}
                <circle cx={x(p.x)} cy={y(p.y)} r="3">
                  <title>{describePoint(line.name, p)}</title>
                </circle>
              </g>
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        {lines.map((line, at) => (
          <span key={line.name}>
            <span class="mark" style={{ color: colorOf(at, dark) }}>
              ●
            </span>{" "}
            {line.name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
