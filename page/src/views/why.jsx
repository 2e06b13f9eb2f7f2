// Why the selected branch is different from all other clusterings: in words, and side by side.

import { useAnswer } from "../core/answers.js";
import { describe } from "../core/commands.js";
import { formatNumber, formatPercent, plural, scoreWords } from "../core/format.js";
import { useStore } from "../core/store.js";
import { Panel, Table } from "./panel.jsx";
import { Answered } from "./parts.jsx";
import { SpreadBars } from "./spread.jsx";
import { Term } from "./term.jsx";

/** @typedef {import("../core/messages.js").Why} Why */

export function WhyView() {
  const store = useStore();
  const ref = store.selected.value;
  /** @type {import("../core/answers.js").Answer<Why>} */
  const answer = useAnswer(ref ? `/api/why/${ref.replace(/c$/, "m")}` : null);
  if (!ref) return <p class="empty">Select a branch to see how it differs from the others.</p>;
  return (
    <Panel
      id="why"
      class="plain"
      title={`Why it is different: ${describe(store, ref)}`}
      name="Why"
      table={() => <Answered answer={answer}>{(why) => <Tables why={why} />}</Answered>}
    >
      <Answered answer={answer}>{(why) => <Reasons why={why} />}</Answered>
    </Panel>
  );
}

/** @param {{why: Why}} props */
function Reasons({ why }) {
  if (!why.n_outside)
    return <p class="empty">These are all clusterings: select a branch to compare it with the rest.</p>;
  return (
    <div class="why">
      <p class="note">
        {plural(why.n_inside, "clustering")} of this branch against {plural(why.n_outside, "other clustering")}
      </p>
      {why.words.length ? (
        <ul class="sentences">
          {why.words.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      ) : (
        <p>Nothing sets it clearly apart from the others by what is known of its clusterings.</p>
      )}
      <div class="detail">
        {why.followed ? (
          <section class="column">
            <h3 title="Share of each column's variance that lies between the clusters, on average over clusterings">
              Columns that its clusters follow <small>here ● elsewhere ○</small>
            </h3>
            <Pairs rows={why.followed} most={1} format={formatPercent} />
          </section>
        ) : null}
        {why.weights.map((one) => (
          <section class="column" key={one.space}>
            <h3 title="Mean weights, those of each clustering with mean 1">
              Weights of {one.space} <small>here ● elsewhere ○</small>
            </h3>
            <Pairs
              rows={one.rows}
              most={Math.max(...one.rows.flatMap((row) => [row.inside, row.outside]))}
              format={(value) => formatNumber(value, 2)}
            />
          </section>
        ))}
        <section class="column">
          <h3>
            Numbers of its clusterings <small>filled here, the line elsewhere</small>
          </h3>
          <Strips why={why} />
          {why.methods.length > 1 ? (
            <>
              <h3>Methods</h3>
              <Pairs rows={why.methods.map((one) => ({ ...one, feature: one.name }))} most={1} format={formatPercent} />
            </>
          ) : null}
        </section>
      </div>
    </div>
  );
}

/** @param {Why} why */
const strips = (why) => [
  ...why.known.map((one) => ({ ...one, name: scoreWords(`accuracy:${one.name}`) })),
  { ...why.clusters, name: "clusters" },
  ...why.scores,
];

/** @param {{why: Why}} props */
function Strips({ why }) {
  return (
    <ul class="strips">
      {strips(why).map((one) => (
        <li key={one.name}>
          <span class="text">
            <Term word={one.name} />
          </span>
          <SpreadBars spread={one} what={one.name} />
          <span class="count">
            {formatNumber(one.mean_inside, 3)} <small>/ {formatNumber(one.mean_outside, 3)}</small>
          </span>
        </li>
      ))}
    </ul>
  );
}

/**
 * Two dots on a line for each row: here filled, elsewhere hollow.
 * @param {{rows: import("../core/messages.js").Sides[], most: number, format: (value: number) => string}} props
 */
function Pairs({ rows, most, format }) {
  const place = (/** @type {number} */ value) => `${(100 * value) / (most || 1)}%`;
  return (
    <ul class="pairs">
      {rows.map((row) => (
        <li key={row.feature} title={`${row.feature}: ${format(row.inside)} here, ${format(row.outside)} elsewhere`}>
          <span class="text">{row.feature}</span>
          <span class="track">
            <i
              class="between"
              style={{
                left: place(Math.min(row.inside, row.outside)),
                width: place(Math.abs(row.inside - row.outside)),
              }}
            ></i>
            <i class="elsewhere" style={{ left: place(row.outside) }}></i>
            <i class="here" style={{ left: place(row.inside) }}></i>
          </span>
          <span class="count">
            {format(row.inside)} <small>/ {format(row.outside)}</small>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** @param {{why: Why}} props */
function Tables({ why }) {
  const sides = ["", "here", "elsewhere"];
  return (
    <div class="tables">
      <Table caption="In words" heads={["what differs"]} rows={why.words.map((one) => [one])} />
      <Table
        caption="Numbers of its clusterings, on average"
        heads={sides}
        rows={strips(why).map((one) => [one.name, formatNumber(one.mean_inside, 3), formatNumber(one.mean_outside, 3)])}
      />
      {why.followed ? (
        <Table
          caption="Share of each column's variance between clusters"
          heads={sides}
          rows={why.followed.map((one) => [one.feature, formatPercent(one.inside), formatPercent(one.outside)])}
        />
      ) : null}
      {why.weights.map((one) => (
        <Table
          key={one.space}
          caption={`Mean weights of ${one.space}`}
          heads={sides}
          rows={one.rows.map((row) => [row.feature, formatNumber(row.inside, 3), formatNumber(row.outside, 3)])}
        />
      ))}
      {why.methods.length ? (
        <Table
          caption="Methods"
          heads={sides}
          rows={why.methods.map((one) => [one.name, formatPercent(one.inside), formatPercent(one.outside)])}
        />
      ) : null}
    </div>
  );
}
