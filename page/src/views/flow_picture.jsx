// A flow over several clusterings: a column of blocks for each, ribbons of objects between neighbors.
import { useMemo, useState } from "preact/hooks";
import { clusterWords, columnName, useFlowSlots } from "../core/flow_of_many.js";
import { formatCount, formatPercent, plural } from "../core/format.js";
import { pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { parseRef } from "../core/tree.js";
import { pointIn, Tip, useDark, useSize } from "../draw/canvas.jsx";
import { countsAmong, countsOf, layOutFlow, objectsIn, orderBlocks, ribbonPath } from "../draw/flow_of_many.js";
import { colorOf } from "../draw/palette.js";

/** @typedef {import("../core/messages.js").FlowMessage} FlowMessage */
/** @typedef {import("../draw/flow_of_many.js").Block} Block */
/** @typedef {import("../draw/flow_of_many.js").Ribbon} Ribbon */
/** @typedef {{block: Block, ribbon?: undefined} | {ribbon: Ribbon, block?: undefined}} Part */

const BLOCK = 14; // pixels that a block is wide
const COLUMN = 84; // at least so many to a column
const TOP = 22; // room for the names of the columns
const SIDE = 56; // and for what clusters at the ends are called
const NAMED = 104; // the same, where they have names
const LETTER = 6.6; // pixels, about
const MANY = 1500; // ribbons past which the thinnest are not drawn
const THIN = 0.3; // pixels

/** @param {string} text @param {number} width in pixels */
const shortened = (text, width) => {
  const letters = Math.max(2, Math.floor(width / LETTER));
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
};

/**
 * What a part says.
 * @param {import("../core/store.js").Store} store @param {FlowMessage} flow @param {Part} part
 */
function words(store, { header: { columns } }, { block, ribbon }) {
  const name = (/** @type {number} */ at) => columnName(store, columns[at].ref);
  const cluster = (/** @type {number} */ at, /** @type {number} */ c) =>
    c === columns[at].clusters ? "no label" : `cluster ${clusterWords(columns[at], c)}`;
  const sizeOf = (/** @type {number} */ at, /** @type {number} */ c) =>
    c === columns[at].clusters ? columns[at].n_missing : columns[at].sizes[c];
  const inOf = (/** @type {number} */ at, /** @type {number} */ c) =>
    c === columns[at].clusters ? `without a label in ${name(at)}` : `of ${cluster(at, c)} of ${name(at)}`;
  if (block) return `${plural(block.count, "object")} ${inOf(block.column, block.cluster)}`;
  const { gap, from, to, count } = /** @type {Ribbon} */ (ribbon);
  const whole = sizeOf(gap, from);
  const there = sizeOf(gap + 1, to);
  const target =
    to === columns[gap + 1].clusters
      ? `have no label in ${name(gap + 1)}`
      : `go to ${cluster(gap + 1, to)} of ${name(gap + 1)}`;
  const share = `${formatPercent(count / whole)}; ${formatPercent(count / there)} of the ${formatCount(there)} there`;
  return `${formatCount(count)} of ${plural(whole, "object")} ${inOf(gap, from)} ${target}: ${share}`;
}

/** @param {{flow: FlowMessage}} props */
export function FlowPicture({ flow }) {
  const store = useStore();
  const [ref, size] = useSize();
  const dark = useDark();
  const { columns, tables } = flow.header;
  const n = flow.shapes.labels[1];
  const slots = useFlowSlots(flow);
  const counts = useMemo(() => countsOf(columns), [flow]);
  const orders = useMemo(() => orderBlocks(tables, counts), [flow]);
  const most = Math.max(...counts.map((one) => one.filter(Boolean).length));
  const side = columns.some((one) => one.names) ? NAMED : SIDE;
  const width = Math.max(size.width, COLUMN * columns.length + 2 * (side - SIDE)) - 2 * side;
  const height = Math.max(240, 18 * most);
  const laid = useMemo(
    () => layOutFlow(tables, counts, orders, { width, height, block: BLOCK }),
    [flow, orders, width, height],
  );
  const picked = store.picked.value;
  const lit = useMemo(
    () => (picked.length ? countsAmong(flow.arrays.labels, n, counts, picked) : null),
    [flow, picked],
  );
  const [hover, setHover] = useState(/** @type {{part: Part, x: number, y: number} | null} */ (null));
  const [cursor, setCursor] = useState(/** @type {[number, number] | null} */ (null)); // station and place in it
  const drawn = laid.ribbons.length > MANY ? laid.ribbons.filter((one) => one.size >= THIN) : laid.ribbons;
  const ribbons = [...drawn].sort((a, b) => b.size - a.size); // thin ones on top
  const stations = useMemo(
    () =>
      columns.flatMap((_, at) => [
        laid.blocks[at].map((block) => /** @type {Part} */ ({ block })),
        ...(at < tables.length
          ? [laid.ribbons.filter((one) => one.gap === at).map((ribbon) => /** @type {Part} */ ({ ribbon }))]
          : []),
      ]),
    [laid],
  );
  const at = cursor && (stations[cursor[0]]?.[cursor[1]] ?? null);
  const step = columns.length > 1 ? (width - BLOCK) / (columns.length - 1) : 0;
  const isTight = step < 80; // numbers of clusters alone stand above the columns then
  const fill = (/** @type {number} */ column, /** @type {number} */ c) =>
    c === columns[column].clusters ? "var(--soft)" : slots ? colorOf(slots[column][c], dark) : "var(--soft)";
  const pathOf = (/** @type {Ribbon} */ one, size = one.size) =>
    ribbonPath(one, one.gap * step + BLOCK, (one.gap + 1) * step, size);
  /** @param {Part} part @param {boolean} add */
  const take = (part, add) => {
    const blocks = part.block
      ? [part.block]
      : [
          { column: part.ribbon.gap, cluster: part.ribbon.from },
          { column: part.ribbon.gap + 1, cluster: part.ribbon.to },
        ];
    pick(store, objectsIn(flow.arrays.labels, n, counts, blocks), { add, what: words(store, flow, part) });
  };
  /** @param {Part} part */
  const follow = (part) => ({
    onPointerMove: (/** @type {PointerEvent} */ event) => {
      const { x, y } = pointIn(ref, event);
      setHover({ part, x: x + ref.current.scrollLeft, y });
    },
    onPointerLeave: () => setHover(null),
    onClick: (/** @type {MouseEvent} */ event) => take(part, event.shiftKey),
  });
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.target !== ref.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const [station, place] = cursor ?? [0, -1];
    const move = /** @type {Record<string, () => [number, number]>} */ ({
      ArrowDown: () => [station, Math.min(stations[station].length - 1, place + 1)],
      ArrowUp: () => [station, Math.max(0, place - 1)],
      ArrowRight: () => [Math.min(stations.length - 1, station + 1), 0],
      ArrowLeft: () => [Math.max(0, station - 1), 0],
    })[event.key];
    if (move) setCursor(move());
    else if (event.key === "Enter" && at) take(at, event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isAt = (/** @type {Block | Ribbon} */ one) => at !== null && (at.block === one || at.ribbon === one);
  const said = hover ? hover.part : at;
  return (
    <div
      class="flows-plot scroll"
      ref={ref}
      tabindex={0}
      role="group"
      aria-label="Flow: arrows go from cluster to cluster, to the ribbons between, and on; Enter picks the objects"
      onKeyDown={key}
      onBlur={() => setCursor(null)}
    >
      <svg
        class="flows"
        width={width + 2 * side}
        height={height + TOP + 4}
        role="img"
        aria-label={titleOf(store, flow)}
      >
        <g transform={`translate(${side} ${TOP})`}>
          <g class="ribbons">
            {ribbons.map((one) => (
              <path
                key={`${one.gap} ${one.from} ${one.to}`}
                class={isAt(one) ? "at" : ""}
                d={pathOf(one, Math.max(0.5, one.size))}
                fill={fill(one.gap, one.from)}
                {...follow({ ribbon: one })}
              />
            ))}
          </g>
          {lit ? (
            <g class="ribbons lit">
              {drawn.map((one) => {
                const count = lit.tables[one.gap][one.from * counts[one.gap + 1].length + one.to];
                return count ? (
                  <path
                    key={`${one.gap} ${one.from} ${one.to}`}
                    d={pathOf(one, Math.max(1, (one.size * count) / one.count))}
                  />
                ) : null;
              })}
            </g>
          ) : null}
          {laid.blocks.map((column, c) => {
            const isLast = c === columns.length - 1;
            return column.map((one) => {
              const isNone = one.cluster === columns[c].clusters;
              const text = clusterWords(columns[c], one.cluster);
              const count = lit?.blocks[c][one.cluster] ?? 0;
              return (
                <g key={`${c} ${one.cluster}`} class={`block ${isAt(one) ? "at" : ""}`} {...follow({ block: one })}>
                  <rect
                    class={isNone ? "missing" : ""}
                    x={one.x}
                    y={one.y}
                    width={BLOCK}
                    height={Math.max(1, one.size)}
                    fill={fill(c, one.cluster)}
                    rx="2"
                  />
                  {count ? (
                    <rect
                      class="lit"
                      x={one.x + BLOCK / 2 - 2}
                      y={one.y}
                      width={4}
                      height={Math.max(1.5, (one.size * count) / one.count)}
                    />
                  ) : null}
                  {one.size > 9 ? (
                    <text
                      x={isLast ? one.x + BLOCK + 4 : c === 0 ? -4 : one.x + BLOCK + 4}
                      y={one.y + one.size / 2}
                      dy="0.35em"
                      text-anchor={c === 0 ? "end" : "start"}
                    >
                      {shortened(text, c === 0 || isLast ? side - 6 : step - BLOCK - 8)}
                    </text>
                  ) : null}
                </g>
              );
            });
          })}
          {columns.map((column, c) => {
            const name = columnName(store, column.ref);
            const x = c * step + BLOCK / 2;
            return (
              <text
                key={column.ref}
                class={`name ${store.selected.value === column.ref ? "selected" : ""}`}
                x={c === 0 ? Math.max(-side, x - 40) : x}
                y={-9}
                text-anchor={c === 0 ? "start" : c === columns.length - 1 ? "end" : "middle"}
                dx={c === columns.length - 1 ? 40 : 0}
                onClick={() => store.go({ sel: column.ref })}
              >
                <title>{`${name}: show it in the picture`}</title>
                {isTight && parseRef(column.ref)?.k
                  ? parseRef(column.ref)?.k
                  : shortened(name, Math.max(50, step - 10))}
              </text>
            );
          })}
        </g>
      </svg>
      <Tip at={hover} size={{ ...size, height: height + TOP }}>
        {hover ? words(store, flow, hover.part) : null}
      </Tip>
      <p class="hidden" role="status">
        {said && !hover ? words(store, flow, said) : ""}
      </p>
      {drawn.length < laid.ribbons.length ? (
        <p class="note">
          {plural(laid.ribbons.length - drawn.length, "ribbon")} too thin to be seen {drawn.length ? "are" : "is"} in
          the table alone.
        </p>
      ) : null}
    </div>
  );
}

/** The whole in words. @param {import("../core/store.js").Store} store @param {FlowMessage} flow */
export function titleOf(store, { header }) {
  const names = header.columns.map(({ ref }) => columnName(store, ref)).join(", ");
  return `Flow of objects between clusters of ${names}; the counts are in the table`;
}
