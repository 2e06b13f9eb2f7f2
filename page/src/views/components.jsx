// Stable components: objects that the clusterings of a branch keep together, and those that belong nowhere for sure.

import { useAnswer } from "../core/answers.js";
import { describe } from "../core/commands.js";
import { formatCount, formatNumber, formatPercent, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { Panel, Table } from "./panel.jsx";
import { Answered, Facts } from "./parts.jsx";

export function ComponentsView() {
  const store = useStore();
  const ref = store.selected.value;
  const answer = useAnswer(ref ? `/api/components/${ref}` : null);
  const found = answer.value;
  if (!ref) return <p class="empty">Select a branch to see what its clusterings agree on.</p>;
  const tables = () => (
    <Answered answer={answer}>
      <div class="tables">
        <Table
          caption={`Stable components of ${plural(found?.n_members ?? 0, "clustering")}`}
          heads={["component", "objects", "ids"]}
          rows={(found?.components ?? []).map((/** @type {any} */ one, /** @type {number} */ at) => [
            at,
            formatCount(one.size),
            ids(one),
          ])}
        />
        <Floaters found={found} />
      </div>
    </Answered>
  );
  return (
    <Panel id="components" class="plain" title={`Stable components: ${describe(store, ref)}`} table={tables}>
      <Answered answer={answer}>
        <Picture found={found} />
      </Answered>
    </Panel>
  );
}

/** @param {{size: number, ids: any[]}} component */
const ids = (component) =>
  component.ids.join(", ") +
  (component.size > component.ids.length ? ` … and ${formatCount(component.size - component.ids.length)} more` : "");

/** @param {{found: any}} props */
function Picture({ found }) {
  const most = Math.max(1, found.largest);
  const several = found.components.filter((/** @type {any} */ one) => one.size > 1);
  return (
    <div class="components">
      <section class="column">
        <h3>In short</h3>
        <Facts
          facts={[
            ["clusterings in the branch", formatCount(found.n_members)],
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
        {several.length ? (
          <ul class="bars parts">
            {several.map((/** @type {any} */ one, /** @type {number} */ at) => (
              <li key={at}>
                <span class="bar">
                  <span style={{ width: `${(100 * one.size) / most}%` }}></span>
                </span>
                <span class="count">{formatCount(one.size)}</span>
                <span class="text" title={ids(one)}>
                  {ids(one)}
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="empty">
            No two objects stay together in all {formatCount(found.n_members)} clusterings: select a smaller branch.
          </p>
        )}
      </section>
      <section class="column">
        <h3>Floaters</h3>
        <Floaters found={found} />
      </section>
    </div>
  );
}

/** @param {{found: any}} props */
function Floaters({ found }) {
  if (!found?.floaters.length) return <p class="note">No floaters: every object has a cluster it mostly belongs to.</p>;
  return (
    <Table
      caption="Floaters, least sure first"
      heads={["id", "confidence"]}
      rows={found.floaters.map((/** @type {any} */ one) => [one.id, formatNumber(one.confidence, 3)])}
    />
  );
}
