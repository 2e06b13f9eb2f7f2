// What is shown: signals, their copy in the address, undo and redo.
import { batch, computed, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { decode } from "./codec.js";
import { LabelCache } from "./labels.js";
import { Refusal } from "./transport.js";
import { nodeOf, refOf, Tree } from "./tree.js";
import { checkedView, formatLoss, isSameOrigin, originOf, readHash, START, writeHash } from "./view.js";

/** @typedef {import("./view.js").View} View */

const UNDOS = 200;
const TRIES = 5; // of asking for two answers that belong together

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
    this.turn = 0; // of the last `open`
    /** @type {Promise<void>} */ this.opening = Promise.resolve();
    this.meetings = 0; // how often a server that was lost was met again
    // what answers belong to: none is kept when the run, its trees or its number of clusterings change, or after a
    // restart
    this.edition = signal("");
    this.origin = computed(() => (this.session.value ? originOf(this.session.value) : ""));
    /** @type {ReturnType<typeof setTimeout> | undefined} */ this.retrying = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */ this.writing = undefined;

    this.tree = computed(() => {
      const boot = this.boot.value;
      return boot && new Tree(boot.arrays.merges, boot.arrays.heights, boot.arrays.order);
    });
    // parts of the view whose value stays the same object until they change: what is made of them is not made again by
    // every click
    const part = (/** @type {(view: View) => any} */ pick) => {
      const text = computed(() => JSON.stringify(pick(this.view.value)));
      return computed(() => JSON.parse(text.value));
    };
    const cutting = part(({ cut, split, join, cutM }) => ({ cut, split, join, cutM }));
    const rep = part((view) => view.rep);
    const brushing = part(({ brush, x, y }) => ({ brush, x, y }));
    this.groups = computed(() => {
      const tree = this.tree.value;
      const { cut, split, join, cutM } = cutting.value;
      if (!tree) return [];
      return cutM === tree.m ? tree.cut(cut, split, join) : tree.cut(cut);
    });
    // groupOf[leaf] = which of the groups it is in
    this.groupOf = computed(() => {
      const tree = this.tree.value;
      const found = new Int32Array(tree ? tree.m : 0);
      if (tree)
        this.groups.value.forEach((/** @type {number} */ node, /** @type {number} */ g) => {
          for (const leaf of tree.leaves(node)) found[leaf] = g;
        });
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
      const xs = this.score(x);
      const ys = this.score(y);
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
    const m = this.boot.value.arrays.order.length;
    return at < 0 ? null : /** @type {Float32Array} */ (this.boot.value.arrays.scores).subarray(at * m, (at + 1) * m);
  }

  /** Ask for everything that the first picture needs; done once the newest asking is. */
  open() {
    this.opening = this.load(++this.turn);
    return this.opening;
  }

  /** @param {number} turn */
  async load(turn) {
    try {
      const found = await this.ask();
      if (turn === this.turn && !this.closed) this.show(found);
    } catch (error) {
      if (turn === this.turn) this.fail(error, true);
    }
    if (turn !== this.turn) await this.opening;
  }

  /** The session and its first picture: asked for together, and again when clusterings were added in between. */
  async ask() {
    for (let i = 0; i < TRIES; i++) {
      const [{ json: session }, { buffer }] = await Promise.all([
        this.transport.get("/api/session"),
        this.transport.get("/api/boot"),
      ]);
      const boot = decode(buffer);
      if (session.revision === boot.header.revision && session.n_clusterings === boot.arrays.order.length)
        return { session, boot };
    }
    throw new Refusal(503, "Clusterings are being added faster than they are read: asking again.");
  }

  /** @param {{session: any, boot: ReturnType<typeof decode>}} found */
  show({ session, boot }) {
    const now = originOf(session);
    const m = boot.arrays.order.length;
    const isFirst = !this.session.value;
    const isOther = !isFirst && (!isSameOrigin(this.origin.value, now) || m < this.tree.value.m);
    if (!isFirst && this.status.value.kind !== "ready") this.meetings++;
    const edition = [now, session.revision, m, this.meetings].join(" ");
    const given = this.address && (isFirst || isOther) ? readHash(location.hash) : null;
    const from = given && (isFirst || isSameOrigin(given.of, now)) ? given : this.view.value;
    const view = checkedView(from, session, m);
    const words = formatLoss(from, view, session.name);
    batch(() => {
      if (edition !== this.edition.value) this.labels.clear();
      this.edition.value = edition;
      this.session.value = session;
      this.boot.value = boot;
      this.labels.take(boot, boot.header.representatives);
      const job = this.job.value; // one that ran is asked about until it says how it ended
      this.job.value = session.job ?? (!isOther && job?.state === "running" ? job : null);
      if (isOther) {
        this.past.value = [];
        this.future.value = [];
        this.more.value = null;
        this.moving = false;
      }
      this.view.value = view;
      this.status.value = { kind: "ready", message: "" };
      if (words) this.message.value = words;
    });
    this.writeAddress();
  }

  /** A view as this session can show it. @param {View} view */
  checked(view) {
    return checkedView(view, this.session.value, this.tree.value.m);
  }

  /**
   * Change what is shown; every change can be undone, quick ones (a slider in motion) as one.
   * @param {Partial<View>} patch @param {boolean} [quick]
   */
  go(patch, quick = false) {
    const now = this.view.value;
    const next = { ...now, ...patch };
    // clusters are numbered within a clustering
    if (next.sel !== now.sel && patch.cluster === undefined) next.cluster = -1;
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
    const shown = this.checked(view);
    const words = formatLoss(view, shown, this.session.value.name);
    batch(() => {
      this.moving = false;
      this.past.value = past;
      this.future.value = future;
      this.view.value = shown;
      if (words) this.message.value = words;
    });
    this.writeAddress();
  }

  /** @param {boolean} [later] once the motion pauses: browsers refuse addresses that change many times a second */
  writeAddress(later = false) {
    clearTimeout(this.writing);
    if (!this.address) return;
    if (later) this.writing = setTimeout(() => this.writeAddress(), 200);
    else history.replaceState(null, "", `#${writeHash(this.view.value)}`);
  }

  /** Show what an address says that was pasted over this one. */
  readAddress() {
    const given = this.session.value && readHash(location.hash);
    if (!given) return;
    if (given.of.split(".")[0] !== this.session.value.run) {
      this.message.value = "That address is of another run than the one that is open here.";
      return;
    }
    const shown = this.checked(given);
    const words = formatLoss(given, shown, this.session.value.name);
    this.go(shown);
    if (words) this.message.value = words;
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

  /**
   * Tell people what went wrong; a lost server is asked again until it answers.
   * @param {any} error @param {boolean} [again] whether to ask again in any case
   */
  fail(error, again = false) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 0) {
      this.status.value = {
        kind: "lost",
        message: "The server does not answer: has it been stopped? This view is kept, and goes on when it is back.",
      };
      this.retry();
    } else if (error.status === 401) {
      this.status.value = {
        kind: "refused",
        message:
          "The server was started again, or this address lacks its token: open the address that it printed. This page then goes on by itself.",
      };
      this.retry();
    } else {
      this.message.value = error.message;
      if (again) this.retry();
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
        this.fail(error, true);
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

const Shared = createContext(/** @type {Store} */ (/** @type {any} */ (null)));
export const StoreProvider = Shared.Provider;
export const useStore = () => useContext(Shared);
