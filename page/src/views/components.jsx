// Stable components: objects that the clusterings of a branch keep together, and those that no majority places.

import { useAnswer } from "../core/answers.js";
import { describe } from "../core/commands.js";
import { formatCount, formatPercent, plural } from "../core/format.js";
import { pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { Panel, Table } from "./panel.jsx";
import { Answered, Facts } from "./parts.jsx";
import { Floaters } from "./trust.jsx";

/** @typedef {import("../core/messages.js").Components} Components */

const SOME =
  "No two objects stay together in all: the clusterings farthest from the medoid are left out, 5 % of the branch";

export function ComponentsView() {
  const store = useStore();
  const ref = store.selected.value;
  /** @type {import("../core/answers.js").Answer<Components>} */
  const answer = useAnswer(ref ? `/api/components/${ref}` : null);
  if (!ref) return <p class="empty">Select a branch to see what its clusterings agree on.</p>;
  const tables = () => (
    <Answered answer={answer}>
      {(found) => (
        <div class="tables">
          <Table
            caption={`Stable components of ${plural(found.n_members, "clustering")}`}
            heads={["component", "objects", "ids"]}
            rows={found.components.map((one, /** @type {number} */ at) => [at, formatCount(one.size), ids(one)])}
          />
          <Loose found={found} />
        </div>
      )}
    </Answered>
  );
  return (
    <Panel id="components" class="plain" title={`Stable components: ${describe(store, ref)}`} table={tables}>
      <Answered answer={answer}>{(found) => <Picture found={found} />}</Answered>
    </Panel>
  );
}

/** @param {Components["components"][number]} component */
const ids = (component) =>
  component.ids.join(", ") +
  (component.size > component.ids.length ? ` … and ${formatCount(component.size - component.ids.length)} more` : "");

/** @param {{found: Components}} props */
function Picture({ found }) {
  const store = useStore();
  const most = Math.max(1, found.largest);
  const several = found.components.filter((one) => one.size > 1);
  return (
    <div class="components">
      <section class="column">
        <h3>In short</h3>
        <Facts
          facts={[
            ["clusterings in the branch", formatCount(found.n_members)],
            ...(found.among < found.n_members
              ? [["together in", `the ${formatCount(found.among)} most central of them`, SOME]]
              : []),
            [
              "components",
              formatCount(found.n_components),
              "sets of objects that no clustering of the branch separates",
            ],
            ["objects in components of two or more", formatPercent(found.share_in_groups)],
            ["largest", plural(found.largest, "object")],
          ]}
        />
      </section>
      <section class="column wide">
        <h3>
          Components of two objects or more <small>largest first</small>
        </h3>
        {several.length && found.among < found.n_members ? (
          <p class="note">
            No two objects stay together in all {formatCount(found.n_members)} clusterings; these do in at least{" "}
            {formatPercent(found.among / found.n_members)} of them.
          </p>
        ) : null}
        {several.length ? (
          <ul class="bars parts">
            {several.map((one, at) => (
              <li key={at}>
                <span class="bar">
                  <span style={{ width: `${(100 * one.size) / most}%` }}></span>
                </span>
                <span class="count">{formatCount(one.size)}</span>
                {one.rows ? (
                  <button
                    class="link text"
                    title={`Pick these objects: ${ids(one)}`}
                    onClick={() => pick(store, one.rows ?? [], { what: "a stable component" })}
                  >
                    {ids(one)}
                  </button>
                ) : (
                  <span class="text" title={ids(one)}>
                    {ids(one)}
                  </span>
                )}
              </li>
            ))}
          </ul>
        ) : (
          <p class="empty">
            No two objects stay together in all {formatCount(found.n_members)} clusterings
            {found.among < found.n_members ? `, nor in the ${formatCount(found.among)} most central ones` : ""}: select
            a smaller branch.
          </p>
        )}
      </section>
      <section class="column">
        <h3>Floaters</h3>
        <Loose found={found} />
      </section>
    </div>
  );
}

/** @param {{found: Components}} props */
function Loose({ found }) {
  if (!found.floaters.length) return <p class="note">No floaters: every object is where a majority puts it.</p>;
  return <Floaters floaters={found.floaters} />;
}
