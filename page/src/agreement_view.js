// Agreement runs: how stability grew from step to step, and what became stable.
import { html } from "htm/preact";
import { useAnswer } from "./answers.js";
import { LineChart } from "./line_chart.js";
import { Panel, Table, show } from "./panel.js";
import { Answered, many, percent, plural } from "./parts.js";

const SIDES = ["rows", "columns"];

export function AgreementView() {
  const answer = useAnswer("/api/agreement"), found = answer.value;
  return html`<${Panel} id="agreement" class="plain" title="Agreement, step by step" table=${() => html`<${Answered} answer=${answer}><${Tables} found=${found} /><//>`}>
    <${Answered} answer=${answer}><div class="agreement">
      <section class="column"><h3>Stability <small>share of pairs that runs agree on, with standard errors</small></h3>
        <${LineChart} label="Stability of rows and columns by step" xLabel="step" lines=${SIDES.map((side) => lineOf(found, side, `${side}_sem`)).filter((line) => line.points.length)} /></section>
      ${accuracies(found).length ? html`<section class="column"><h3>Accuracy <small>against known labels</small></h3>
        <${LineChart} label="Accuracy by step" xLabel="step" lines=${accuracies(found).map((name) => ({ ...lineOf(found, name), name: name.replace("accuracy:", "") }))} /></section>` : null}
      <section class="column"><h3>Stable components, before and after</h3><${Components} found=${found} />
        ${found?.empty_rows || found?.empty_columns ? html`<p class="note">${plural(found.empty_rows ?? 0, "empty row")} and ${plural(found.empty_columns ?? 0, "empty column")} were left out.</p>` : null}</section>
      <section class="column wide"><h3>Groups that became stable</h3><${Groups} found=${found} /></section>
    </div><//>
  <//>`;
}

/** @param {any} found @param {string} name @param {string} [error] */
const lineOf = (found, name, error) => ({
  name,
  points: (found?.iterations ?? []).filter((/** @type {any} */ one) => Number.isFinite(one[name]))
    .map((/** @type {any} */ one) => ({ x: one.iteration, y: one[name], error: error ? one[error] : null })),
});

/** @param {any} found @returns {string[]} */
const accuracies = (found) => Object.keys(found?.iterations?.[0] ?? {}).filter((name) => name.startsWith("accuracy:") && !name.endsWith("_sem"));

/** @param {{found: any}} props */
function Components({ found }) {
  const rows = SIDES.filter((side) => found?.components?.[side]).flatMap((side) => ["before", "after"].map((when) => {
    const one = found.components[side][when];
    return [side, when, many(one.number), many(one.largest), percent(one.share_in_groups)];
  }));
  return html`<${Table} caption="Sets that all runs keep together" heads=${["side", "when", "number", "largest", "share in groups"]} rows=${rows} />`;
}

/** @param {{found: any}} props */
function Groups({ found }) {
  const groups = found?.groups ?? [];
  if (!groups.length) return html`<p class="empty">No group became stable.</p>`;
  return html`<${Table} caption="Largest first" heads=${["side", "when", "size", "members"]}
    rows=${groups.map((/** @type {any} */ one) => [one.side, one.when, many(one.size), one.members.join(", ") + (one.size > one.members.length ? " …" : "")])} />`;
}

/** @param {{found: any}} props */
function Tables({ found }) {
  const heads = Object.keys(found?.iterations?.[0] ?? {});
  return html`<div class="tables">
    <${Table} caption="Stability and accuracy by step" heads=${heads} rows=${(found?.iterations ?? []).map((/** @type {any} */ one) => heads.map((name) => show(one[name])))} />
    <${Components} found=${found} /><${Groups} found=${found} />
  </div>`;
}
