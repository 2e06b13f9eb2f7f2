// The selected clustering as tables.

import { formatCount, formatNumber } from "../core/format.js";
import { useStore } from "../core/store.js";
import { Known } from "./known_tables.jsx";
import { Made, Weights } from "./made.jsx";
import { Table } from "./panel.jsx";
import { Term } from "./term.jsx";
import { ASSESSED, Floaters, Members, Trust } from "./trust.jsx";

/** @typedef {import("../core/messages.js").Detail} Detail */

/** @param {{detail: Detail, onPick: (cluster: number) => void}} props */
export function DetailTables({ detail, onPick }) {
  const store = useStore();
  return (
    <div class="tables">
      <Table
        caption="Clusters"
        heads={["cluster", "objects"]}
        rows={detail.sizes.map((size, c) => [detail.names?.[c] ?? c, formatCount(size)])}
        most={1000}
        picked={store.view.value.cluster}
        onPick={onPick}
      />
      <Table
        caption="Scores"
        heads={["score", "value"]}
        rows={Object.entries(detail.scores).map(([name, value]) => [
          <Term key={name} word={name} />,
          formatNumber(value),
        ])}
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
