// A group's number and a representative's score, as tiles say them.
import { formatNumber, formatPercent, formatScore, scoreWords } from "../core/format.js";
import { setApart } from "../core/groups.js";
import { leafOf } from "../draw/points.js";

/** A group's number; colors are for clusters. @param {{group: number}} props */
export const GroupMark = ({ group }) => <span class="group-mark">{group + 1}</span>;

const KNOWN = "accuracy:";
const TILES = 24; // whose columns are looked at

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
      title: `purity, the share of objects of the largest known label of their cluster: ${all}`,
    };
  }
  const columns = setApart(
    shown?.goes_by ?? [],
    store.representatives.value.slice(0, TILES).map((one) => store.labels.known.get(one)?.value?.goes_by ?? []),
  );
  if (columns.length)
    return {
      text: columns.map(([name]) => name).join(", "),
      title: `goes by ${columns
        .map(([name, share]) => `${name} (${formatPercent(share)} of its variance lies between clusters)`)
        .join(", ")}`,
    };
  const score = scoreOf(store, leaf, node);
  return score === null ? null : { text: score, title: score };
}

/**
 * The score on the y axis, or where the number of clusters is, which stands beside it already, another one: of a
 * clustering its own, of a consensus the mean of its branch.
 * @param {import("../core/store.js").Store} store @param {number | null} leaf @param {number} node
 */
function scoreOf(store, leaf, node) {
  const axis = store.view.value.y;
  const y = axis !== "clusters" ? axis : (store.session.value.scores.find((one) => one.name !== axis)?.name ?? "");
  const values = store.score(y);
  if (!values || (leaf === null && node < 0)) return null;
  const of = leaf === null ? [...store.tree.value.leaves(node)] : [leaf];
  const known = of.map((one) => values[one]).filter(Number.isFinite);
  const mean = known.reduce((a, b) => a + b, 0) / known.length;
  return `${leaf === null ? "mean " : ""}${scoreWords(y)} ${formatNumber(mean, 3)}`;
}
