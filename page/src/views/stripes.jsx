// All clusterings × objects at once, in the colors of their consensus: what they share stands in stripes.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useObject } from "../core/answers.js";
import { useAsked } from "../core/asked.js";
import { clusteringName } from "../core/commands.js";
import { branchOf } from "../core/flow_of_many.js";
import { formatCount, formatPercent, plural } from "../core/format.js";
import { pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { markClick } from "../core/timing.js";
import { refOf } from "../core/tree.js";
import { selectNode } from "../core/walk.js";
import { Canvas, pointIn, Tip, useSize } from "../draw/canvas.jsx";
import { repeated } from "../draw/palette.js";
import { leafOf } from "../draw/points.js";
import { cellAt, drawStripes, gridOf, stripeSlots, TOP } from "../draw/stripes.js";
import { PagedTable } from "./paged_table.jsx";
import { Panel } from "./panel.jsx";
import { Answered, Segmented } from "./parts.jsx";
import { Term } from "./term.jsx";

/** @typedef {import("../core/messages.js").StripesMessage} Stripes */

const ROWS = [
  ["tree", "by tree", "Clusterings from top to bottom as on the tree from left to right"],
  ["agreement", "by agreement", "Those that agree most with the consensus first"],
];
const OVER = [
  ["all", "all", "All clusterings that are open"],
  ["branch", "branch", "The clusterings of the selected branch"],
];
const KEPT = 12; // clusters of the consensus in the table
const KEYS =
  "Stripes: arrows move over clusterings and objects, Enter shows the clustering, " +
  "Shift and arrows mark objects, Space picks them";
const STILL = 4; // pixels that a click may move

export function StripesView() {
  const store = useStore();
  const { rows, over } = store.view.value;
  const [size, setSize] = useState({ rows: 0, columns: 0 });
  const node = over === "all" ? store.top.value : branchOf(store);
  const cells = `rows=${size.rows}&columns=${size.columns}`;
  const path = `/api/stripes/${refOf(store.tree.value, node, "c")}?by=${rows}&${cells}`;
  /** @type {import("../core/answers.js").Answer<Stripes>} */
  const answer = useAsked(size.rows ? path : null, (transport, signal) => transport.get(path, signal));
  const tools = (
    <>
      <Segmented
        label="Clusterings of the stripes"
        options={OVER}
        value={over}
        onPick={(to) => store.go({ over: to })}
      />
      <Segmented label="Order of the clusterings" options={ROWS} value={rows} onPick={(to) => store.go({ rows: to })} />
    </>
  );
  const shown = answer.value;
  return (
    <Panel
      id="stripes"
      title="Stripes"
      tools={tools}
      note={shown ? <Caption stripes={shown} /> : "asking for the stripes …"}
      table={() => (
        <>
          <Room onSize={setSize} />
          <Answered answer={answer}>{(stripes) => <StripesTable stripes={stripes} />}</Answered>
        </>
      )}
    >
      <StripesPicture answer={answer} onSize={setSize} />
    </Panel>
  );
}

/** @typedef {(size: {rows: number, columns: number}) => void} OnSize */

/** @param {import("../draw/canvas.jsx").Size} size @param {OnSize} onSize cells that there is room for, in steps */
function useRoom(size, onSize) {
  const rows = Math.min(2000, Math.max(20, Math.floor((size.height - TOP) / 20) * 20));
  const columns = Math.min(4000, Math.max(100, Math.floor(size.width / 50) * 50 - 50));
  useEffect(() => {
    if (size.width) onSize({ rows, columns });
  }, [rows, columns, size.width > 0]);
}

/** Asks for cells where a table stands in the place of the picture. @param {{onSize: OnSize}} props */
function Room({ onSize }) {
  useEffect(() => onSize({ rows: 200, columns: 400 }), []);
  return null;
}

/** @param {Stripes} stripes */
const wholeOf = ({ arrays: { members, order } }) =>
  `${plural(members.length, "clustering")} × ${plural(order.length, "object")}`;

/** What is drawn, and what is not. @param {{stripes: Stripes}} props */
function Caption({ stripes }) {
  const { arrays, shapes } = stripes;
  const [rows, columns] = shapes.slots;
  const m = arrays.members.length;
  const n = arrays.order.length;
  const most = (/** @type {number} */ whole, /** @type {number} */ cells) => Math.ceil(whole / cells);
  const shared = [
    columns < n ? `up to ${plural(most(n, columns), "object")}` : "",
    rows < m ? `up to ${plural(most(m, rows), "clustering")}` : "",
  ].filter(Boolean);
  return (
    <>
      {wholeOf(stripes)}, which stand by their <Term word="consensus" /> (above), then by the medoids of its parts. A
      color is the cluster of the consensus that it matches best.
      {shared.length
        ? ` A cell holds ${shared.join(" and ")}: it has the color of most of them, paler the fewer that are.`
        : ""}
      {repeated(stripes.header.clusters)} Click shows a clustering, a drag picks objects.
    </>
  );
}

/** @param {{answer: import("../core/answers.js").Answer<Stripes>, onSize: OnSize}} props */
function StripesPicture({ answer, onSize }) {
  const store = useStore();
  const [ref, size] = useSize();
  useRoom(size, onSize);
  const stripes = answer.value;
  const pin = store.reference.value;
  const pinned = pin ? store.labels.get(pin) : null;
  const colors = useMemo(() => stripes && pinned && stripeSlots(stripes, pinned), [stripes, pinned]);
  const selected = store.selected.value ? (leafOf(store, store.selected.value) ?? -1) : -1;
  const mask = store.pickedMask.value;
  const groups = store.groupOf.value;
  const start = useRef(/** @type {{x: number, y: number} | null} */ (null));
  const [drag, setDrag] = useState(/** @type {number[] | null} */ (null)); // first and last column
  const [hover, setHover] = useState(/** @type {{x: number, y: number, row: number, column: number} | null} */ (null));
  const [cursor, setCursor] = useState(/** @type {{row: number, column: number, from: number} | null} */ (null));
  const grid = stripes ? gridOf(stripes, size) : null;
  if (!stripes || !grid || !colors) {
    return (
      <div class="plot stripes-plot" ref={ref}>
        {answer.error ? (
          <p class="empty" role="alert">
            {answer.error}
          </p>
        ) : (
          <p class="empty" role="status">
            asking for the stripes …
          </p>
        )}
      </div>
    );
  }
  /** @param {PointerEvent} event */
  const where = (event) => {
    const { x, y } = pointIn(ref, event);
    return { x, y, row: grid.row(y), column: grid.column(x) };
  };
  /** @param {number} a @param {number} b @param {boolean} add */
  const take = (a, b, add) => {
    const { order, columns } = stripes.arrays;
    pick(store, order.subarray(columns[Math.min(a, b)], columns[Math.max(a, b) + 1]), { add });
  };
  /** @param {number} row −1 for the consensus @param {number} column */
  const choose = (row, column) => {
    if (row < 0) store.go({ sel: stripes.header.ref });
    else selectNode(store, cellAt(stripes, row, column).leaf);
  };
  /** @param {PointerEvent} event */
  const move = (event) => {
    const now = where(event);
    const from = start.current;
    if (from && Math.abs(now.x - from.x) > STILL) {
      setHover(null);
      setDrag([grid.column(from.x), now.column]);
    } else if (!from) setHover(now);
  };
  /** @param {PointerEvent} event */
  const drop = (event) => {
    const from = start.current;
    start.current = null;
    setDrag(null);
    if (!from) return;
    const now = where(event);
    if (Math.abs(now.x - from.x) > STILL) take(grid.column(from.x), now.column, event.shiftKey);
    else {
      markClick(event);
      choose(now.row, now.column);
    }
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const now = cursor ?? { row: -1, column: 0, from: 0 };
    const isFirst = !cursor;
    const clamp = (/** @type {number} */ value, /** @type {number} */ low, /** @type {number} */ high) =>
      Math.max(low, Math.min(high, value));
    const step = /** @type {Record<string, number[]>} */ ({
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageUp: [-10, 0],
      PageDown: [10, 0],
      Home: [0, -grid.columns],
      End: [0, grid.columns],
    })[event.key];
    if (step) {
      const row = isFirst ? 0 : clamp(now.row + step[0], -1, grid.rows - 1);
      const column = isFirst ? 0 : clamp(now.column + step[1], 0, grid.columns - 1);
      setCursor({ row, column, from: event.shiftKey ? now.from : column });
    } else if (event.key === "Enter") choose(now.row, now.column);
    else if (event.key === " ") take(now.from, now.column, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const marked = drag ?? (cursor ? [cursor.from, cursor.column] : null);
  return (
    <div
      class="plot stripes-plot"
      ref={ref}
      tabindex={0}
      role="group"
      aria-busy={!answer.fresh}
      aria-label={KEYS}
      onPointerDown={(event) => {
        if (event.button) return;
        start.current = where(event);
        if (event.pointerType !== "touch") ref.current.setPointerCapture(event.pointerId);
      }}
      onPointerMove={move}
      onPointerUp={drop}
      onPointerCancel={() => {
        start.current = null;
        setDrag(null);
      }}
      onPointerLeave={() => setHover(null)}
      onKeyDown={key}
      onBlur={() => setCursor(null)}
    >
      <Canvas
        size={size}
        deps={[stripes, colors, selected, mask, groups]}
        label={`Stripes of ${wholeOf(stripes)}`}
        draw={(_canvas, context, theme) =>
          drawStripes(context, theme, size, stripes, colors, { groups, selected, mask })
        }
      />
      {marked ? (
        <Canvas
          size={size}
          deps={[marked.join(), cursor?.row, stripes]}
          draw={(_canvas, context, theme) => drawMarked(context, theme, size, grid, stripes, marked, cursor?.row)}
        />
      ) : null}
      <Tip at={drag ? null : hover} size={size}>
        {hover ? <CellWords stripes={stripes} row={hover.row} column={hover.column} /> : null}
      </Tip>
      <p class="hidden" role="status">
        {cursor ? <CellWords stripes={stripes} row={cursor.row} column={cursor.column} /> : null}
      </p>
    </div>
  );
}

/**
 * @param {CanvasRenderingContext2D} context @param {import("../draw/canvas.jsx").Theme} theme
 * @param {import("../draw/canvas.jsx").Size} size @param {ReturnType<typeof gridOf>} grid @param {Stripes} stripes
 * @param {number[]} marked columns @param {number} [row]
 */
function drawMarked(context, theme, size, grid, { arrays: { columns } }, marked, row) {
  const left = grid.x(columns[Math.min(...marked)]);
  const wide = Math.max(2, grid.x(columns[Math.max(...marked) + 1]) - left);
  context.strokeStyle = context.fillStyle = theme.ink;
  context.lineWidth = 1;
  context.strokeRect(Math.round(left) - 0.5, 0.5, Math.round(wide) + 1, size.height - 1);
  context.globalAlpha = 0.16;
  context.fillRect(left, 0, wide, size.height);
  context.globalAlpha = 1;
  if (row !== undefined) {
    const [y, high] = row < 0 ? [0.5, TOP - 4] : [grid.y(row), Math.max(3, grid.y(row + 1) - grid.y(row))];
    context.strokeRect(0.5, y, size.width - 1, high);
  }
}

/** A cell in words: clustering, object, cluster. @param {{stripes: Stripes, row: number, column: number}} props */
function CellWords({ stripes, row, column }) {
  const store = useStore();
  const { header } = stripes;
  const cell = cellAt(stripes, Math.max(0, row), column);
  const id = useObject("0m", cell.objects[0])?.id ?? `object ${cell.objects[0]}`;
  const objects = cell.objects.length > 1 ? `${formatCount(cell.objects.length)} objects from ${id}` : id;
  if (row < 0) {
    let end = 0;
    const place = stripes.arrays.columns[column];
    const cluster = header.sizes.findIndex((size) => {
      end += size;
      return place < end;
    });
    return (
      <>
        <b>consensus</b>
        <span>
          {objects}: {cluster < 0 ? "no label" : `cluster ${cluster}`}
        </span>
      </>
    );
  }
  const name = header.names?.[cell.best]?.[cell.own] ?? cell.own;
  const where =
    cell.own === 65535
      ? cell.slot < 65535 && cell.members.length > 1
        ? "another cluster"
        : "no label"
      : `cluster ${name}`;
  const isMixed = cell.share < 1;
  return (
    <>
      <b>
        {clusteringName(store, cell.leaf)}
        {cell.members.length > 1 ? ` and ${formatCount(cell.members.length - 1)} more` : ""}
      </b>
      <span>
        {objects}: {isMixed ? `mostly ${where} (${formatPercent(cell.share)})` : where}
      </span>
    </>
  );
}

/** Clusterings with how far they agree with the consensus. @param {{stripes: Stripes}} props */
function StripesTable({ stripes }) {
  const store = useStore();
  const { header, arrays } = stripes;
  const shown = Math.min(KEPT, header.clusters);
  const percent = (/** @type {number} */ share) => (Number.isNaN(share) ? "–" : formatPercent(share));
  return (
    <PagedTable
      caption={`Share of each cluster of the consensus that a clustering keeps together in the cluster that matches it${
        shown < header.clusters ? `, the largest ${shown} of ${header.clusters} clusters` : ""
      }`}
      heads={["clustering", "clusters", "agreement", ...Array.from({ length: shown }, (_, c) => `cluster ${c}`)]}
      count={arrays.members.length}
      row={(at) => [
        clusteringName(store, arrays.members[at]),
        String(store.boot.value.arrays.clusters[arrays.members[at]]),
        percent(arrays.agreement[at]),
        ...Array.from({ length: shown }, (_, c) => percent(arrays.kept[at * header.clusters + c])),
      ]}
      picked={arrays.members.indexOf(leafOf(store, store.selected.value ?? "") ?? -1)}
      onPick={(at) => selectNode(store, arrays.members[at])}
    />
  );
}
