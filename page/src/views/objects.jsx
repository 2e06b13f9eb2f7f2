// The objects of the selected clustering, page by page, with the user's own ids.

import { useEffect, useState } from "preact/hooks";
import { useAsked } from "../core/asked.js";
import { describe } from "../core/commands.js";
import { formatCount, formatNumber } from "../core/format.js";
import { explain } from "../core/glossary.js";
import { encodeRows, keyOf, pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { Panel } from "./panel.jsx";
import { Answered, Mark } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Objects} Objects */

const PAGE = 50;
const ALL = -2;
const MISSING = -1;

/** @typedef {{order: string, at: number, falling: boolean}} Order by one of the columns of a kind, from the largest */

const AS_GIVEN = { order: "index", at: 0, falling: false };

export function ObjectsView() {
  const store = useStore();
  const ref = store.selected.value;
  const { cluster } = store.view.value;
  const picked = store.picked.value;
  const [start, setStart] = useState(0);
  const [order, setOrder] = useState(/** @type {Order} */ (AS_GIVEN));
  const [missing, setMissing] = useState(false);
  const [text, setText] = useState("");
  const [only, setOnly] = useState(false);
  const filter = missing ? MISSING : cluster >= 0 ? cluster : ALL;
  const some = only && picked.length ? picked : null;
  useEffect(() => setStart(0), [ref, filter, order, text, some]);
  const asked = {
    start,
    count: PAGE,
    cluster: filter,
    order: order.order,
    at: order.at,
    falling: order.falling ? 1 : 0,
    text,
  };
  const query = Object.entries(asked)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  const key = some ? `${ref} ${query} ${keyOf(some)}` : `${ref} ${query}`;
  /** @type {import("../core/answers.js").Answer<Objects>} */
  const answer = useAsked(ref ? `objects ${key}` : null, (transport, signal) =>
    some
      ? transport.post(`/api/objects/${ref}`, { ...asked, rows: encodeRows(some) }, signal)
      : transport.get(`/api/objects/${ref}?${query}`, signal),
  );
  if (!ref) return <p class="empty">Select a clustering to see its objects.</p>;
  const clusters = store.labels.get(ref)?.clusters ?? 0;
  const total = answer.value?.total ?? 0;
  const pickCluster = (/** @type {number} */ to) => {
    setMissing(to === MISSING);
    store.go({ cluster: Math.max(-1, to) });
  };
  const tools = (
    <>
      <input
        type="search"
        class="search"
        aria-label="Filter objects"
        placeholder="Filter"
        title="An id, a word, a label, or a comparison such as width_mm > 3 or color: red"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <label class="field">
        Cluster{" "}
        <select value={filter} onChange={(e) => pickCluster(Number(e.currentTarget.value))}>
          <option value={ALL}>all</option>
          {Array.from({ length: clusters }, (_, c) => (
            <option key={c} value={c}>
              {answer.value?.names?.[c] ?? c}
            </option>
          ))}
          <option value={MISSING}>without a label</option>
        </select>
      </label>
      <button aria-pressed={only} disabled={!picked.length} onClick={() => setOnly(!only)}>
        Only picked
      </button>
      {order.order === "index" ? null : (
        <button title="In the order of the data" onClick={() => setOrder(AS_GIVEN)}>
          As given
        </button>
      )}
      <span class="pager" role="group" aria-label="Pages">
        <button
          class="quiet icon"
          aria-label="Previous page"
          disabled={start === 0}
          onClick={() => setStart(Math.max(0, start - PAGE))}
        >
          ‹
        </button>
        <span>
          {total
            ? `${formatCount(start + 1)}–${formatCount(Math.min(total, start + PAGE))} of ${formatCount(total)}`
            : "none"}
        </span>
        <button
          class="quiet icon"
          aria-label="Next page"
          disabled={start + PAGE >= total}
          onClick={() => setStart(start + PAGE)}
        >
          ›
        </button>
      </span>
    </>
  );
  const body = () => (
    <Answered answer={answer}>
      {(objects) => <Rows objects={objects} clustering={ref} order={order} setOrder={setOrder} />}
    </Answered>
  );
  return (
    <Panel id="objects" class="plain" title={`Objects: ${describe(store, ref)}`} tools={tools} table={body}>
      {body()}
    </Panel>
  );
}

/** @param {{objects: Objects, clustering: string, order: Order, setOrder: (order: Order) => void}} props */
function Rows({ objects, clustering, order, setOrder }) {
  const store = useStore();
  const slots = store.labels.slots(clustering);
  const lit = store.pickedMask.value;
  if (!objects.rows.length) return <p class="empty">No objects here.</p>;
  const isAssessed = objects.rows.some((row) => row.support !== null);
  const hasWords = objects.rows.some((row) => row.words);
  const known = Object.keys(objects.rows[0].known ?? {});
  const head = (/** @type {string} */ name, /** @type {string} */ by, at = 0, kind = "") => (
    <SortHead key={`${by} ${at}`} name={name} by={by} at={at} kind={kind} order={order} setOrder={setOrder} />
  );
  /** @param {import("../core/messages.js").ObjectRow} row */
  const cell = ({ cluster: c, name }) =>
    c < 0 ? (
      "–"
    ) : (
      <button class="link" onClick={() => store.go({ cluster: c })}>
        <Mark slot={slots?.[c]} /> {name}
      </button>
    );
  return (
    <div class="scroll tall" tabindex={0}>
      <table>
        <caption>Objects</caption>
        <thead>
          <tr>
            <th scope="col">picked</th>
            {head("id", "id")}
            {head("cluster", "cluster")}
            {isAssessed ? head("confidence", "confidence") : null}
            {isAssessed ? head("support", "support") : null}
            {known.map((name, at) => head(name, "known", at))}
            {hasWords ? <th scope="col">words</th> : null}
            {objects.columns.map((name, at) => head(name, "column", objects.places[at], "value"))}
          </tr>
        </thead>
        <tbody>
          {objects.rows.map((row) => (
            <tr key={row.index} class={lit?.[row.index] ? "picked" : ""}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Pick ${row.id}`}
                  checked={Boolean(lit?.[row.index])}
                  onChange={() => pick(store, [row.index], { add: true })}
                />
              </td>
              <th scope="row" title={`object ${row.index}: pick it alone`}>
                <button class="link" onClick={() => pick(store, [row.index])}>
                  {row.id}
                </button>
              </th>
              <td>{cell(row)}</td>
              {isAssessed ? <td>{formatNumber(row.confidence, 3)}</td> : null}
              {isAssessed ? <td>{formatNumber(row.support, 3)}</td> : null}
              {known.map((name) => (
                <td key={name}>{formatNumber(row.known[name])}</td>
              ))}
              {hasWords ? <td class="words">{row.words?.join(", ")}</td> : null}
              {objects.columns.map((name) => (
                <td key={name} class="value">
                  {formatNumber(row.values[name], 7)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/**
 * The head of a column that sorts by it: once the smallest first, again the largest.
 * @param {{name: string, by: string, at: number, kind: string, order: Order, setOrder: (order: Order) => void}} props
 */
function SortHead({ name, by, at, kind, order, setOrder }) {
  const isMine = order.order === by && order.at === at;
  return (
    <th scope="col" class={kind} aria-sort={isMine ? (order.falling ? "descending" : "ascending") : undefined}>
      <button
        class="link"
        title={`Sort by ${name}`}
        data-meaning={by === "column" || by === "known" ? undefined : explain(name) || undefined}
        onClick={() => setOrder({ order: by, at, falling: isMine && !order.falling })}
      >
        {name}
        {isMine ? (order.falling ? " ▾" : " ▴") : ""}
      </button>
    </th>
  );
}
