// A group's number and a representative's score, as tiles say them.
import { formatNumber } from "../core/format.js";
import { colorOf } from "../draw/palette.js";
import { inkOn, leafOf } from "../draw/points.js";

/** A group's number on its color. @param {{group: number}} props */
export function GroupMark({ group }) {
  return (
    <span class="group-mark" style={{ background: colorOf(group), color: inkOn(colorOf(group)) }}>
      {group + 1}
    </span>
  );
}

/**
 * The y score of a representative: its own, or where a consensus has none the mean of its branch.
 * @param {import("../core/store.js").Store} store @param {string} ref @param {number} node
 */
export function scoreOf(store, ref, node) {
  const { y } = store.view.value;
  const values = store.score(y);
  const leaf = leafOf(store, ref);
  if (!values) return null;
  if (leaf !== null) return { text: formatNumber(values[leaf], 3), title: `${y} ${formatNumber(values[leaf], 3)}` };
  const own = store.labels.get(ref)?.scores?.[y];
  if (Number.isFinite(own))
    return { text: formatNumber(own, 3), title: `${y} of the consensus ${formatNumber(own, 3)}` };
  if (node < 0) return null;
  const known = [...store.tree.value.leaves(node)].map((one) => values[one]).filter(Number.isFinite);
  const mean = known.length ? known.reduce((a, b) => a + b, 0) / known.length : NaN;
  return { text: `ø ${formatNumber(mean, 3)}`, title: `mean of ${y} in the group ${formatNumber(mean, 3)}` };
}
