// Effect sizes as dots with whiskers, on one scale around zero.
import { formatNumber } from "../core/format.js";
import { Mark } from "./parts.jsx";
import { SpreadBars } from "./spread.jsx";

/** @typedef {import("../core/messages.js").ClusterMarks} ClusterMarks */

/** @param {import("../core/messages.js").Effect} f */
const describeEffect = ({ words, mean, rest, d, low, high }) =>
  `${words ?? `mean ${formatNumber(mean)}, rest ${formatNumber(rest)}`}; ` +
  `d ${formatNumber(d, 3)} (${formatNumber(low, 3)} to ${formatNumber(high, 3)})`;

/**
 * @param {{
 *   clusters: ClusterMarks[], most: number, slots: ArrayLike<number> | null, names: string[] | null, plain?: boolean,
 * }} props `plain`: of one side only, which needs no name
 */
export function FeatureRows({ clusters, most, slots, names, plain = false }) {
  const rows = clusters.flatMap((one) =>
    one.top.slice(0, most).map((f, at) => ({ ...f, cluster: one.cluster, first: at === 0 })),
  );
  if (!rows.length) return <p class="empty">No feature sets it apart.</p>;
  const far =
    1.05 *
    Math.max(
      0.1,
      ...rows
        .flatMap((f) => [f.d, f.low, f.high])
        .filter(Number.isFinite)
        .map(Math.abs),
    );
  const place = (/** @type {number} */ value) => 50 + (50 * Math.max(-far, Math.min(far, value))) / far;
  return (
    <div
      class={`effects ${names ? "named" : ""} ${rows.some((f) => f.words) ? "worded" : ""}`}
      tabindex={0}
      role="group"
      aria-label="What sets them apart"
    >
      {rows.map((f) => (
        <div key={`${f.cluster} ${f.feature}`} class={`effect ${f.first ? "first" : ""}`} title={describeEffect(f)}>
          <span class="who">
            {f.first && !plain ? (
              <>
                <Mark slot={slots?.[f.cluster]} /> {names?.[f.cluster] ?? f.cluster}
              </>
            ) : (
              ""
            )}
          </span>
          <span class="text">{f.words ?? f.feature}</span>
          <span class="track">
            <i class="zero"></i>
            {Number.isFinite(f.low) && Number.isFinite(f.high) ? (
              <i class="whisker" style={{ left: `${place(f.low)}%`, width: `${place(f.high) - place(f.low)}%` }}></i>
            ) : null}
            {Number.isFinite(f.d) ? <i class="dot" style={{ left: `${place(f.d)}%` }}></i> : null}
          </span>
          <span class="count">{Number.isFinite(f.d) ? f.d.toFixed(2).replace("-", "−") : "–"}</span>
          {f.spread ? <SpreadBars spread={f.spread} what={f.feature} /> : <span></span>}
        </div>
      ))}
      <div class="effect ends">
        <span></span>
        <span></span>
        <span class="track">
          <b style={{ left: "0%" }}>{formatNumber(-far, 2)}</b>
          <b style={{ left: "50%" }}>0</b>
          <b style={{ left: "100%" }}>{formatNumber(far, 2)}</b>
        </span>
        <span></span>
        <span></span>
      </div>
    </div>
  );
}
