// Everything by keyboard, except while somebody types.
import { askForMore, compare, cutInto, keep, pin, showAs } from "./commands.js";
import { letPickedGo } from "./picked.js";
import { exportTray } from "./tray_files.js";
import { closeTo, joinSelected, openBranch, selectGroup, splitSelected, walk } from "./walk.js";

/** @typedef {import("./store.js").Store} Store */

export const PANELS = [
  "tree",
  "scores",
  "map",
  "stripes",
  "tiles",
  "detail",
  "edit",
  "why",
  "objects",
  "picked",
  "compare",
  "flow",
  "components",
  "agreement",
  "tray",
];

/** @param {Store} store */
function toggleTables(store) {
  const all = store.prefs.value.tables.length > 0;
  store.prefer({ tables: all ? [] : PANELS });
  store.message.value = all ? "Views are pictures again." : "Every view is a table.";
}

/** Let go of the last thing picked out. @param {Store} store */
function letGo(store) {
  const { brush, cluster, cmp } = store.view.value;
  if (store.lasso.value) store.lasso.value = false;
  else if (store.picked.value.length) letPickedGo(store);
  else if (brush) store.go({ brush: null });
  else if (cluster >= 0) store.go({ cluster: -1 });
  else if (cmp) store.go({ cmp: null });
}

/** @param {Store} store @returns {Record<string, () => void>} */
function actions(store) {
  const selected = () => store.selected.value;
  return {
    arrowup: () => walk(store, "up"),
    arrowdown: () => walk(store, "down"),
    arrowleft: () => walk(store, "left"),
    arrowright: () => walk(store, "right"),
    m: () => showAs(store, "m"),
    c: () => showAs(store, "c"),
    p: () => pin(store, selected()),
    x: () => compare(store, selected()),
    r: () => askForMore(store, selected()),
    s: () => keep(store, selected()),
    e: () => exportTray(store, "csv"),
    "+": () => cutInto(store, store.view.value.cut + 1),
    "=": () => cutInto(store, store.view.value.cut + 1),
    "-": () => cutInto(store, store.view.value.cut - 1),
    "−": () => cutInto(store, store.view.value.cut - 1),
    o: () => openBranch(store, store.selectedNode.value),
    b: () => closeTo(store, store.view.value.open.length - 1),
    "[": () => splitSelected(store),
    "]": () => joinSelected(store),
    t: () => toggleTables(store),
    l: () => {
      store.lasso.value = !store.lasso.value;
      store.message.value = store.lasso.value
        ? "Lasso: draw around objects; zoom in and press Enter on the picture to pick what is in sight."
        : "The lasso is put away.";
    },
    "/": () => {
      store.search.value++;
    },
    escape: () => letGo(store),
    "?": () => {
      store.help.value = true;
    },
  };
}

const CHOICES = ["range", "checkbox", "radio"]; // fields that take arrows, but no letters

/** @param {Element | null} target @param {string} key whether this key belongs to the field it was pressed in */
function isTheirs(target, key) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog, textarea, select, [contenteditable]")) return true;
  if (target instanceof HTMLInputElement) return !CHOICES.includes(target.type) || key.startsWith("arrow");
  // arrows walk the tree from the tree and the tiles; elsewhere they scroll, as everywhere
  return key.startsWith("arrow") && target.closest("#panel-tree .plot, .tile") === null;
}

/**
 * Select a group by its number, and go to its tile: arrows walk on from there.
 * @param {Store} store @param {number} number
 */
function toGroup(store, number) {
  selectGroup(store, number);
  requestAnimationFrame(() =>
    /** @type {HTMLElement | null} */ (document.querySelector(`.tile[data-group="${number}"]`))?.focus({
      preventScroll: true,
    }),
  );
}

/** @param {Store} store @returns {(event: Event) => void} */
export function keyHandler(store) {
  const all = actions(store);
  return (given) => {
    const event = /** @type {KeyboardEvent} */ (given);
    const key = event.key.toLowerCase();
    const control = event.ctrlKey || event.metaKey;
    if (
      event.defaultPrevented ||
      event.altKey ||
      store.status.value.kind === "loading" ||
      isTheirs(/** @type {Element} */ (event.target), key)
    )
      return;
    if (key.length === 1 && !control && !store.prefs.value.keys) return; // people with voice control turn them off
    if (key === "z") event.shiftKey ? store.redo() : store.undo();
    else if (control && key === "y") store.redo();
    else if (control) return;
    else if (/^[1-9]$/.test(key)) toGroup(store, Number(key));
    else if (all[key]) all[key]();
    else return;
    event.preventDefault();
  };
}
