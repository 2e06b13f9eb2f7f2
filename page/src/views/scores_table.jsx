// The scores as a table, best first, with the brush as four numbers.

import { useMemo } from "preact/hooks";
import { clusteringName } from "../core/commands.js";
import { formatNumber, scoreWords } from "../core/format.js";
import { useStore } from "../core/store.js";
import { selectNode } from "../core/walk.js";
import { leafOf } from "../draw/points.js";
import { PagedTable } from "./paged_table.jsx";

export function ScoresTable() {
  const store = useStore();
  const { x, y, sel } = store.view.value;
  const { scores } = store.session.value;
  const brushed = store.brushed.value;
  const xs = store.score(x);
  const ys = store.score(y);
  const lower = scores.find((one) => one.name === y)?.better === "low";
  const leaves = useMemo(() => {
    const key = (/** @type {number} */ leaf) =>
      ys && Number.isFinite(ys[leaf]) ? (lower ? ys[leaf] : -ys[leaf]) : Infinity;
    const all = brushed ? [...brushed] : Array.from({ length: store.tree.value.m }, (_, leaf) => leaf);
    return all.sort((a, b) => key(a) - key(b) || a - b);
  }, [store.boot.value, x, y, brushed]);
  if (!xs || !ys) return <p class="empty">No score is known of these clusterings.</p>;
  return (
    <div class="view-tables">
      <BrushFields />
      <PagedTable
        caption={`${brushed ? "Brushed clusterings" : "Clusterings"}, best ${scoreWords(y)} first`}
        heads={["clustering", "group", "clusters", x, y]}
        count={leaves.length}
        row={(at) => [
          clusteringName(store, leaves[at]),
          store.groupOf.value[leaves[at]] + 1,
          store.boot.value.arrays.clusters[leaves[at]],
          formatNumber(xs[leaves[at]]),
          formatNumber(ys[leaves[at]]),
        ]}
        picked={sel ? leaves.indexOf(leafOf(store, sel) ?? -1) : -1}
        onPick={(at) => selectNode(store, leaves[at])}
      />
    </div>
  );
}

/** From and to on both axes: what dragging does on the picture. */
function BrushFields() {
  const store = useStore();
  const { x, y, brush } = store.view.value;
  const { scores } = store.session.value;
  const whole = [x, y].flatMap((name) => {
    const one = scores.find((score) => score.name === name);
    return [one?.low ?? 0, one?.high ?? 1];
  });
  const now = brush ?? whole;
  /** @param {number} at @param {string} label */
  const field = (at, label) => (
    <input
      type="number"
      step="any"
      aria-label={label}
      value={Number(now[at].toPrecision(6))}
      onChange={(event) => {
        const value = Number(event.currentTarget.value);
        if (event.currentTarget.value !== "" && Number.isFinite(value))
          store.go({ brush: now.map((old, i) => (i === at ? value : old)) });
      }}
    />
  );
  return (
    <div class="brush-fields" role="group" aria-label="Brush">
      <span>
        {scoreWords(x)} from {field(0, `least ${scoreWords(x)}`)} to {field(1, `most ${scoreWords(x)}`)}
      </span>
      <span>
        {scoreWords(y)} from {field(2, `least ${scoreWords(y)}`)} to {field(3, `most ${scoreWords(y)}`)}
      </span>
    </div>
  );
}
