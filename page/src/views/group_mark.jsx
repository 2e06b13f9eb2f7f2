// A group's number and a representative's score, as tiles say them.
import { formatNumber, formatPercent, formatScore, scoreWords } from "../core/format.js";
import { leafOf } from "../draw/points.js";

/** A group's number; colors are for clusters. @param {{group: number}} props */
export const GroupMark = ({ group }) => <span class="group-mark">{group + 1}</span>;

const KNOWN = "accuracy:";

/**
 * The known labels that a representative comes closest to; without any the columns that it goes by, or a score.
 * @param {import("../core/store.js").Store} store @param {string} ref @param {number} node
 */
export function bestKnown(store, ref, node) {
  const leaf = leafOf(store, ref);
  const shown = store.labels.get(ref);
  if (!shown && leaf === null) return null; // not here yet
  const own = leaf === null ? shown?.scores : null;
  const found = store.session.value.scores
    .filter((one) => one.name.startsWith(KNOWN))
    .map(({ name }) => ({
      name: name.slice(KNOWN.length),
      value: own?.[name] ?? store.score(name)?.[leaf ?? -1] ?? NaN,
    }))
    .filter((one) => Number.isFinite(one.value))
    .sort((a, b) => b.value - a.value);
  if (found.length) {
    const all = found.map((one) => `${one.name} ${formatScore(one.value)}`).join(", ");
    return {
      text: `${found[0].name} ${formatScore(found[0].value)}`,
      title: `share of objects that it puts as the known labels do: ${all}`,
    };
  }
  const columns = shown?.goes_by ?? [];
  if (columns.length)
    return {
      text: columns.map(([name]) => name).join(", "),
      title: `goes by ${columns
        .map(([name, share]) => `${name} (${formatPercent(share)} of its variance lies between clusters)`)
        .join(", ")}`,
    };
  const score = scoreOf(store, ref, node);
  return score && { text: score.title, title: score.title };
}

/**
 * The score on the y axis; the number of clusters stands beside it already, so another one in its place.
 * @param {import("../core/store.js").Store} store
 */
function scoreToTell(store) {
  const { y } = store.view.value;
  return y !== "clusters" ? y : (store.session.value.scores.find((one) => one.name !== y)?.name ?? "");
}

/**
 * The y score of a representative: its own, or where a consensus has none the mean of its branch.
 * @param {import("../core/store.js").Store} store @param {string} ref @param {number} node
 */
export function scoreOf(store, ref, node) {
  const y = scoreToTell(store);
  const values = store.score(y);
  const leaf = leafOf(store, ref);
  if (!values) return null;
  if (leaf !== null)
    return { text: formatNumber(values[leaf], 3), title: `${scoreWords(y)} ${formatNumber(values[leaf], 3)}` };
  const own = store.labels.get(ref)?.scores?.[y];
  if (Number.isFinite(own))
    return { text: formatNumber(own, 3), title: `${scoreWords(y)} of the consensus ${formatNumber(own, 3)}` };
  if (node < 0) return null;
  const known = [...store.tree.value.leaves(node)].map((one) => values[one]).filter(Number.isFinite);
  const mean = known.length ? known.reduce((a, b) => a + b, 0) / known.length : NaN;
  return { text: formatNumber(mean, 3), title: `mean ${scoreWords(y)} ${formatNumber(mean, 3)}` };
}
