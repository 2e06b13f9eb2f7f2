// Agreement runs: how stability grew from step to step, and what became stable.

import { useState } from "preact/hooks";
import { useAnswer } from "../core/answers.js";
import { formatCount, formatNumber, formatPercent, plural, scoreWords } from "../core/format.js";
import { LineChart } from "./line_chart.jsx";
import { Panel, Table } from "./panel.jsx";
import { Answered, Segmented } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Agreement} Agreement */

const SIDES = ["rows", "columns"];

export function AgreementView() {
  /** @type {import("../core/answers.js").Answer<Agreement>} */
  const answer = useAnswer("/api/agreement");
  return (
    <Panel
      id="agreement"
      class="plain"
      title="Agreement, step by step"
      table={() => <Answered answer={answer}>{(found) => <Tables found={found} />}</Answered>}
    >
      <Answered answer={answer}>
        {(found) => (
          <div class="agreement">
            <section class="column">
              <h3 title="Mean Jaccard index of all pairs of clusterings and its standard error">
                Stability <small>Jaccard index between clusterings; step 0 is before</small>
              </h3>
              <LineChart
                label="Stability of rows and columns by step"
                xLabel="step"
                lines={SIDES.map((side) => lineOf(found, side, `${side}_sem`)).filter((line) => line.points.length)}
              />
            </section>
            {accuracies(found).length ? (
              <section class="column">
                <h3>
                  Purity <small>against known labels</small>
                </h3>
                <LineChart
                  label="Purity by step"
                  xLabel="step"
                  lines={accuracies(found).map((name) => ({
                    ...lineOf(found, name, `${name}_sem`),
                    name: name.replace("accuracy:", ""),
                  }))}
                />
              </section>
            ) : null}
            <section class="column">
              <h3>Stable components, before and after</h3>
              <Components found={found} />
              {found.empty_rows || found.empty_columns ? (
                <p class="note">
                  {plural(found.empty_rows, "empty row")} and {plural(found.empty_columns, "empty column")} were left
                  out.
                </p>
              ) : null}
            </section>
            <section class="column wide">
              <h3>
                Stable groups <small>that all clusterings keep together</small>
              </h3>
              <Groups found={found} />
            </section>
          </div>
        )}
      </Answered>
    </Panel>
  );
}

/** @param {Agreement} found @param {string} name @param {string} [error] */
const lineOf = (found, name, error) => ({
  name,
  points: found.iterations
    .filter((one) => Number.isFinite(one[name]))
    .map((one) => ({ x: one.iteration, y: Number(one[name]), error: error ? Number(one[error]) : null })),
});

/** @param {Agreement} found @returns {string[]} */
const accuracies = (found) =>
  Object.keys(found.iterations[0] ?? {}).filter((name) => name.startsWith("accuracy:") && !name.endsWith("_sem"));

/** @param {{found: Agreement}} props */
function Components({ found }) {
  const rows = SIDES.filter((side) => found.components[side]).flatMap((side) =>
    ["before", "after"].map((when) => {
      const one = found.components[side][when];
      return [side, when, formatCount(one.number), formatCount(one.largest), formatPercent(one.share_in_groups)];
    }),
  );
  return (
    <Table
      caption="Sets that all runs keep together"
      heads={["side", "when", "number", "largest", "share in groups"]}
      rows={rows}
    />
  );
}

/** @param {{found: Agreement}} props */
function Groups({ found }) {
  const [side, setSide] = useState("columns");
  const [when, setWhen] = useState("after");
  const groups = found.groups.filter((one) => one.side === side && one.when === when);
  return (
    <>
      <div class="choices">
        <Segmented
          label="Side"
          value={side}
          onPick={setSide}
          options={[
            ["rows", "Rows", "the objects"],
            ["columns", "Columns", "what the objects are described by, such as words"],
          ]}
        />
        <Segmented
          label="When"
          value={when}
          onPick={setWhen}
          options={[
            ["before", "Before"],
            ["after", "After"],
          ]}
        />
      </div>
      {groups.length ? (
        <Table
          caption={
            side === "columns" && found.telling
              ? "Those that tell most about the clusters of the rows first"
              : "Largest first"
          }
          heads={["size", "members"]}
          rows={groups.map((one) => [
            formatCount(one.size),
            one.members.join(", ") + (one.size > one.members.length ? " …" : ""),
          ])}
        />
      ) : (
        <p class="empty">There are no such groups.</p>
      )}
    </>
  );
}

/** @param {{found: Agreement}} props */
function Tables({ found }) {
  const heads = Object.keys(found.iterations[0] ?? {});
  return (
    <div class="tables">
      <Table
        caption="Stability and purity by step"
        heads={heads.map(scoreWords)}
        rows={found.iterations.map((one) => heads.map((name) => formatNumber(one[name])))}
      />
      <Components found={found} />
      <Groups found={found} />
    </div>
  );
}
