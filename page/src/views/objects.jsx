// The objects of the selected clustering, page by page, with the user's own ids.

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../core/answers.js";
import { describe } from "../core/commands.js";
import { formatCount, formatNumber } from "../core/format.js";
import { useStore } from "../core/store.js";
import { Panel } from "./panel.jsx";
import { Answered, Mark, Segmented } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Objects} Objects */

const PAGE = 50;
const ALL = -2;
const MISSING = -1;

export function ObjectsView() {
  const store = useStore();
  const ref = store.selected.value;
  const { cluster } = store.view.value;
  const [start, setStart] = useState(0);
  const [order, setOrder] = useState("index");
  const [missing, setMissing] = useState(false);
  const filter = missing ? MISSING : cluster >= 0 ? cluster : ALL;
  useEffect(() => setStart(0), [ref, filter, order]);
  /** @type {import("../core/answers.js").Answer<Objects>} */
  const answer = useAnswer(
    ref ? `/api/objects/${ref}?start=${start}&count=${PAGE}&cluster=${filter}&order=${order}` : null,
  );
  if (!ref) return <p class="empty">Select a clustering to see its objects.</p>;
  const clusters = store.labels.get(ref)?.clusters ?? 0;
  const total = answer.value?.total ?? 0;
  const pick = (/** @type {number} */ to) => {
    setMissing(to === MISSING);
    store.go({ cluster: Math.max(-1, to) });
  };
  const tools = (
    <>
      <label class="field">
        Cluster{" "}
        <select value={filter} onChange={(e) => pick(Number(e.currentTarget.value))}>
          <option value={ALL}>all</option>
          {Array.from({ length: clusters }, (_, c) => (
            <option key={c} value={c}>
              {answer.value?.names?.[c] ?? c}
            </option>
          ))}
          <option value={MISSING}>without a label</option>
        </select>
      </label>
      <Segmented
        label="Order"
        value={order}
        onPick={setOrder}
        options={[
          ["index", "As given", "In the order of the data"],
          ["confidence", "Least confidence", "By confidence, the least first"],
          ["support", "Least support", "By support, floaters first"],
        ]}
      />
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
  const body = () => <Answered answer={answer}>{(objects) => <Rows objects={objects} clustering={ref} />}</Answered>;
  return (
    <Panel id="objects" class="plain" title={`Objects: ${describe(store, ref)}`} tools={tools} table={body}>
      {body()}
    </Panel>
  );
}

/** @param {{objects: Objects, clustering: string}} props */
function Rows({ objects, clustering }) {
  const store = useStore();
  const slots = store.labels.slots(clustering);
  if (!objects.rows.length) return <p class="empty">No objects here.</p>;
  const isAssessed = objects.rows.some((row) => row.support !== null);
  const known = Object.keys(objects.rows[0].known ?? {});
  const values = Object.keys(objects.rows[0].values ?? {});
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
            <th scope="col">id</th>
            <th scope="col">cluster</th>
            {isAssessed ? <th scope="col">confidence</th> : null}
            {isAssessed ? <th scope="col">support</th> : null}
            {known.map((name) => (
              <th scope="col" title="known label">
                {name}
              </th>
            ))}
            {values.map((name) => (
              <th scope="col" class="value">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {objects.rows.map((row) => (
            <tr key={row.index}>
              <th scope="row" title={`object ${row.index}`}>
                {row.id}
              </th>
              <td>{cell(row)}</td>
              {isAssessed ? <td>{formatNumber(row.confidence, 3)}</td> : null}
              {isAssessed ? <td>{formatNumber(row.support, 3)}</td> : null}
              {known.map((name) => (
                <td>{formatNumber(row.known[name])}</td>
              ))}
              {values.map((name) => (
                <td class="value">{formatNumber(row.values[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
