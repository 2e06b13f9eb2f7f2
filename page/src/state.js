// What is shown: signals, their copy in the address, undo and redo.
import { batch, computed, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { LabelCache } from "./labels.js";
import { Refusal } from "./transport.js";
import { Tree, nodeOf, parseRef, refOf } from "./tree.js";
import { decode } from "./wire.js";

/**
 * @typedef {{ref: string, name: string, note: string}} Kept a clustering in the tray
 * @typedef {{
 *   cut: number, split: number[], join: number[], cutM: number,
 *   rep: string, sel: string | null, pin: string | null, cmp: string | null,
 *   x: string, y: string, brush: number[] | null, map: string, colour: string,
 *   tab: string, cluster: number, tray: Kept[],
 * }} View
 * `cut` groups, some of them `split` or `join`ed by hand in the tree of `cutM` clusterings; `rep` shows medoids ("m") or
 * consensuses ("c"); refs: `sel`ected, `pin`ned (its colours rule), `cmp` compared with the pinned one; axes `x`, `y` of the
 * scores and a `brush` on them [x0, x1, y0, y1]; `map` kind; the tree's `colour` (a score, or "group"); `tab` of the lower
 * panel; `cluster` of the selected one that is picked out, −1 none.
 */

/** @type {View} */
const START = {
  cut: 0, split: [], join: [], cutM: 0, rep: "m", sel: null, pin: null, cmp: null,
  x: "", y: "", brush: null, map: "mds", colour: "group", tab: "detail", cluster: -1, tray: [],
};

const UNDOS = 200;

export class Store {
  /** @param {import("./transport.js").Transport} transport @param {{address?: boolean, model?: any}} [options] */
  constructor(transport, options = {}) {
    this.transport = transport;
    this.address = options.address ?? false;
    this.session = signal(/** @type {any} */ (null));
    this.boot = signal(/** @type {any} */ (null));
    this.status = signal({ kind: "loading", message: "opening …" }); // loading, ready, lost, refused
    this.message = signal(""); // one line for people, read out
    this.job = signal(/** @type {any} */ (null));
    this.help = signal(false);
    this.more = signal(/** @type {string | null} */ (null)); // the ref that "more like this" is being asked for
    this.view = signal(START);
    this.past = signal(/** @type {View[]} */ ([]));
    this.future = signal(/** @type {View[]} */ ([]));
    this.labels = new LabelCache(this);
    this.prefs = signal(readPrefs());
    this.moving = false;
    this.closed = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */ this.retrying = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */ this.writing = undefined;

    this.tree = computed(() => {
      const boot = this.boot.value;
      return boot && new Tree(boot.arrays.merges, boot.arrays.heights, boot.arrays.order);
    });
    // parts of the view whose value stays the same object until they change: what is made of them is not made again by every click
    const part = (/** @type {(view: View) => any} */ pick) => {
      const text = computed(() => JSON.stringify(pick(this.view.value)));
      return computed(() => JSON.parse(text.value));
    };
    const cutting = part(({ cut, split, join, cutM }) => ({ cut, split, join, cutM })), rep = part((view) => view.rep);
    const brushing = part(({ brush, x, y }) => ({ brush, x, y }));
    this.groups = computed(() => {
      const tree = this.tree.value, { cut, split, join, cutM } = cutting.value;
      if (!tree) return [];
      return cutM === tree.m ? tree.cut(cut, split, join) : tree.cut(cut);
    });
    // groupOf[leaf] = which of the groups it is in
    this.groupOf = computed(() => {
      const tree = this.tree.value, found = new Int32Array(tree ? tree.m : 0);
      if (tree) this.groups.value.forEach((/** @type {number} */ node, /** @type {number} */ g) => { for (const leaf of tree.leaves(node)) found[leaf] = g; });
      return found;
    });
    this.representatives = computed(() => {
      const tree = this.tree.value;
      return tree ? this.groups.value.map((/** @type {number} */ node) => refOf(tree, node, rep.value)) : [];
    });
    // until one is pinned, the largest group's
    this.pinned = computed(() => {
      const sizes = this.groups.value.map((/** @type {number} */ node) => this.tree.value.size[node]);
      return this.view.value.pin ?? this.representatives.value[sizes.indexOf(Math.max(...sizes))] ?? null;
    });
    // what detail, objects and tools are about: the selected clustering, or without one the pinned
    this.selected = computed(() => this.view.value.sel ?? this.pinned.value);
    this.selectedNode = computed(() => (this.tree.value ? nodeOf(this.tree.value, this.view.value.sel) : -1));
    // leaves inside the brush of the scores, or null without one
    this.brushed = computed(() => {
      const { brush, x, y } = brushing.value;
      if (!brush || !this.boot.value) return null;
      const xs = this.score(x), ys = this.score(y);
      if (!xs || !ys) return null;
      const inside = [];
      for (let i = 0; i < xs.length; i++) {
        if (xs[i] >= brush[0] && xs[i] <= brush[1] && ys[i] >= brush[2] && ys[i] <= brush[3]) inside.push(i);
      }
      return inside;
    });
  }

  /** Values of a score, one a clustering; null if there is none of that name. @param {string} name */
  score(name) {
    const at = this.session.value.scores.findIndex((/** @type {any} */ one) => one.name === name);
    const m = this.session.value.n_clusterings;
    return at < 0 ? null : /** @type {Float32Array} */ (this.boot.value.arrays.scores).subarray(at * m, (at + 1) * m);
  }

  /** Ask for everything that the first picture needs. */
  async open() {
    const isFirst = !this.session.value;
    try {
      const [session, boot] = await Promise.all([this.transport.get("/api/session"), this.transport.get("/api/boot")]);
      const shown = decode(boot.buffer);
      batch(() => {
        this.session.value = session.json;
        this.boot.value = shown;
        this.labels.take(shown, shown.header.representatives);
        this.job.value = session.json.job;
        const given = this.address && isFirst ? readHash(location.hash, session.json.run) : null;
        this.view.value = this.checked(given ?? this.view.value);
        this.status.value = { kind: "ready", message: "" };
      });
      this.writeAddress();
    } catch (error) {
      this.fail(error);
    }
  }

  /** A view that this run can show: names and nodes it does not have fall back to the start. @param {View} view @returns {View} */
  checked(view) {
    const { scores, cut, n_clusterings: m } = this.session.value;
    const names = scores.map((/** @type {any} */ one) => one.name);
    const ref = (/** @type {string | null} */ one) => {
      const parsed = one ? parseRef(one) : null;
      if (!one || !parsed) return null;
      const count = parsed.m ?? m;
      return count <= m && parsed.node <= 2 * count - 2 ? one : null;
    };
    const name = (/** @type {string} */ one, /** @type {number} */ at) => (names.includes(one) ? one : names[at] ?? names[0] ?? "");
    return {
      ...view,
      cut: Math.max(1, Math.min(m, view.cut || cut.groups)),
      cutM: view.cutM || m,
      sel: ref(view.sel), pin: ref(view.pin), cmp: ref(view.cmp),
      tray: view.tray.filter((kept) => ref(kept.ref)),
      x: name(view.x, 0), y: name(view.y, 1),
      colour: view.colour === "group" || names.includes(view.colour) ? view.colour : "group",
    };
  }

  /** Change what is shown; every change can be undone, quick ones (a slider in motion) as one. @param {Partial<View>} patch @param {boolean} [quick] */
  go(patch, quick = false) {
    const now = this.view.value, next = { ...now, ...patch };
    if (next.sel !== now.sel && patch.cluster === undefined) next.cluster = -1; // clusters are numbered within a clustering
    if (JSON.stringify(now) === JSON.stringify(next)) return;
    batch(() => {
      if (!(quick && this.moving)) {
        this.past.value = [...this.past.value, now].slice(-UNDOS);
        this.future.value = [];
      }
      this.moving = quick;
      this.view.value = next;
    });
    this.writeAddress(quick);
  }

  /** A quick change has ended: the next one is a step of its own. */
  settle() {
    this.moving = false;
    this.writeAddress();
  }

  undo() {
    const past = this.past.value;
    if (past.length) this.step(past[past.length - 1], past.slice(0, -1), [...this.future.value, this.view.value]);
  }

  redo() {
    const future = this.future.value;
    if (future.length) this.step(future[future.length - 1], [...this.past.value, this.view.value], future.slice(0, -1));
  }

  /** @param {View} view @param {View[]} past @param {View[]} future */
  step(view, past, future) {
    batch(() => {
      this.moving = false;
      this.past.value = past;
      this.future.value = future;
      this.view.value = this.checked(view);
    });
    this.writeAddress();
  }

  /** @param {boolean} [later] once the motion pauses: browsers refuse addresses that change many times a second */
  writeAddress(later = false) {
    clearTimeout(this.writing);
    if (!this.address) return;
    if (later) this.writing = setTimeout(() => this.writeAddress(), 200);
    else history.replaceState(null, "", `#${writeHash(this.view.value, this.session.value.run)}`);
  }

  /** Show what an address says that was pasted over this one. */
  readAddress() {
    const given = this.session.value && readHash(location.hash, this.session.value.run);
    if (given) this.go(this.checked(given));
  }

  /** @param {any} patch */
  prefer(patch) {
    this.prefs.value = { ...this.prefs.value, ...patch };
    try {
      localStorage.setItem("consilience-prefs", JSON.stringify(this.prefs.value));
    } catch {
      this.message.value = "This browser keeps no settings: they last until the page is closed.";
    }
  }

  /** Tell people what went wrong; a lost server is asked again until it answers. @param {any} error */
  fail(error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 0) {
      this.status.value = { kind: "lost", message: "The server does not answer: has it been stopped? This view is kept, and goes on when it is back." };
      this.retry();
    } else if (error.status === 401) {
      this.status.value = { kind: "refused", message: "The server was started again, or this address lacks its token: open the address that it printed. This page then goes on by itself." };
      this.retry();
    } else {
      this.message.value = error.message;
    }
  }

  /** Ask nothing more. */
  close() {
    this.closed = true;
    clearTimeout(this.retrying);
    clearTimeout(this.writing);
  }

  retry() {
    if (this.retrying || this.closed) return;
    this.retrying = setTimeout(async () => {
      this.retrying = undefined;
      try {
        await this.transport.get("/api/session");
        await this.open();
      } catch (error) {
        this.fail(error);
      }
    }, 1000);
  }
}

function readPrefs() {
  const start = { theme: "auto", tables: /** @type {string[]} */ ([]) };
  try {
    return { ...start, ...JSON.parse(localStorage.getItem("consilience-prefs") ?? "{}") };
  } catch {
    return start;
  }
}

const NUMBERS = ["cut", "cutM", "cluster"], LISTS = ["split", "join", "brush"], TEXTS = ["rep", "sel", "pin", "cmp", "x", "y", "map", "colour", "tab"];

/** @param {View} view @param {string} run */
export function writeHash(view, run) {
  const parts = new URLSearchParams({ v: "1", run });
  const from = /** @type {any} */ (view), start = /** @type {any} */ (START);
  for (const name of [...NUMBERS, ...TEXTS]) if (from[name] !== start[name] && from[name] !== null) parts.set(name, String(from[name]));
  for (const name of LISTS) if (from[name]?.length) parts.set(name, from[name].join(","));
  for (const kept of view.tray) parts.append("tray", JSON.stringify([kept.ref, kept.name, kept.note]));
  return parts.toString();
}

/** The view of an address; null if it is of another run or version. @param {string} hash @param {string} run @returns {View | null} */
export function readHash(hash, run) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  if (parts.get("v") !== "1" || parts.get("run") !== run) return null;
  const view = /** @type {any} */ ({ ...START });
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
      const [ref, name, note] = JSON.parse(text);
      return [{ ref: String(ref), name: String(name).slice(0, 80), note: String(note).slice(0, 2000) }];
    } catch {
      return [];
    }
  });
  return view;
}

const Shared = createContext(/** @type {Store} */ (/** @type {any} */ (null)));
export const StoreProvider = Shared.Provider;
export const useStore = () => useContext(Shared);
