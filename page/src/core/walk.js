// Moving about the tree: what buttons, keys and tables do to the selected branch.

import { describe } from "./commands.js";
import { plural } from "./format.js";
import { groupAbove, joinUnder, nextNode, splitGroup } from "./groups.js";
import { refOf } from "./tree.js";

/** @typedef {import("./store.js").Store} Store */

/**
 * Ask for a branch's labels before it is shown, so that they come while the page is being drawn.
 * @param {Store} store @param {number} node
 */
export function prefetch(store, node) {
  store.labels.get(refOf(store.tree.value, node, store.view.value.rep));
}

/** Select a branch, shown by its medoid or consensus. @param {Store} store @param {number} node */
export function selectNode(store, node) {
  const tree = store.tree.value;
  if (!tree || node < 0 || node > tree.root) return;
  const ref = refOf(tree, node, store.view.value.rep);
  const group = store.groups.value.indexOf(node);
  prefetch(store, node);
  store.go({ sel: ref });
  store.message.value = `Selected: ${group >= 0 ? `group ${group + 1}, ` : ""}${describe(store, ref)}.`;
}

/** Select a group by its number from 1. @param {Store} store @param {number} number */
export function selectGroup(store, number) {
  const node = store.groups.value[number - 1];
  if (node === undefined) store.message.value = `There are ${store.groups.value.length} groups.`;
  else selectNode(store, node);
}

/** @param {Store} store @param {"up" | "down" | "left" | "right"} way */
export function walk(store, way) {
  const tree = store.tree.value;
  if (tree) selectNode(store, nextNode(tree, store.groups.value, store.selectedNode.value, way));
}

/** Split the selected group, or the one that the selected branch is in. @param {Store} store */
export function splitSelected(store) {
  splitAt(store, store.selectedNode.value);
}

/** @param {Store} store @param {number} node */
export function splitAt(store, node) {
  const tree = store.tree.value;
  if (!tree) return;
  const group = node < 0 ? -1 : groupAbove(tree, store.groups.value, node);
  const patch = group < 0 ? null : splitGroup(tree, store.view.value, group);
  if (patch) {
    store.go(patch);
    store.message.value = `Split into two: ${store.groups.value.length} groups.`;
  } else if (node < 0) store.message.value = "Select a group first, then split it.";
  else
    store.message.value = group < 0 ? "This branch is several groups already." : "This group is a single clustering.";
}

/**
 * Join the selected group with its sibling, or the groups of the selected branch with each other.
 * @param {Store} store
 */
export function joinSelected(store) {
  joinAt(store, store.selectedNode.value);
}

/** @param {Store} store @param {number} node */
export function joinAt(store, node) {
  const tree = store.tree.value;
  if (!tree) return;
  const group = node < 0 ? -1 : groupAbove(tree, store.groups.value, node);
  const target = group < 0 ? node : tree.parent[group];
  const patch = target < 0 ? null : joinUnder(tree, store.view.value, target);
  if (patch) {
    store.go({ ...patch, sel: refOf(tree, target, store.view.value.rep) });
    store.message.value = `Joined: ${store.groups.value.length} groups.`;
  } else
    store.message.value =
      node < 0 ? "Select a group first, then join it with its sibling." : "All clusterings are one group already.";
}

/**
 * Open a branch: its own groups take the place of all, and a trail leads back.
 * @param {Store} store @param {number} node
 */
export function openBranch(store, node) {
  const tree = store.tree.value;
  const { open, cuts, cut, cutM } = store.view.value;
  if (!tree || node < 0) return;
  if (tree.size[node] < 2) {
    store.message.value = "This is a single clustering: there is nothing inside to open.";
    return;
  }
  if (node === store.top.value) {
    store.message.value = open.length ? "This branch is open already." : "This is the whole tree.";
    return;
  }
  const isHere = cutM === tree.m && tree.isUnder(node, store.top.value);
  store.go({
    open: isHere ? [...open, node] : [node],
    cuts: isHere ? [...cuts, cut] : [cuts[0] ?? cut],
    cut: tree.jump(node),
    split: [],
    join: [],
    cutM: tree.m,
    sel: refOf(tree, tree.cut(tree.jump(node), [], [], node)[0], store.view.value.rep),
  });
  const groups = plural(store.groups.value.length, "group");
  store.message.value = `Opened: a branch of ${plural(tree.size[node], "clustering")}, in ${groups}.`;
}

/** Go back to where `depth` branches were open. @param {Store} store @param {number} depth */
export function closeTo(store, depth) {
  const tree = store.tree.value;
  const { open, cuts, rep } = store.view.value;
  if (!tree || depth >= open.length) return;
  store.go({
    open: open.slice(0, depth),
    cuts: cuts.slice(0, depth),
    cut: cuts[depth],
    split: [],
    join: [],
    sel: refOf(tree, open[depth], rep),
  });
  store.message.value = `Back: ${plural(store.groups.value.length, "group")}.`;
}
