// How sure a consensus is: confidence and support of its objects, how far to trust its clusters and clusterings.

import { clusteringName } from "../core/commands.js";
import { formatCount, formatNumber, plural } from "../core/format.js";
import { pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { Table } from "./panel.jsx";
import { Term } from "./term.jsx";

/** @typedef {import("../core/messages.js").Detail} Detail */

export const ASSESSED = /** @type {const} */ ([
  ["confidence", "Confidence"],
  ["support", "Support"],
]);
const FIRM = 0.8; // a confidence that needs a word beside little support

/** Confidence and support of the objects of a consensus. @param {{detail: Detail}} props */
export function Assessed({ detail }) {
  const store = useStore();
  if (!detail.support) return null;
  return (
    <>
      <section>
        {ASSESSED.map(([name, title]) => (
          <Histogram
            key={name}
            name={name}
            title={title}
            low={name === "support" ? detail.floating : 0}
            data={detail[name]}
          />
        ))}
        <p class="note">
          {detail.n_floaters ? (
            <>
              {formatCount(detail.n_floaters)} <Term word={detail.n_floaters === 1 ? "floater" : "floaters"} />, no
              majority puts them where they are:{" "}
              <button class="link" onClick={() => store.go({ tab: "objects" })}>
                see objects
              </button>
            </>
          ) : (
            "No floaters: every object is where a majority puts it."
          )}
        </p>
        <Firm detail={detail} />
      </section>
      <section>
        <Trust detail={detail} />
      </section>
      <section>
        <Members detail={detail} />
      </section>
      {detail.floaters.length ? (
        <section>
          <Floaters floaters={detail.floaters} names={detail.names} />
        </section>
      ) : null}
    </>
  );
}

/** Why confidence can be high where support is low. @param {{detail: Detail}} props */
function Firm({ detail: { floaters, floating, trust, sizes } }) {
  const found =
    floaters.some((one) => one.confidence >= FIRM) ||
    sizes.some((_, c) => trust && trust.confidence[c] >= FIRM && trust.support[c] <= floating);
  return found ? (
    <p class="note firm">
      High confidence with little support is no error: another ensemble of this kind would put the object there too
      (confidence), although few of these clusterings do by themselves (support), because they cut finer or coarser, or
      each in its own way. Read such a cluster as what remains between the others.
    </p>
  ) : null;
}

/** How far to trust each cluster of a consensus. @param {{detail: Detail}} props */
export function Trust({ detail }) {
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
export function Members({ detail }) {
  const store = useStore();
  const { members, size } = detail;
  if (!members) return null;
  const left = members.n_better_without;
  const order =
    members.leaf.length < size ? `: the least reliable of ${formatCount(size)}` : ", the least reliable first";
  return (
    <>
      <p class="note">
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
 * @param {{name: string, title: string, low: number, data: import("../core/messages.js").Histogram | null}} props
 */
function Histogram({ name, title, low, data }) {
  if (!data) return null;
  const most = Math.max(1, ...data.histogram);
  const mean = formatNumber(data.mean, 3);
  return (
    <>
      <h3>
        <Term word={name}>{title}</Term> of objects <small>mean {mean}</small>
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
