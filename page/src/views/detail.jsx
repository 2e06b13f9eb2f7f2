// The selected clustering: its clusters, what sets them apart, confidence and support of its objects, how it was made.

import { useAnswer } from "../core/answers.js";
import { clusteringName, describe } from "../core/commands.js";
import { formatCount, formatNumber, formatPercent, plural } from "../core/format.js";
import { pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { colorOf } from "../draw/palette.js";
import { FeatureRows } from "./features.jsx";
import { ClusterLooks } from "./looks.jsx";
import { Panel, Table } from "./panel.jsx";
import { Answered, Facts, HeatTable, Mark } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Detail} Detail */

export function DetailView() {
  const store = useStore();
  const ref = store.selected.value;
  /** @type {import("../core/answers.js").Answer<Detail>} */
  const answer = useAnswer(ref ? `/api/detail/${ref}` : null);
  if (!ref) return <p class="empty">Select a branch of the tree or a tile to see it here.</p>;
  const title = `Detail: ${describe(store, ref)}`;
  return (
    <Panel
      id="detail"
      title={title}
      class="plain"
      table={() => <Answered answer={answer}>{(detail) => <Tables detail={detail} />}</Answered>}
    >
      <Answered answer={answer}>
        {(detail) => (
          <div class="detail">
            <div class="column">
              <Clusters detail={detail} />
              <Weights detail={detail} />
            </div>
            <div class="column features">
              <Features detail={detail} />
            </div>
            <div class="column assessed">
              <Summary detail={detail} />
              <Assessed detail={detail} />
            </div>
            <ClusterLooks reference={detail.ref} names={detail.names} onPick={(row) => pick(store, [row])} />
            <Known detail={detail} />
            <Made detail={detail} />
          </div>
        )}
      </Answered>
    </Panel>
  );
}

/** Cluster sizes as bars; a click picks one out. @param {{detail: Detail}} props */
function Clusters({ detail }) {
  const store = useStore();
  const slots = store.labels.slots(detail.ref);
  const { cluster } = store.view.value;
  const most = Math.max(1, ...detail.sizes);
  const total = detail.sizes.reduce((a, b) => a + b, 0);
  return (
    <section>
      <h3>Clusters</h3>
      <ul
        class={`bars ${detail.names ? "named" : ""} ${store.session.value.counts ? "called" : ""}`}
        tabindex={0}
        aria-label="Clusters"
      >
        {detail.sizes.map((size, c) => (
          <li key={c}>
            <button
              aria-pressed={cluster === c}
              title="Pick out this cluster in the tiles"
              onClick={() => pickCluster(store, detail.ref, c)}
            >
              <Mark slot={slots?.[c]} />
              <span class="number" title={detail.names?.[c]}>
                {detail.names?.[c] ?? c}
              </span>
              {detail.features?.[c]?.called ? (
                <span class="called" title="The words that it has most more of than other clusters">
                  {detail.features[c].called.join(", ")}
                </span>
              ) : null}
              <span class="bar">
                <span
                  style={{ width: `${(100 * size) / most}%`, background: slots ? colorOf(slots[c]) : undefined }}
                ></span>
              </span>
              <span class="count">{formatCount(size)}</span>
              <span class="share">{formatPercent(size / total)}</span>
            </button>
          </li>
        ))}
      </ul>
      {detail.n_missing ? <p class="note">{plural(detail.n_missing, "object")} without a label</p> : null}
    </section>
  );
}

/** @param {import("../core/store.js").Store} store @param {string} ref @param {number} cluster */
export const pickCluster = (store, ref, cluster) =>
  store.go({ sel: ref, cluster: store.view.value.cluster === cluster && store.selected.value === ref ? -1 : cluster });

/** @param {{detail: Detail}} props */
function Features({ detail }) {
  const store = useStore();
  const { cluster } = store.view.value;
  const slots = store.labels.slots(detail.ref);
  if (!detail.features)
    return (
      <section>
        <h3>What sets clusters apart</h3>
        <p class="empty">There is no data table here, only labels.</p>
      </section>
    );
  const picked = detail.features.filter((one) => cluster < 0 || one.cluster === cluster);
  const most = cluster < 0 ? 3 : 8;
  return (
    <section>
      <h3 title={COHEN}>
        What sets {cluster < 0 ? "clusters" : `cluster ${detail.names?.[cluster] ?? cluster}`} apart{" "}
        <small>effect size d, 95 % interval</small>
      </h3>
      <FeatureRows clusters={picked} most={most} slots={slots} names={detail.names} />
      {cluster < 0 ? <p class="note">The three largest of each cluster; pick a cluster for more.</p> : null}
    </section>
  );
}

/** @param {{detail: Detail}} props */
function Summary({ detail }) {
  const store = useStore();
  const facts = [
    ["clusters", formatCount(detail.clusters)],
    ["stands for", plural(detail.size, "clustering")],
    ...(detail.leaf === null || detail.leaf === undefined ? [] : [["this is", describe(store, `${detail.leaf}m`)]]),
    ...Object.entries(detail.scores)
      .filter(([name]) => name !== "clusters")
      .map(([name, value]) => [name, formatNumber(value)]),
  ];
  return (
    <section>
      <h3>In short</h3>
      <Facts facts={facts} />
    </section>
  );
}

const COHEN =
  "Cohen's d: how far the mean of the cluster lies from the mean of the rest, in standard deviations; " +
  "the line is its 95 % interval";

const ASSESSED = /** @type {const} */ ([
  [
    "confidence",
    "Confidence",
    "Probability that an independent ensemble of the same kind puts an object in the same cluster",
  ],
  ["support", "Support", "Share of the branch's clusterings that put an object into its cluster"],
]);

/** Confidence and support of the objects of a consensus. @param {{detail: Detail}} props */
function Assessed({ detail }) {
  const store = useStore();
  if (!detail.support) return null;
  return (
    <section>
      {ASSESSED.map(([name, title, what]) => (
        <Histogram
          key={name}
          title={title}
          what={what}
          low={name === "support" ? detail.floating : 0}
          data={detail[name]}
        />
      ))}
      <p class="note">
        {detail.n_floaters ? (
          <>
            {plural(detail.n_floaters, "floater")}, no majority puts them where they are:{" "}
            <button class="link" onClick={() => store.go({ tab: "objects" })}>
              see objects
            </button>
          </>
        ) : (
          "No floaters: every object is where a majority puts it."
        )}
      </p>
      <Trust detail={detail} />
      <Members detail={detail} />
      {detail.floaters.length ? <Floaters floaters={detail.floaters} names={detail.names} /> : null}
    </section>
  );
}

/** How far to trust each cluster of a consensus. @param {{detail: Detail}} props */
function Trust({ detail }) {
  const { trust } = detail;
  if (!trust) return null;
  return (
    <Table
      caption="How far to trust each cluster"
      heads={["cluster", "size", "confidence", "support", "floaters"]}
      rows={detail.sizes.map((size, c) => [
        detail.names?.[c] ?? c,
        formatCount(size),
        formatNumber(trust.confidence[c], 3),
        formatNumber(trust.support[c], 3),
        formatCount(trust.floaters[c]),
      ])}
      most={100}
    />
  );
}

/** How far to trust each clustering of a consensus, the least reliable first. @param {{detail: Detail}} props */
function Members({ detail }) {
  const store = useStore();
  const { members, size } = detail;
  if (!members) return null;
  const left = members.n_better_without;
  const order =
    members.leaf.length < size ? `: the least reliable of ${formatCount(size)}` : ", the least reliable first";
  return (
    <>
      <p class="note" title="Agreement with what the others say, at its own fineness: 0 is chance, 1 is the most">
        {left
          ? `Better without ${formatCount(left)} of ${plural(size, "clustering")}, by their reliability.`
          : "No clustering is so far from the others that it is better left out."}
      </p>
      <Table
        caption={`How far to trust each clustering${order}`}
        heads={["clustering", "reliability", "better without it"]}
        rows={members.leaf.map((leaf, at) => [
          clusteringName(store, leaf),
          formatNumber(members.reliability[at], 3),
          members.better_without[at] ? "yes" : "",
        ])}
        most={100}
      />
    </>
  );
}

/**
 * How many objects have how much; those below `low` stand out.
 * @param {{title: string, what: string, low: number, data: import("../core/messages.js").Histogram | null}} props
 */
function Histogram({ title, what, low, data }) {
  if (!data) return null;
  const most = Math.max(1, ...data.histogram);
  const mean = formatNumber(data.mean, 3);
  return (
    <>
      <h3 title={what}>
        {title} of objects <small>mean {mean}</small>
      </h3>
      <div class="histogram" role="img" aria-label={`${title} from 0 to 1: mean ${mean}`}>
        {data.histogram.map((count, at) => (
          <span
            key={at}
            title={`${(at / 20).toFixed(2)} to ${((at + 1) / 20).toFixed(2)}: ${formatCount(count)}`}
            class={at / 20 < low ? "low" : ""}
            style={{ height: `${(100 * count) / most}%` }}
          ></span>
        ))}
      </div>
      <p class="scale">
        <span>0</span>
        <span>0.5</span>
        <span>1</span>
      </p>
    </>
  );
}

/** @param {{floaters: import("../core/messages.js").Floater[], names?: string[] | null}} props */
export function Floaters({ floaters, names = null }) {
  const store = useStore();
  return (
    <Table
      caption="Floaters, the weakest first"
      heads={["id", "cluster", "confidence", "support"]}
      rows={floaters.map((one) => [
        one.id,
        names?.[one.cluster] ?? one.cluster,
        formatNumber(one.confidence, 3),
        formatNumber(one.support, 3),
      ])}
      onPick={(at) => pick(store, [floaters[at].index])}
      most={100}
    />
  );
}

/** @param {unknown} value @returns {string} */
const asText = (value) =>
  Array.isArray(value)
    ? value.map(asText).join(", ")
    : value !== null && typeof value === "object"
      ? JSON.stringify(value)
      : formatNumber(value);

/** @param {{detail: Detail}} props */
function Made({ detail }) {
  const store = useStore();
  const made = Object.entries(detail.made ?? {}).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).map(([inner, one]) => [inner, asText(one)])
      : [[name, asText(value)]],
  );
  if (!made.length) return null;
  return (
    <section class="column whole">
      <h3>How {detail.size > 1 && detail.leaf !== null ? clusteringName(store, detail.leaf) : "it"} was made</h3>
      <Facts facts={made} />
    </section>
  );
}

/** @param {{detail: Detail}} props */
function Weights({ detail }) {
  if (!detail.weights?.length) return null;
  const most = Math.max(1e-12, ...detail.weights.map((one) => Math.abs(one.weight)));
  return (
    <section>
      <h3 title="How strongly each column of the data counted when this clustering was made">Weights used</h3>
      <ul class="bars weights" tabindex={0} aria-label="Weights used">
        {detail.weights.map((one) => (
          <li key={one.feature}>
            <span class="text" title={one.feature}>
              {one.feature}
            </span>
            <span class="bar">
              <span style={{ width: `${(100 * Math.abs(one.weight)) / most}%` }}></span>
            </span>
            <span class="count">{formatNumber(one.weight, 3)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** @param {{detail: Detail}} props */
function Known({ detail }) {
  if (!detail.known?.length) return null;
  return (
    <section class="column whole">
      <h3>Against labels that are known</h3>
      <div class="known">
        {detail.known.map((one) =>
          one.table ? (
            <HeatTable
              key={one.name}
              caption={`${one.name}: accuracy ${formatNumber(one.accuracy, 3)}`}
              corner="cluster"
              rows={one.table.map((_, c) => detail.names?.[c] ?? c)}
              columns={one.labels}
              counts={one.table}
            />
          ) : (
            <p class="note">
              {one.name}: accuracy {formatNumber(one.accuracy, 3)}; too many classes for a table
            </p>
          ),
        )}
      </div>
    </section>
  );
}

/** The same as tables. @param {{detail: Detail}} props */
function Tables({ detail }) {
  const store = useStore();
  return (
    <div class="tables">
      <Table
        caption="Clusters"
        heads={["cluster", "objects"]}
        rows={detail.sizes.map((size, c) => [detail.names?.[c] ?? c, formatCount(size)])}
        most={1000}
        picked={store.view.value.cluster}
        onPick={(c) => pickCluster(store, detail.ref, c)}
      />
      <Table
        caption="Scores"
        heads={["score", "value"]}
        rows={Object.entries(detail.scores).map(([name, value]) => [name, formatNumber(value)])}
      />
      {detail.features ? (
        <Table
          caption="What sets clusters apart"
          heads={["cluster", "feature", "mean", "rest", "d", "low", "high"]}
          most={400}
          rows={detail.features.flatMap((one) =>
            one.top.map((f) => [
              one.cluster,
              f.words ?? f.feature,
              formatNumber(f.mean),
              formatNumber(f.rest),
              formatNumber(f.d, 3),
              formatNumber(f.low, 3),
              formatNumber(f.high, 3),
            ]),
          )}
        />
      ) : null}
      {ASSESSED.map(([name, title]) => {
        const data = detail[name];
        return data ? (
          <Table
            key={name}
            caption={`${title}, mean ${formatNumber(data.mean, 3)}`}
            heads={["from", "objects"]}
            rows={data.histogram.map((count, at) => [(at / 20).toFixed(2), formatCount(count)])}
          />
        ) : null;
      })}
      <Trust detail={detail} />
      <Members detail={detail} />
      {detail.floaters.length ? <Floaters floaters={detail.floaters} names={detail.names} /> : null}
      <Made detail={detail} />
      <Weights detail={detail} />
      <Known detail={detail} />
    </div>
  );
}
