// The selected clustering: its clusters, what sets them apart, confidence and support of its objects, how it was made.

import { useAnswer } from "../core/answers.js";
import { describe } from "../core/commands.js";
import { formatCount, formatNumber, formatPercent, plural } from "../core/format.js";
import { pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { useDark } from "../draw/canvas.jsx";
import { colorOf } from "../draw/palette.js";
import { DetailTables } from "./detail_tables.jsx";
import { FeatureRows } from "./effect_sizes.jsx";
import { Known } from "./known_tables.jsx";
import { ClusterLooks } from "./looks.jsx";
import { Made, Weights } from "./made.jsx";
import { Panel } from "./panel.jsx";
import { Answered, Facts, Mark } from "./parts.jsx";
import { Term } from "./term.jsx";
import { Assessed } from "./trust.jsx";

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
      table={() => (
        <Answered answer={answer}>
          {(detail) => <DetailTables detail={detail} onPick={(c) => pickCluster(store, ref, c)} />}
        </Answered>
      )}
    >
      <Answered answer={answer}>
        {(detail) => (
          <div class="detail">
            <Clusters detail={detail} />
            <Features detail={detail} />
            <Summary detail={detail} />
            <Weights detail={detail} />
            <Assessed detail={detail} />
            <Known detail={detail} />
            <ClusterLooks reference={detail.ref} names={detail.names} onPick={(row) => pick(store, [row])} />
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
  const dark = useDark();
  const most = Math.max(1, ...detail.sizes);
  const total = detail.sizes.reduce((a, b) => a + b, 0);
  return (
    <section>
      <h3>
        Clusters{" "}
        <button class="link" title="Rename, merge or split them" onClick={() => store.go({ tab: "edit" })}>
          edit
        </button>
      </h3>
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
                  style={{ width: `${(100 * size) / most}%`, background: slots ? colorOf(slots[c], dark) : undefined }}
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
      <h3>
        What sets {cluster < 0 ? "clusters" : `cluster ${detail.names?.[cluster] ?? cluster}`} apart{" "}
        <small>
          <Term word="effect size d" />, 95 % interval
        </small>
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
