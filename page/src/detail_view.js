// The selected clustering: its clusters, what sets them apart, how sure its objects are, how it was made.
import { html } from "htm/preact";
import { useAnswer } from "./answers.js";
import { describe, sentence } from "./commands.js";
import { FeatureRows } from "./features.js";
import { colorOf } from "./palette.js";
import { Panel, Table, show } from "./panel.js";
import { Answered, Facts, HeatTable, Mark, many, percent, plural } from "./parts.js";
import { useStore } from "./state.js";

export function DetailView() {
  const store = useStore(), ref = store.selected.value;
  const answer = useAnswer(ref ? `/api/detail/${ref}` : null), detail = answer.value;
  if (!ref) return html`<p class="empty">Select a branch of the tree or a tile to see it here.</p>`;
  const title = sentence(describe(store, ref));
  return html`<${Panel} id="detail" title=${title} class="plain" table=${() => html`<${Answered} answer=${answer}><${Tables} detail=${detail} /><//>`}>
    <${Answered} answer=${answer}><div class="detail">
      <div class="column"><${Clusters} detail=${detail} /><${Weights} detail=${detail} /></div>
      <div class="column features"><${Features} detail=${detail} /></div>
      <div class="column sure"><${Summary} detail=${detail} /><${Confidence} detail=${detail} /></div>
      <${Known} detail=${detail} />
      <${Made} detail=${detail} />
    </div><//>
  <//>`;
}

/** Cluster sizes as bars; a click picks one out. @param {{detail: any}} props */
function Clusters({ detail }) {
  const store = useStore(), slots = store.labels.slots(detail.ref), { cluster } = store.view.value;
  const most = Math.max(1, ...detail.sizes), total = detail.sizes.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
  return html`<section><h3>Clusters</h3>
    <ul class="bars" tabindex="-1">${detail.sizes.map((/** @type {number} */ size, /** @type {number} */ c) => html`<li key=${c}>
      <button aria-pressed=${cluster === c} title="Pick out this cluster in the tiles" onClick=${() => pickCluster(store, detail.ref, c)}>
        <${Mark} slot=${slots?.[c]} /><span class="number">${c}</span>
        <span class="bar"><span style=${{ width: `${(100 * size) / most}%`, background: slots ? colorOf(slots[c]) : undefined }}></span></span>
        <span class="count">${many(size)}</span><span class="share">${percent(size / total)}</span>
      </button></li>`)}</ul>
    ${detail.n_missing ? html`<p class="note">${plural(detail.n_missing, "object")} without a label</p>` : null}
  </section>`;
}

/** @param {import("./state.js").Store} store @param {string} ref @param {number} cluster */
export const pickCluster = (store, ref, cluster) =>
  store.go({ sel: ref, cluster: store.view.value.cluster === cluster && store.selected.value === ref ? -1 : cluster });

/** @param {{detail: any}} props */
function Features({ detail }) {
  const store = useStore(), { cluster } = store.view.value, slots = store.labels.slots(detail.ref);
  if (!detail.features) return html`<section><h3>What sets clusters apart</h3><p class="empty">There is no data table here, only labels.</p></section>`;
  const picked = detail.features.filter((/** @type {any} */ one) => cluster < 0 || one.cluster === cluster);
  const most = cluster < 0 ? 3 : 8;
  return html`<section><h3 title="Cohen's d: how far the mean of the cluster lies from the mean of the rest, in standard deviations; the line is its 95 % interval">
      What sets ${cluster < 0 ? "clusters" : `cluster ${cluster}`} apart <small>effect size d, 95 % interval</small></h3>
    <${FeatureRows} clusters=${picked} most=${most} slots=${slots} />
    ${cluster < 0 ? html`<p class="note">The three largest of each cluster; pick a cluster for more.</p>` : null}
  </section>`;
}

/** @param {{detail: any}} props */
function Summary({ detail }) {
  const store = useStore();
  const facts = [
    ["clusters", many(detail.clusters)],
    ["stands for", plural(detail.size, "clustering")],
    ...(detail.leaf === null || detail.leaf === undefined ? [] : [["this is", describe(store, `${detail.leaf}m`)]]),
    ...Object.entries(detail.scores).filter(([name]) => name !== "clusters").map(([name, value]) => [name, show(value)]),
  ];
  return html`<section><h3>In short</h3><${Facts} facts=${facts} /></section>`;
}

/** @param {{detail: any}} props */
function Confidence({ detail }) {
  const sure = detail.confidence, store = useStore();
  if (!sure) return null;
  const most = Math.max(1, ...sure.histogram);
  return html`<section><h3 title="The share of the branch's clusterings whose vote agrees with an object's cluster">Confidence of objects</h3>
    <div class="histogram" role="img" aria-label=${`Confidence from 0 to 1: mean ${show(sure.mean, 3)}, ${plural(sure.n_floaters, "floater")}`}>
      ${sure.histogram.map((/** @type {number} */ count, /** @type {number} */ at) => html`<span key=${at} title=${`${(at / 20).toFixed(2)} to ${((at + 1) / 20).toFixed(2)}: ${many(count)}`}
        class=${at / 20 < sure.threshold ? "low" : ""} style=${{ height: `${(100 * count) / most}%` }}></span>`)}
    </div>
    <p class="scale"><span>0</span><span>${sure.threshold}</span><span>1</span></p>
    <p class="note">Mean ${show(sure.mean, 3)}. ${sure.n_floaters
      ? html`${plural(sure.n_floaters, "floater")}, no majority puts them where they are: <button class="link" onClick=${() => store.go({ tab: "objects" })}>see objects</button>`
      : "No floaters: every object is where a majority puts it."}</p>
    ${detail.floaters.length ? html`<${Floaters} detail=${detail} />` : null}
  </section>`;
}

/** @param {{detail: any}} props */
function Floaters({ detail }) {
  return html`<${Table} caption="Least sure objects" heads=${["id", "cluster", "confidence"]}
    rows=${detail.floaters.map((/** @type {any} */ one) => [one.id, one.cluster, show(one.confidence, 3)])} most=${100} />`;
}

/** @param {any} value @returns {string} */
const asText = (value) =>
  Array.isArray(value) ? value.map(asText).join(", ") : value !== null && typeof value === "object" ? JSON.stringify(value) : show(value);

/** @param {{detail: any}} props */
function Made({ detail }) {
  const made = Object.entries(detail.made ?? {}).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).map(([inner, one]) => [inner, asText(one)]) : [[name, asText(value)]]);
  if (!made.length) return null;
  return html`<section class="column whole"><h3>How ${detail.size > 1 ? `clustering ${detail.leaf}` : "it"} was made</h3><${Facts} facts=${made} /></section>`;
}

/** @param {{detail: any}} props */
function Weights({ detail }) {
  if (!detail.weights?.length) return null;
  const most = Math.max(1e-12, ...detail.weights.map((/** @type {any} */ one) => Math.abs(one.weight)));
  return html`<section><h3 title="How strongly each column of the data counted when this clustering was made">Weights used</h3>
    <ul class="bars weights">${detail.weights.map((/** @type {any} */ one) => html`<li key=${one.feature}>
      <span class="text" title=${one.feature}>${one.feature}</span><span class="bar"><span style=${{ width: `${(100 * Math.abs(one.weight)) / most}%` }}></span></span>
      <span class="count">${show(one.weight, 3)}</span></li>`)}</ul></section>`;
}

/** @param {{detail: any}} props */
function Known({ detail }) {
  if (!detail.known?.length) return null;
  return html`<section class="column whole"><h3>Against labels that are known</h3><div class="known">${detail.known.map((/** @type {any} */ one) => one.table ? html`
    <${HeatTable} key=${one.name} caption=${`${one.name}: accuracy ${show(one.accuracy, 3)}`} corner="cluster" rows=${one.table.map((/** @type {any} */ _, /** @type {number} */ c) => c)}
      columns=${one.labels} counts=${one.table} />` : html`<p class="note">${one.name}: accuracy ${show(one.accuracy, 3)}; too many classes for a table</p>`)}</div></section>`;
}

/** The same as tables. @param {{detail: any}} props */
function Tables({ detail }) {
  const store = useStore();
  return html`<div class="tables">
    <${Table} caption="Clusters" heads=${["cluster", "objects"]} rows=${detail.sizes.map((/** @type {number} */ size, /** @type {number} */ c) => [c, many(size)])} most=${1000}
      picked=${store.view.value.cluster} onPick=${(/** @type {number} */ c) => pickCluster(store, detail.ref, c)} />
    <${Table} caption="Scores" heads=${["score", "value"]} rows=${Object.entries(detail.scores).map(([name, value]) => [name, show(value)])} />
    ${detail.features ? html`<${Table} caption="What sets clusters apart" heads=${["cluster", "feature", "mean", "rest", "d", "low", "high"]} most=${400}
      rows=${detail.features.flatMap((/** @type {any} */ one) => one.top.map((/** @type {any} */ f) => [one.cluster, f.feature, show(f.mean), show(f.rest), show(f.d, 3), show(f.low, 3), show(f.high, 3)]))} />` : null}
    ${detail.confidence ? html`<${Table} caption=${`Confidence, mean ${show(detail.confidence.mean, 3)}`} heads=${["from", "objects"]}
      rows=${detail.confidence.histogram.map((/** @type {number} */ count, /** @type {number} */ at) => [(at / 20).toFixed(2), many(count)])} />` : null}
    ${detail.floaters.length ? html`<${Floaters} detail=${detail} />` : null}
    <${Made} detail=${detail} /><${Weights} detail=${detail} /><${Known} detail=${detail} />
  </div>`;
}
