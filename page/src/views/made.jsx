// How a clustering was made: in words, its weights, and all that is recorded behind a fold.

import { clusteringName, sentence } from "../core/commands.js";
import { formatNumber } from "../core/format.js";
import { useStore } from "../core/store.js";
import { Facts } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Detail} Detail */

/** @param {unknown} value @returns {string} */
const asText = (value) =>
  Array.isArray(value)
    ? value.map(asText).join(", ")
    : value !== null && typeof value === "object"
      ? JSON.stringify(value)
      : formatNumber(value);

/** @param {{detail: Detail}} props */
export function Made({ detail }) {
  const store = useStore();
  const { "made by": words, ...recorded } = detail.made ?? {};
  const facts = Object.entries(recorded).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).map(([inner, one]) => [inner, asText(one)])
      : [[name, asText(value)]],
  );
  if (!words && !facts.length) return null;
  return (
    <section class="column whole made-of">
      <h3>How {detail.size > 1 && detail.leaf !== null ? clusteringName(store, detail.leaf) : "it"} was made</h3>
      {words ? <p>{sentence(String(words))}.</p> : null}
      {facts.length ? (
        <details>
          <summary>all that is recorded of it</summary>
          <Facts facts={facts} />
        </details>
      ) : null}
    </section>
  );
}

const FIRST = 5; // weights that stand open: of many columns or components the others are behind a fold

/** @param {{detail: Detail}} props */
export function Weights({ detail }) {
  const { weights } = detail;
  if (!weights?.length) return null;
  const most = Math.max(1e-12, ...weights.map((one) => Math.abs(one.weight)));
  const shown = weights.length > FIRST + 3 ? FIRST : weights.length;
  return (
    <section>
      <h3 title="How strongly each column of the data counted when this clustering was made">Weights used</h3>
      <WeightBars weights={weights.slice(0, shown)} most={most} label="Weights used" />
      {shown < weights.length ? (
        <details>
          <summary>{weights.length - shown} more</summary>
          <WeightBars weights={weights.slice(shown)} most={most} label="More weights" />
        </details>
      ) : null}
    </section>
  );
}

/** @param {{weights: NonNullable<Detail["weights"]>, most: number, label: string}} props */
const WeightBars = ({ weights, most, label }) => (
  <ul class="bars weights" tabindex={0} aria-label={label}>
    {weights.map((one) => (
      <li key={one.feature}>
        <span class="text" title={one.feature}>
          {one.feature}
        </span>
        <span class="bar">
          <span style={{ width: `${(100 * Math.abs(one.weight)) / most}%` }}></span>
        </span>
        <span class="count">{formatNumber(one.weight, 3)}</span>
      </li>
    ))}
  </ul>
);
