// A group's number and a representative's score, as tiles say them.
import { html } from "htm/preact";
import { colorOf } from "./palette.js";
import { show } from "./panel.js";
import { inkOn, leafOf } from "./points.js";

/** A group's number on its color. @param {{group: number}} props */
export function GroupMark({ group }) {
  return html`<span class="group-mark" style=${{ background: colorOf(group), color: inkOn(colorOf(group)) }}>${group + 1}</span>`;
}

/** The y score of a representative: its own, or where a consensus has none the mean of its branch. @param {import("./state.js").Store} store @param {string} ref @param {number} node */
export function scoreOf(store, ref, node) {
  const { y } = store.view.value, values = store.score(y), leaf = leafOf(store, ref);
  if (!values) return null;
  if (leaf !== null) return { text: show(values[leaf], 3), title: `${y} ${show(values[leaf], 3)}` };
  const own = store.labels.get(ref)?.scores?.[y];
  if (Number.isFinite(own)) return { text: show(own, 3), title: `${y} of the consensus ${show(own, 3)}` };
  if (node < 0) return null;
  const known = [...store.tree.value.leaves(node)].map((one) => values[one]).filter(Number.isFinite);
  const mean = known.length ? known.reduce((a, b) => a + b, 0) / known.length : NaN;
  return { text: `ø ${show(mean, 3)}`, title: `mean of ${y} in the group ${show(mean, 3)}` };
}
