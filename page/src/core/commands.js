// What people can do to a clustering, in one place for buttons, keys and tables.
import { formatCount, plural } from "./format.js";
import { isEdited, nodeOf, parseRef } from "./tree.js";

/** @typedef {import("./store.js").Store} Store */

/** A clustering in words. @param {Store} store @param {string} ref */
export function describe(store, ref) {
  const parsed = parseRef(ref);
  const tree = store.tree.value;
  if (isEdited(ref)) {
    const found = store.session.value.edits?.find((one) => one.ref === ref);
    return found ? `edited from ${found.origin}` : "an edited clustering";
  }
  if (!parsed) return ref;
  const m = parsed.m ?? tree?.m ?? 0;
  if (parsed.node < m || parsed.m === null) {
    return clusteringName(store, parsed.node);
  }
  const kind = parsed.kind === "c" ? "consensus" : "medoid";
  const node = tree ? nodeOf(tree, ref) : -1;
  const finer = parsed.k ? ` in ${parsed.k} clusters` : "";
  return node >= 0 && tree
    ? `${kind} of ${formatCount(tree.size[node])} clusterings${finer}`
    : `${kind} of branch ${parsed.node} among the first ${formatCount(m)}${finer}`;
}

/** The same inside a sentence. @param {Store} store @param {string} ref */
export function the(store, ref) {
  const words = describe(store, ref);
  return parseRef(ref)?.m ? `the ${words}` : words;
}

/**
 * What a clustering is called: as the user's own file has it, or by its number.
 * @param {Store} store @param {number} leaf
 */
export const clusteringName = (store, leaf) => store.session.value.names?.[leaf] ?? `clustering ${leaf}`;

/** A short name for a column. @param {Store} store @param {string} ref */
export function nameOf(store, ref) {
  const tree = store.tree.value;
  const node = tree ? nodeOf(tree, ref) : -1;
  const group = store.groups.value.indexOf(node);
  const { m, k, kind } = parseRef(ref) ?? {};
  if (k && node === tree?.root) return `consensus of ${k} clusters`;
  if (!m || group < 0) return describe(store, ref);
  return `group ${group + 1} ${kind === "c" ? "consensus" : "medoid"}${k ? ` in ${k} clusters` : ""}`;
}

const OURS = /^(clustering \d|(the )?(medoid|consensus) of )/; // all other words are names of the user's

/** Our own words as a sentence begins; names stay as they are. @param {string} text */
export const sentence = (text) => (OURS.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text);

/**
 * The same branch, shown by its medoid ("m") or its consensus ("c"); a single clustering stays itself, and so does
 * a consensus in any number of clusters.
 * @param {string | null} ref @param {string} kind
 */
export const as = (ref, kind) => ref && (parseRef(ref)?.m ? ref.replace(kind === "c" ? /m$/ : /c\d*$/, kind) : ref);

/** What groups are shown by, in words. @param {string} kind "m" or "c" */
export const shownBy = (kind) => `shown by their ${kind === "c" ? "consensus" : "medoid, the most central of them"}`;

/** Show every group by its medoid or by its consensus. @param {Store} store @param {string} kind "m" or "c" */
export function showAs(store, kind) {
  const { sel } = store.view.value;
  const now = as(sel, kind);
  store.go({ rep: kind, sel: now });
  const chosen = now && parseRef(sel ?? "")?.k ? `; selected: ${describe(store, now)}` : "";
  store.message.value = `Groups are ${shownBy(kind)}${chosen}.`;
}

/**
 * Let this clustering's colors rule; done again on the pinned one it lets go.
 * @param {Store} store @param {string | null} ref
 */
export function pin(store, ref) {
  if (!ref) return;
  const let_go = store.view.value.pin === ref;
  store.go({ pin: let_go ? null : ref });
  store.message.value = let_go
    ? "No clustering is pinned: colors are as they were at first."
    : `Pinned: colors follow ${the(store, ref)}.`;
}

/**
 * Compare this clustering with the pinned one, or the largest group's.
 * @param {Store} store @param {string | null} ref
 */
export function compare(store, ref) {
  if (!ref) return;
  const { pin: pinned } = store.view.value;
  store.go({ cmp: ref, tab: "compare" });
  const other = pinned ? "the pinned one" : the(store, store.opposite(ref) ?? ref);
  store.message.value =
    ref === pinned
      ? "This is the pinned clustering itself: select another one, or pin another one, to compare."
      : `Comparing ${the(store, ref)} with ${other}.`;
  requestAnimationFrame(() => document.getElementById("panel-compare")?.scrollIntoView({ block: "nearest" }));
}

/**
 * Whether this is what the tray keeps: a number of another run or tree is another clustering's.
 * @param {Store} store @param {import("./view.js").Kept} kept @param {string | null} ref
 */
export const isKept = (store, kept, ref) => kept.ref === ref && kept.of === store.origin.value;

/** Put a clustering into the tray. @param {Store} store @param {string | null} ref */
export function keep(store, ref) {
  if (!ref) return;
  const { tray } = store.view.value;
  const most = store.session.value.limits.items;
  if (tray.some((kept) => isKept(store, kept, ref)))
    store.message.value = `${sentence(the(store, ref))} is in the tray already.`;
  else if (tray.length >= most) store.message.value = `The tray holds ${most} clusterings at most: take one out first.`;
  else {
    store.go({ tray: [...tray, { ref, name: nameOf(store, ref), note: "", of: store.origin.value }] });
    store.message.value = `Added to the tray: ${describe(store, ref)}.`;
  }
}

/** Ask how many more like this one, and how far from it. @param {Store} store @param {string | null} ref */
export function askForMore(store, ref) {
  const { can, more_like_note: note } = store.session.value;
  if (!can.more_like) store.message.value = note || "This run cannot make more clusterings.";
  else if (store.job.value?.state === "running")
    store.message.value = "A job is running: wait for it, or cancel it first.";
  else store.more.value = ref;
}

/**
 * Cut the tree into so many groups; splits and joins made in an earlier tree are dropped.
 * @param {Store} store @param {number} groups @param {boolean} [quick]
 */
export function cutInto(store, groups, quick = false) {
  const tree = store.tree.value;
  const { cutM } = store.view.value;
  if (!tree || !Number.isFinite(groups)) return;
  const most = tree.distinct(store.top.value);
  const cut = Math.max(1, Math.min(most, Math.round(groups)));
  if (!quick && cut !== Math.round(groups))
    store.message.value =
      groups < 1 ? "There is one group at least." : `${plural(most, "group")} at most: no more clusterings differ.`;
  store.go(cutM === tree.m ? { cut } : { cut, cutM: tree.m, split: [], join: [], open: [], cuts: [] }, quick);
}

/**
 * What is in the tray, for another tree of the same clusterings: a kept medoid is one of them, and stays.
 * @param {Store} store
 */
function trayBeyondTrees(store) {
  return store.view.value.tray.map((kept) => {
    if (isEdited(kept.ref)) return kept; // of no tree
    const parsed = kept.of === store.origin.value ? parseRef(kept.ref) : null;
    if (!parsed) return kept;
    const leaf = parsed.m === null ? parsed.node : store.labels.known.get(kept.ref)?.value?.leaf;
    return Number.isInteger(leaf) ? { ...kept, ref: `${leaf}m`, of: "" } : kept;
  });
}

/**
 * Show the tree of another linkage: the server grows it, and all pages show it.
 * @param {Store} store @param {string} to
 */
export async function relink(store, to) {
  if (to === store.session.value.linkage) return;
  const tray = trayBeyondTrees(store);
  const before = { ...store.step(), view: { ...store.view.value, tray } };
  const isShown = await store.grow(to, { ...before.view, cut: 0, open: [], cuts: [] });
  if (!isShown) return;
  store.history.push(before, false);
  store.message.value += " What was selected in the other is let go; undo brings it back.";
}
