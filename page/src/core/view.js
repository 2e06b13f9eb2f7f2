// What is shown, as a plain object: its start, its copy in the address, and what of it a session can show.
import { plural } from "./format.js";
import { isEdited, parseRef } from "./tree.js";

/**
 * @typedef {{ref: string, name: string, note: string, of: string}} Kept a clustering in the tray
 * @typedef {{
 *   of: string, cut: number, split: number[], join: number[], cutM: number, open: number[], cuts: number[],
 *   rep: string, sel: string | null, pin: string | null, cmp: string | null,
 *   x: string, y: string, brush: number[] | null, map: string, color: string,
 *   pane: string, tab: string, cluster: number, flow: string, order: string, most: number, rows: string, over: string,
 *   tray: Kept[],
 * }} View
 * `of` tells the trees in which refs are numbered (see `originOf`); `cut` groups, some of them `split` or `join`ed by
 * hand in the tree of `cutM` clusterings; branches that were `open`ed there, one within the other, and the `cuts` of
 * what each was opened in; `rep` shows medoids ("m") or consensuses ("c"); refs: `sel`ected, `pin`ned
 * (its colors rule), `cmp` compared with the pinned one; axes `x`, `y` of the scores and a `brush` on them [x0, x1,
 * y0, y1]; `map` kind; the tree's `color` (a score, or "group"); the `pane` beside the data and the `tab` below;
 * `cluster` of the selected one that is picked out, −1 none. The `flow` is over "tiles", the "tray" or numbers of
 * "clusters" up to `most` (0: as it fits), "" for what there is; the `order` of its refs, with commas, "" by likeness.
 * Stripes have their `rows` by "tree" or "agreement", and are `over` a "branch" or "all".
 */

/** @type {View} */
export const START = {
  of: "",
  cut: 0,
  split: [],
  join: [],
  cutM: 0,
  open: [],
  cuts: [],
  rep: "m",
  sel: null,
  pin: null,
  cmp: null,
  x: "",
  y: "",
  brush: null,
  map: "mds",
  color: "group",
  pane: "tree",
  tab: "detail",
  cluster: -1,
  flow: "",
  order: "",
  most: 0,
  rows: "tree",
  over: "all",
  tray: [],
};

// the origin of a clustering that went away: should its number be given again, it is to another one
const GONE = "gone";

/**
 * The run and its trees: refs of another origin may name other clusterings.
 * @param {{run: string, tree?: string | null}} session
 */
export const originOf = ({ run, tree }) => (tree ? `${run}.${tree}` : run);

/** @param {string} of */
const runOf = (of) => of.split(".")[0];

/**
 * Whether refs of two origins mean the same; one that says nothing (a notebook's), or nothing of the tree, is taken
 * at its word.
 * @param {string} a @param {string} b
 */
export function isSameOrigin(a, b) {
  if (!a || !b) return true;
  const treeA = a.split(".")[1];
  const treeB = b.split(".")[1];
  return runOf(a) === runOf(b) && (!treeA || !treeB || treeA === treeB);
}

/**
 * Whether a ref names something among m clusterings; a node without a tree is a clustering.
 * @param {string} ref @param {number} m
 */
function isAmong(ref, m) {
  const parsed = parseRef(ref);
  if (!parsed) return false;
  return parsed.m === null ? parsed.node < m : parsed.m >= 2 && parsed.m <= m && parsed.node <= 2 * parsed.m - 2;
}

/** Whether opened branches can be some of a tree, as an address may say anything. @param {View} view */
const isNested = ({ open, cuts, cutM }) =>
  open.length === cuts.length &&
  open.every((node, at) => Number.isInteger(node) && node >= 0 && node <= 2 * cutM - 2 && !(node >= open[at - 1]));

/**
 * What a session of m clusterings can show of a view: names it does not have fall back to the start, refs are let go,
 * and in the tray they stay without being of this session.
 * @param {View} view @param {import("./messages.js").Session} session @param {number} m @returns {View}
 */
export function checkedView(view, session, m) {
  const now = originOf(session);
  const isSame = isSameOrigin(view.of, now);
  const from = isSame || runOf(view.of) === session.run ? view : { ...START, tray: view.tray };
  const names = session.scores.map((one) => one.name);
  const edits = new Set((session.edits ?? []).map((one) => one.ref));
  const ref = (/** @type {string | null} */ one) =>
    one && (isEdited(one) ? edits.has(one) : isSame && isAmong(one, m)) ? one : null;
  const isKnown = (/** @type {string} */ one) => one.startsWith("accuracy:");
  const varies = new Map(session.scores.map((one) => [one.name, one.low !== one.high]));
  // those that tell clusterings apart before those that are the same for all
  const plain = names.filter((one) => !isKnown(one)).sort((a, b) => Number(varies.get(b)) - Number(varies.get(a)));
  // of the axes: what needs no labels, and what the labels say
  const first = [plain[0], names.find(isKnown) ?? plain[1]];
  const name = (/** @type {string} */ one, /** @type {number} */ at) =>
    names.includes(one) ? one : (first[at] ?? names[0] ?? "");
  const isCut = isSame && from.cutM <= m && isNested(from);
  return {
    ...from,
    of: now,
    cut: Math.max(1, Math.min(m, (isCut ? from.cut : (from.cuts[0] ?? from.cut)) || session.cut.groups)),
    split: isCut ? from.split : [],
    join: isCut ? from.join : [],
    cutM: (isCut && from.cutM) || m,
    open: isCut ? from.open : [],
    cuts: isCut ? from.cuts : [],
    sel: ref(from.sel),
    pin: ref(from.pin),
    cmp: ref(from.cmp),
    cluster: from.sel && !ref(from.sel) ? -1 : from.cluster,
    tray: from.tray.map((kept) => {
      if (isEdited(kept.ref) && [session.run, ""].includes(runOf(kept.of)))
        return { ...kept, of: edits.has(kept.ref) ? now : GONE };
      return !isSameOrigin(kept.of, now) ? kept : { ...kept, of: isAmong(kept.ref, m) ? now : GONE };
    }),
    x: name(from.x, 0),
    y: name(from.y, 1),
    color: from.color === "group" || names.includes(from.color) ? from.color : "group",
  };
}

/**
 * What a view lost when it was checked, in words; "" for nothing.
 * @param {View} given @param {View} checked @param {string} name of the run
 */
export function formatLoss(given, checked, name) {
  const words = [];
  const picks = /** @type {const} */ (["sel", "pin", "cmp"]);
  const isLess =
    picks.some((one) => given[one] && !checked[one]) ||
    given.split.length > checked.split.length ||
    given.join.length > checked.join.length;
  if (!isSameOrigin(given.of, checked.of) && runOf(given.of) !== runOf(checked.of))
    words.push(`This is another run (${name}): the view starts anew.`);
  else if (isLess && !isSameOrigin(given.of, checked.of))
    words.push(
      "The tree is another one (linkage, measure, or parts that are left out): " +
        "what was selected or pinned in the one before is let go.",
    );
  else if (isLess) words.push("What was selected, pinned or compared is no longer there.");
  const lost = checked.tray.filter(
    (kept, at) => kept.of !== checked.of && isSameOrigin(given.tray[at].of, given.of),
  ).length;
  if (lost)
    words.push(
      `${plural(lost, "clustering")} of the tray ` +
        `${lost === 1 ? "is unavailable: its name and note stay" : "are unavailable: their names and notes stay"}.`,
    );
  return words.join(" ");
}

/**
 * Why something in the tray cannot be shown or exported; "" if it can.
 * @param {Kept} kept @param {string} now the session's origin
 */
export function whyUnavailable(kept, now) {
  if (kept.of === now) return "";
  if (kept.of === GONE)
    return "This clustering is no longer there: it was made after the run was opened, and not stored";
  if (runOf(kept.of) !== runOf(now)) return "This clustering is of another run: open that one to export it";
  const why = "This clustering was numbered in another tree (linkage, measure, or parts that are left out)";
  return `${why}: open the run as it was to export it`;
}

const NUMBERS = ["cut", "cutM", "cluster", "most"];
const LISTS = ["split", "join", "open", "cuts", "brush"];
const TEXTS = ["rep", "sel", "pin", "cmp", "x", "y", "map", "color", "pane", "tab", "flow", "order", "rows", "over"];

/** @param {View} view */
export function writeHash(view) {
  const [run, tree] = view.of.split(".");
  const parts = new URLSearchParams({ v: "1", run, ...(tree ? { tree } : {}) });
  const from = /** @type {any} */ (view);
  const start = /** @type {any} */ (START);
  for (const name of [...NUMBERS, ...TEXTS])
    if (from[name] !== start[name] && from[name] !== null) parts.set(name, String(from[name]));
  for (const name of LISTS) if (from[name]?.length) parts.set(name, from[name].join(","));
  for (const { ref, name, note, of } of view.tray)
    parts.append("tray", JSON.stringify(of === view.of ? [ref, name, note] : [ref, name, note, of]));
  return parts.toString();
}

/** The view of an address; null if it is none, or of another version. @param {string} hash @returns {View | null} */
export function readHash(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const run = parts.get("run");
  if (parts.get("v") !== "1" || !run) return null;
  const view = /** @type {any} */ ({ ...START, of: originOf({ run, tree: parts.get("tree") }) });
  for (const name of NUMBERS) if (/^-?\d{1,9}$/.test(parts.get(name) ?? "")) view[name] = Number(parts.get(name));
  for (const name of TEXTS) if (parts.has(name)) view[name] = parts.get(name);
  for (const name of LISTS) {
    const numbers = (parts.get(name) ?? "").split(",").filter(Boolean).map(Number);
    if (numbers.length && numbers.every(Number.isFinite)) view[name] = numbers;
  }
  if (view.brush?.length !== 4) view.brush = null;
  view.rep = view.rep === "c" ? "c" : "m";
  view.tray = parts.getAll("tray").flatMap((text) => {
    try {
      const [ref, name = "", note = "", of = view.of] = JSON.parse(text);
      return [{ ref: String(ref), name: String(name).slice(0, 80), note: String(note).slice(0, 2000), of: String(of) }];
    } catch {
      return [];
    }
  });
  return view;
}
