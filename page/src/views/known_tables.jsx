// The clusters of a clustering against labels that are known, as counts.

import { formatNumber } from "../core/format.js";
import { HeatTable } from "./parts.jsx";
import { Term } from "./term.jsx";

/** @typedef {import("../core/messages.js").Detail} Detail */

/** @param {{detail: Detail}} props */
export function Known({ detail }) {
  if (!detail.known?.length) return null;
  return (
    <section class="whole">
      <h3>Against labels that are known</h3>
      <div class="known">
        {detail.known.map((one) =>
          one.table ? (
            <HeatTable
              key={one.name}
              caption={<Accuracy known={one} />}
              corner="cluster"
              rows={one.table.map((_, c) => detail.names?.[c] ?? c)}
              columns={one.labels}
              counts={one.table}
            />
          ) : (
            <p class="note">
              <Accuracy known={one} />; too many classes for a table
            </p>
          ),
        )}
      </div>
    </section>
  );
}

/** @param {import("../core/messages.js").KnownTable} known */
const farOff = ({ accuracy, medoid }) =>
  (medoid ?? 0) - (accuracy ?? 0) > 0.1 ? "; the consensus mixes these classes" : "";

/** @param {{known: import("../core/messages.js").KnownTable}} props */
const Accuracy = ({ known }) => (
  <>
    <Term word={`accuracy:${known.name}`} /> {formatNumber(known.accuracy, 3)}
    {known.medoid ? ` (the medoid of these clusterings: ${formatNumber(known.medoid, 3)}${farOff(known)})` : ""}
  </>
);
