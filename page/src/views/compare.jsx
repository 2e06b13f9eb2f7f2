// The pinned clustering beside another: which clusters flow into which, and which objects move.

import { useAnswer } from "../core/answers.js";
import { describe, sentence } from "../core/commands.js";
import { formatCount, formatNumber, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { clusterName } from "../draw/flow_of_two.js";
import { Flow } from "./flow_of_two.jsx";
import { Panel, Table } from "./panel.jsx";
import { Answered, Facts, HeatTable, Mark } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Compare} Compare */

const MEASURES = /** @type {Record<string, string>} */ ({
  cluster_difference: "cluster difference",
  nmi: "normalized mutual information",
  adjusted_rand: "adjusted Rand index",
  jaccard: "Jaccard index",
  variation_of_information: "variation of information",
});

export function CompareView() {
  const store = useStore();
  const { cmp } = store.view.value;
  const b = cmp ?? store.selected.value;
  const a = b && store.opposite(b);
  const two = a && b && a !== b;
  /** @type {import("../core/answers.js").Answer<Compare>} */
  const answer = useAnswer(two ? `/api/compare/${a}/${b}` : null);
  const tools = (
    <>
      {two ? (
        <button class="quiet" title="Pin the other one: its colors rule" onClick={() => store.go({ pin: b, cmp: a })}>
          Swap
        </button>
      ) : null}
      {cmp ? (
        <button
          class="quiet"
          title="Compare whatever is selected with the pinned one"
          onClick={() => store.go({ cmp: null })}
        >
          Follow the selection
        </button>
      ) : null}
    </>
  );
  if (!two) {
    return (
      <Panel id="compare" class="plain" title="Compare" tools={tools} table={() => <Nothing />}>
        <Nothing />
      </Panel>
    );
  }
  const title = `${sentence(describe(store, a))}${store.view.value.pin ? " (pinned)" : ""} and ${describe(store, b)}`;
  return (
    <Panel
      id="compare"
      class="plain"
      title={title}
      tools={tools}
      table={() => (
        <Answered answer={answer}>
          {(shown) => (
            <div class="tables">
              <Contingency shown={shown} />
              <Measures shown={shown} />
              <Moved shown={shown} />
            </div>
          )}
        </Answered>
      )}
    >
      <Answered answer={answer}>
        {(shown) => (
          <div class={`compare ${Math.max(...shown.clusters) > 8 ? "many" : ""}`}>
            <section class="column">
              <h3>
                Flow <small>objects from left to right</small>
              </h3>
              <Flow shown={shown} />
            </section>
            <section class="column">
              <h3>Counts</h3>
              <Contingency shown={shown} />
            </section>
            <section class="column">
              <Measures shown={shown} />
            </section>
            <section class="column">
              <Moved shown={shown} />
            </section>
          </div>
        )}
      </Answered>
    </Panel>
  );
}

function Nothing() {
  return (
    <p class="empty">
      Comparing takes two: select another clustering than the pinned one. <kbd>P</kbd> pins the selected one,{" "}
      <kbd>X</kbd> holds one here for comparison.
    </p>
  );
}

/** @param {{shown: Compare}} props */
function Contingency({ shown }) {
  const store = useStore();
  const partner = new Map(shown.matched.map(([a, b]) => [b, a]));
  const all = (/** @type {number} */ side) => [...Array(shown.clusters[side]).keys()];
  // matches stand on the diagonal
  const across = all(1).sort((p, q) => (partner.get(p) ?? Infinity) - (partner.get(q) ?? Infinity) || p - q);
  const heads = (/** @type {number} */ side) => {
    const ref = side ? shown.b : shown.a;
    const slots = store.labels.slots(ref);
    return (side ? across : all(0)).map((c) => (
      <button
        class="link"
        title="Pick out this cluster"
        onClick={() => store.go({ sel: ref, cluster: c, cmp: shown.b })}
      >
        <Mark slot={slots?.[c]} /> {clusterName(shown, side, c)}
      </button>
    ));
  };
  return (
    <>
      <HeatTable
        caption="rows: the first, columns: the second"
        corner="first"
        counts={shown.table.map((row) => across.map((c) => row[c]))}
        rows={heads(0)}
        columns={heads(1)}
      />
      {shown.names[1] ? null : <p class="note">Clusters of one color match; the numbers are each clustering's own.</p>}
      {shown.only_a || shown.only_b ? (
        <p class="note">
          {plural(shown.only_a, "object")} labeled in the first one only, {formatCount(shown.only_b)} in the second
          only.
        </p>
      ) : null}
    </>
  );
}

/** @param {{shown: Compare}} props */
function Measures({ shown }) {
  const facts = Object.entries(shown.measures).map(([name, value]) => [MEASURES[name] ?? name, formatNumber(value, 3)]);
  return (
    <section>
      <h3>How alike</h3>
      <Facts facts={facts} />
    </section>
  );
}

/** @param {{shown: Compare}} props */
function Moved({ shown }) {
  const store = useStore();
  const from = store.labels.slots(shown.a);
  const to = store.labels.slots(shown.b);
  const cell = (/** @type {number} */ side, /** @type {number} */ c) =>
    c < 0 ? (
      "–"
    ) : (
      <>
        <Mark slot={(side ? to : from)?.[c]} /> {clusterName(shown, side, c)}
      </>
    );
  return (
    <section>
      <h3 title="Objects outside the pairs of clusters that overlap most">
        Moved objects <small>{formatCount(shown.n_moved)}</small>
      </h3>
      {shown.n_moved ? (
        <Table
          caption={shown.moved.length < shown.n_moved ? `First ${shown.moved.length}` : "All of them"}
          heads={["id", "from", "to"]}
          rows={shown.moved.map((one) => [one.id, cell(0, one.from), cell(1, one.to)])}
        />
      ) : (
        <p class="note">None: the clusters hold the same objects.</p>
      )}
    </section>
  );
}
