// How objects flow between the clusters of two clusterings: blocks at both sides, ribbons between.

import { formatCount } from "../core/format.js";
import { useStore } from "../core/store.js";
import { useDark, useSize } from "../draw/canvas.jsx";
import { clusterName, layOut } from "../draw/flow_of_two.js";
import { colorOf } from "../draw/palette.js";

const MOST = 640;
const BLOCK = 14;
const LABEL = 56;
const NAMED = 130; // room for names, of so many letters
const LETTERS = 14;

/**
 * How many of the picked objects go from which cluster to which; null if none is picked.
 * @param {import("../core/store.js").Store} store @param {import("../core/messages.js").Compare} shown
 */
function pickedTable(store, shown) {
  const rows = store.picked.value;
  const a = store.labels.get(shown.a);
  const b = store.labels.get(shown.b);
  if (!rows.length || !a || !b) return null;
  const found = new Uint32Array(a.clusters * b.clusters);
  for (const row of rows)
    if (a.labels[row] < a.clusters && b.labels[row] < b.clusters) found[a.labels[row] * b.clusters + b.labels[row]]++;
  return found;
}

/** @param {{shown: import("../core/messages.js").Compare}} props */
export function Flow({ shown }) {
  const store = useStore();
  const sa = store.labels.slots(shown.a);
  const sb = store.labels.slots(shown.b);
  const [box, size] = useSize();
  const width = Math.min(MOST, size.width); // a unit is a pixel, so that words can be read at any width
  const height = Math.max(220, 26 * Math.max(...shown.clusters));
  const { a, b, ribbons } = layOut(shown.table, height);
  const left = shown.names.some(Boolean) ? NAMED : LABEL;
  const right = width - left;
  const mid = (left + right) / 2;
  const nameOf = (/** @type {number} */ side, /** @type {number} */ c) => clusterName(shown, side, c);
  const lit = pickedTable(store, shown);
  const dark = useDark();
  /** @param {ReturnType<typeof layOut>["ribbons"][number]} one @param {number} [size] */
  const ribbon = (one, size = one.size) => {
    const x0 = left + BLOCK;
    const x1 = right - BLOCK;
    const { y0, y1 } = one;
    const there = `M${x0} ${y0}C${mid} ${y0} ${mid} ${y1} ${x1} ${y1}`;
    return `${there}V${y1 + size}C${mid} ${y1 + size} ${mid} ${y0 + size} ${x0} ${y0 + size}Z`;
  };
  const fill = (/** @type {ArrayLike<number> | null} */ slots, /** @type {number} */ c) =>
    slots ? colorOf(slots[c], dark) : "currentColor";
  const block = (
    /** @type {ReturnType<typeof layOut>["a"][number]} */ one,
    /** @type {number} */ c,
    /** @type {boolean} */ isLeft,
  ) => {
    const ref = isLeft ? shown.a : shown.b;
    const slots = isLeft ? sa : sb;
    const name = nameOf(isLeft ? 0 : 1, c);
    return (
      <g key={c} class="block" onClick={() => store.go({ sel: ref, cluster: c, cmp: shown.b })}>
        <title>{`cluster ${name}: ${formatCount(one.count)} objects`}</title>
        <rect
          x={isLeft ? left : right - BLOCK}
          y={one.top}
          width={BLOCK}
          height={Math.max(1, one.size)}
          fill={fill(slots, c)}
          rx="2"
        />
        {one.size > 9 ? (
          <text
            x={isLeft ? left - 6 : right + 6}
            y={one.top + one.size / 2}
            dy="0.35em"
            text-anchor={isLeft ? "end" : "start"}
          >
            {name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name}: {formatCount(one.count)}
          </text>
        ) : null}
      </g>
    );
  };
  return (
    <div ref={box}>
      <svg
        class="flow"
        width={width}
        height={height}
        role="img"
        aria-label="Flow of objects between the clusters; the counts are in the table"
      >
        <g class="ribbons">
          {ribbons.map((one) => (
            <path key={`${one.from} ${one.to}`} d={ribbon(one)} fill={fill(sa, one.from)}>
              <title>{`${nameOf(0, one.from)} → ${nameOf(1, one.to)}: ${formatCount(one.count)} objects`}</title>
            </path>
          ))}
        </g>
        {lit ? (
          <g class="ribbons lit">
            {ribbons.map((one) => {
              const count = lit[one.from * shown.clusters[1] + one.to];
              return count ? (
                <path key={`${one.from} ${one.to}`} d={ribbon(one, Math.max(1, (one.size * count) / one.count))}>
                  <title>{`${formatCount(count)} picked: ${nameOf(0, one.from)} → ${nameOf(1, one.to)}`}</title>
                </path>
              ) : null;
            })}
          </g>
        ) : null}
        {a.map((one, c) => block(one, c, true))}
        {b.map((one, c) => block(one, c, false))}
      </svg>
    </div>
  );
}
