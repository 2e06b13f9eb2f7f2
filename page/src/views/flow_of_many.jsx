// How objects flow between the clusters of several clusterings: the tiles', the tray's, or ever more clusters.
import { branchOf, clusterWords, columnName, MOST, refsOf, scopeOf, useFlow } from "../core/flow_of_many.js";
import { formatCount, formatPercent, plural } from "../core/format.js";
import { explain } from "../core/glossary.js";
import { pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { countsOf, objectsIn } from "../draw/flow_of_many.js";
import { repeated } from "../draw/palette.js";
import { FlowPicture } from "./flow_picture.jsx";
import { PagedTable } from "./paged_table.jsx";
import { Panel } from "./panel.jsx";
import { Answered, Segmented } from "./parts.jsx";
import { Term } from "./term.jsx";

/** @typedef {import("../core/messages.js").FlowMessage} FlowMessage */

const SCOPES = [
  ["tiles", "tiles", "The groups above, each by its clustering, the largest eight"],
  ["tray", "tray", "The clusterings in the tray, the first eight"],
  ["clusters", "numbers of clusters", "The consensus of the selected branch in few clusters, in more, and so on"],
];

export function FlowsView() {
  const store = useStore();
  const scope = scopeOf(store);
  const answer = useFlow();
  const tools = (
    <>
      <Segmented
        label="What the flow is over"
        options={SCOPES}
        value={scope}
        onPick={(flow) => store.go({ flow, order: "" })}
      />
      {scope === "clusters" ? <Finest shown={answer.value} /> : null}
    </>
  );
  const refs = refsOf(store);
  const isEmpty = scope !== "clusters" && refs.length < 2;
  const again = /** @type {{again?: () => void}} */ (answer).again;
  const body = (/** @type {(flow: FlowMessage) => import("preact").ComponentChild} */ draw) =>
    isEmpty ? (
      <Nothing scope={scope} />
    ) : again ? (
      <p class="empty" role="alert">
        {answer.error} <button onClick={again}>Try again</button>
      </p>
    ) : (
      <Answered answer={answer}>{draw}</Answered>
    );
  return (
    <Panel
      id="flow"
      class="plain"
      title={titles(store, scope)}
      name="Flow"
      tools={tools}
      table={() => body((flow) => <FlowTable flow={flow} />)}
    >
      {body((flow) => (
        <div class="flows-body">
          <FlowPicture flow={flow} />
          <Columns flow={flow} canMove={scope !== "clusters"} />
          <p class="note">
            A block is a <Term word="cluster" />, a ribbon its objects on the way to the next clustering: click one to
            pick them. Clusters of one color match; the numbers are each clustering's own.
            {repeated(Math.max(...flow.header.columns.map((one) => one.clusters)))}
            {scope !== "clusters" && refs.length > MOST ? ` The first ${MOST} of ${refs.length} are shown.` : ""}
          </p>
        </div>
      ))}
    </Panel>
  );
}

/** @param {import("../core/store.js").Store} store @param {string} scope */
function titles(store, scope) {
  if (scope !== "clusters") return "Flow";
  return `Flow: consensus of ${formatCount(store.tree.value.size[branchOf(store)])}`;
}

/** @param {{scope: string}} props */
function Nothing({ scope }) {
  return (
    <p class="empty">
      {scope === "tray" ? (
        <>
          A flow takes at least two clusterings: select one and press <kbd>S</kbd> to put it into the tray, then
          another.
        </>
      ) : (
        "A flow takes at least two clusterings: cut into more groups."
      )}
    </p>
  );
}

/** The largest number of clusters. @param {{shown: FlowMessage | null}} props */
function Finest({ shown }) {
  const store = useStore();
  return (
    <label class="choice" title="The largest number of clusters that is shown">
      up to{" "}
      <input
        class="number"
        type="number"
        min={3}
        max={60}
        value={store.view.value.most || shown?.header.most || ""}
        onChange={(event) => {
          const most = Math.round(Number(event.currentTarget.value));
          store.go({ most: Math.max(3, Math.min(60, most || 3)) });
        }}
      />
    </label>
  );
}

/** What can be done with every column: show it, move it. @param {{flow: FlowMessage, canMove: boolean}} props */
function Columns({ flow, canMove }) {
  const store = useStore();
  const refs = flow.header.columns.map((one) => one.ref);
  /** @param {number} at @param {number} by */
  const move = (at, by) => {
    const order = [...refs];
    [order[at], order[at + by]] = [order[at + by], order[at]];
    store.go({ order: order.join(",") });
    store.message.value = `${columnName(store, refs[at])} is number ${at + by + 1} of ${refs.length} now.`;
  };
  return (
    <div class="flows-columns">
      <ol aria-label="Clusterings of the flow, from left to right">
        {refs.map((ref, at) => {
          const name = columnName(store, ref);
          return (
            <li key={ref}>
              {canMove ? (
                <button
                  class="quiet icon"
                  disabled={at === 0}
                  aria-label={`Move ${name} to the left`}
                  title="To the left"
                  onClick={() => move(at, -1)}
                >
                  ←
                </button>
              ) : null}
              <button
                class="show"
                aria-pressed={store.selected.value === ref}
                title={`Show ${name} in the picture`}
                onClick={() => store.go({ sel: ref })}
              >
                {name}
                {flow.header.usual && ref.endsWith(`c${flow.header.usual}`) ? (
                  <small title={explain("usual")}> usual</small>
                ) : null}
              </button>
              {canMove ? (
                <button
                  class="quiet icon"
                  disabled={at === refs.length - 1}
                  aria-label={`Move ${name} to the right`}
                  title="To the right"
                  onClick={() => move(at, 1)}
                >
                  →
                </button>
              ) : null}
            </li>
          );
        })}
      </ol>
      {canMove && store.view.value.order ? (
        <button
          class="quiet"
          title="Put the clusterings in the order in which neighbors are most alike"
          onClick={() => store.go({ order: "" })}
        >
          by likeness
        </button>
      ) : null}
    </div>
  );
}

/** Every ribbon as a row. @param {{flow: FlowMessage}} props */
function FlowTable({ flow }) {
  const store = useStore();
  const { columns, tables } = flow.header;
  const counts = countsOf(columns);
  const rows = tables.flatMap((table, gap) =>
    table.flatMap((line, from) => line.flatMap((count, to) => (count ? [{ gap, from, to, count }] : []))),
  );
  const name = (/** @type {number} */ at) => columnName(store, columns[at].ref);
  const words = (/** @type {number} */ at, /** @type {number} */ c) => clusterWords(columns[at], c);
  return (
    <PagedTable
      caption={`Objects that go from each cluster to each of the next clustering, ${plural(rows.length, "pair")}`}
      heads={["objects", "from", "cluster", "to", "its cluster", "of the first", "of the second"]}
      count={rows.length}
      row={(at) => {
        const { gap, from, to, count } = rows[at];
        return [
          formatCount(count),
          name(gap),
          words(gap, from),
          name(gap + 1),
          words(gap + 1, to),
          formatPercent(count / counts[gap][from]),
          formatPercent(count / counts[gap + 1][to]),
        ];
      }}
      onPick={(at) => {
        const { gap, from, to } = rows[at];
        const blocks = [
          { column: gap, cluster: from },
          { column: gap + 1, cluster: to },
        ];
        pick(store, objectsIn(flow.arrays.labels, flow.shapes.labels[1], counts, blocks));
      }}
    />
  );
}
