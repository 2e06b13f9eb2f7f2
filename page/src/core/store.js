// What is shown, as signals: the session, the view of it that people have chosen, and what follows from both.
import { batch, computed, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { WHOLE } from "../draw/window.js";
import { Address } from "./address.js";
import { Connection } from "./connection.js";
import { plural } from "./format.js";
import { topOf } from "./groups.js";
import { History } from "./history.js";
import { LabelCache } from "./labels.js";
import { maskOfRows, NONE, NOT_PICKED } from "./picked.js";
import { prefer, preferences } from "./preferences.js";
import { showLook } from "./session_file.js";
import { keepTray } from "./tray_kept.js";
import { nodeOf, refOf, Tree } from "./tree.js";
import { checkedView, formatLoss, isSameOrigin, originOf, readHash, START } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./messages.js").Session} Session */
/** @typedef {import("./messages.js").Boot} Boot */
/** @typedef {{address?: boolean, model?: import("./widget_link.js").Model}} Options */

/**
 * Nothing yet: views are drawn only once the session is there, so they may take it for granted.
 * @template T @returns {T}
 */
const notYet = () => /** @type {T} */ (/** @type {unknown} */ (null));

/** @param {View} a @param {View} b */
const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** A view under the tabs of another, which undoing leaves alone. @param {View} view @param {View} tabs */
const withTabs = (view, { tab, pane }) => ({ ...view, tab, pane });

export class Store {
  /** @param {import("./transport.js").Transport} transport @param {Options} [options] */
  constructor(transport, options = {}) {
    this.message = signal(""); // one line for people, read out
    this.connection = new Connection(
      transport,
      (opened) => this.show(opened),
      (text) => {
        this.message.value = text;
      },
    );
    this.transport = this.connection.transport;
    this.status = this.connection.status;
    this.address = new Address(options.address ?? false);
    this.history = new History();
    this.prefs = preferences();
    /** @type {import("@preact/signals").Signal<Session>} */ this.session = signal(notYet());
    /** @type {import("@preact/signals").Signal<Boot>} */ this.boot = signal(notYet());
    this.job = signal(/** @type {import("./messages.js").Job | null} */ (null));
    this.help = signal(false);
    this.more = signal(/** @type {string | null} */ (null)); // the ref that "more like this" is being asked for
    this.view = signal(START);
    // clusterings that were made last: the first of them, and the view that undoing goes back to when it drops them
    this.made = signal(/** @type {{first: number, before: import("./history.js").Step | null} | null} */ (null));
    this.window = signal(WHOLE); // the part of the plane that is in sight
    this.labels = new LabelCache(this);
    /** @type {Map<string, string>} */ this.linkages = new Map(); // by which linkage the trees of origins are grown
    this.editing = Promise.resolve(true); // edits by hand, one after the other
    this.meetings = 0; // how often a server that was lost was met again
    // what answers belong to: none is kept when the run, its trees or its number of clusterings change, or after a
    // restart
    this.snapshot = signal("");
    this.origin = computed(() => (this.session.value ? originOf(this.session.value) : ""));

    this.picked = signal(NONE); // objects, sorted: lit wherever objects are drawn
    this.against = signal(NONE); // those they are compared with; none: all others
    this.pickedMask = computed(() => maskOfRows(this.picked.value, this.session.value?.n_objects ?? 0));
    this.plane = signal(/** @type {import("./messages.js").Plane | null} */ (null)); // null: the first
    this.xy = computed(() => this.plane.value?.xy ?? this.boot.value?.arrays.xy);
    this.colored = signal(/** @type {import("./messages.js").Colored | null} */ (null)); // null: by the clustering
    this.edition = signal(0); // of the labels that were saved here: answers tell of them
    this.lasso = signal(false);
    this.search = signal(0); // goes up when people ask for the search field

    this.tree = computed(() => {
      const boot = this.boot.value;
      return boot && new Tree(boot.arrays.merges, boot.arrays.heights, boot.arrays.order);
    });
    // parts of the view whose value stays the same object until they change: what is made of them is not computed
    // again by every click
    const part = (/** @type {(view: View) => any} */ pick) => {
      const text = computed(() => JSON.stringify(pick(this.view.value)));
      return computed(() => JSON.parse(text.value));
    };
    const cutting = part(({ cut, split, join, cutM, open }) => ({ cut, split, join, cutM, open }));
    const rep = part((view) => view.rep);
    const brushing = part(({ brush, x, y }) => ({ brush, x, y }));
    this.top = computed(() => (this.tree.value ? topOf(this.tree.value, cutting.value) : -1)); // the opened branch
    this.groups = computed(() => {
      const tree = this.tree.value;
      const { cut, split, join, cutM } = cutting.value;
      if (!tree) return [];
      return cutM === tree.m ? tree.cut(cut, split, join, this.top.value) : tree.cut(cut);
    });
    // groupOf[leaf] = which of the groups it is in; −1 outside the opened branch
    this.groupOf = computed(() => {
      const tree = this.tree.value;
      const found = new Int32Array(tree ? tree.m : 0).fill(-1);
      if (tree)
        this.groups.value.forEach((node, g) => {
          for (const leaf of tree.leaves(node)) found[leaf] = g;
        });
      return found;
    });
    this.representatives = computed(() => {
      const tree = this.tree.value;
      return tree ? this.groups.value.map((node) => refOf(tree, node, rep.value)) : [];
    });
    // whose colors rule: the pinned clustering, or the one that led when the run was opened, whatever is shown now
    this.home = signal(/** @type {string | null} */ (null));
    this.reference = computed(() => this.view.value.pin ?? this.home.value ?? this.representatives.value[0] ?? null);
    // what detail, objects and tools are about: the selected clustering, or without one the largest group's
    this.selected = computed(() => this.view.value.sel ?? this.representatives.value[0] ?? null);
    this.selectedNode = computed(() => (this.tree.value ? nodeOf(this.tree.value, this.selected.value) : -1));
    this.keeping = keepTray(this);
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
    const at = this.session.value.scores.findIndex((one) => one.name === name);
    const m = this.boot.value.arrays.order.length;
    return at < 0 ? null : /** @type {Float32Array} */ (this.boot.value.arrays.scores).subarray(at * m, (at + 1) * m);
  }

  /**
   * What a clustering is compared with: the pinned one, or else the largest group's, or the next.
   * @param {string} ref
   */
  opposite(ref) {
    const [first, second] = this.representatives.value;
    return this.view.value.pin ?? (ref === first ? second : first) ?? null;
  }

  /** Ask for everything that the first picture needs. */
  open() {
    return this.connection.open();
  }

  /** @param {unknown} error */
  fail(error) {
    this.connection.fail(error);
  }

  /** Show what the server has now. @param {import("./connection.js").Opened} opened */
  show({ session, boot }) {
    const now = originOf(session);
    const m = boot.arrays.order.length;
    const isFirst = !this.session.value;
    const isOther = !isFirst && (!isSameOrigin(this.origin.value, now) || m < this.tree.value.m);
    // of the same clusterings: undoing can grow the one before again, and objects are the same
    const isOtherTree = isOther && session.run === this.session.value.run && m === this.tree.value.m;
    if (!isFirst && this.status.value.kind !== "ready") this.meetings++;
    const snapshot = [now, session.revision, m, this.meetings].join(" ");
    const given = isFirst || isOther ? this.address.read() : null;
    const left = isFirst && !given && this.address.isUsed ? readHash(session.view?.address ?? "") : null;
    const asked = given && (isFirst || isSameOrigin(given.of, now)) ? given : (left ?? this.view.value);
    // the tray as it was left, where the address brings none
    const from = isFirst && !asked.tray.length && session.tray ? { ...asked, tray: session.tray } : asked;
    const view = checkedView(from, session, m);
    batch(() => {
      if (snapshot !== this.snapshot.value) this.labels.clear();
      this.snapshot.value = snapshot;
      this.linkages.set(now, session.linkage);
      this.session.value = session;
      this.boot.value = boot;
      this.labels.take(boot);
      const leaf = Number.parseInt(this.home.value ?? "", 10);
      if (isOther || !(leaf < m)) this.home.value = this.labels.takeLeaf(boot);
      const job = this.job.value; // one that ran is asked about until it says how it ended
      this.job.value = session.job ?? (!isOther && job?.state === "running" ? job : null);
      if (isOther) {
        this.more.value = null;
        this.made.value = null;
      }
      if (isOther && !isOtherTree) {
        this.picked.value = NONE;
        this.against.value = NONE;
        this.plane.value = null;
        this.colored.value = null;
        this.history.clear();
      }
      this.status.value = { kind: "ready", message: "" };
      this.turnTo(view, from);
    });
    if (isFirst && session.kept_note) this.message.value = session.kept_note;
    if (isFirst && session.view && this.address.isUsed) showLook(this, session.view);
  }

  /** Show a view, and say what of the one that was asked for cannot be shown. @param {View} view @param {View} asked */
  turnTo(view, asked) {
    this.view.value = view;
    const lost = formatLoss(asked, view, this.session.value.name);
    if (lost) this.message.value = lost;
    this.address.write(() => this.view.value);
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
    if (isSame(now, next)) return;
    batch(() => {
      if (!isSame(now, withTabs(next, now))) this.history.push(this.step(), quick);
      this.view.value = next;
    });
    this.address.write(() => this.view.value, quick);
  }

  /** A quick change has ended: the next one is a step of its own. */
  settle() {
    this.history.moving = false;
    this.address.write(() => this.view.value);
  }

  /** What undoing goes back to. */
  step() {
    return { view: this.view.value, picked: this.picked.value };
  }

  undo() {
    const made = this.made.value;
    if (made?.before && this.history.past.value.at(-1) === made.before) return this.drop();
    return this.turnBack(this.history.undo(this.step()));
  }

  redo() {
    return this.turnBack(this.history.redo(this.step()));
  }

  /**
   * Show a step of before or after, in the tree that it was made in.
   * @param {import("./history.js").Step | null} step
   */
  async turnBack(step) {
    if (!step) return;
    this.message.value = ""; // what it said was of the step that is gone
    const { picked } = step;
    const view = withTabs(step.view, this.view.value);
    const isPicked = picked !== this.picked.value && isSame(view, this.view.value);
    this.picked.value = picked;
    const linkage = this.linkages.get(view.of);
    if (linkage && linkage !== this.session.value.linkage) await this.grow(linkage, view);
    else if (isPicked) this.message.value = picked.length ? `${plural(picked.length, "object")} picked.` : NOT_PICKED;
    else this.turnTo(this.checked(view), view);
  }

  /**
   * Show the tree of another linkage, which the server grows, with a view of it.
   * @param {string} to @param {View} view @returns {Promise<boolean>} whether it is shown
   */
  async grow(to, view) {
    return this.attempt(async () => {
      await this.transport.post("/api/linkage", { linkage: to });
      this.view.value = view;
      this.address.write(() => this.view.value);
      await this.open();
      const groups = plural(this.groups.value.length, "group");
      this.message.value = `The tree is grown by ${to} linkage: ${groups}.`;
    });
  }

  /**
   * Do what asks the server; what goes wrong is said.
   * @param {() => Promise<unknown>} work @returns {Promise<boolean>} whether it went well
   */
  async attempt(work) {
    try {
      await work();
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Take away the clusterings that were made last, from a stored run too. */
  async drop() {
    const made = this.made.value;
    if (!made) return;
    await this.attempt(async () => {
      await this.transport.post("/api/drop", { first: made.first });
      const count = this.tree.value.m - made.first;
      const now = this.view.value;
      // what was put into the tray since, renamed, noted or edited by hand is nobody's to drop
      const before = { ...(made.before?.view ?? { ...now, open: [], cuts: [], sel: null, cutM: 0 }), tray: now.tray };
      this.made.value = null;
      this.history.clear();
      this.view.value = before;
      this.address.write(() => before);
      await this.open();
      this.message.value = `${plural(count, "clustering")} taken away.`;
    });
  }

  /** Show what an address says that was pasted over this one. */
  readAddress() {
    const given = this.session.value && this.address.read();
    if (!given) return;
    if (given.of.split(".")[0] !== this.session.value.run) {
      this.message.value = "That address is of another run than the one that is open here.";
      return;
    }
    const view = this.checked(given);
    this.go(view);
    const lost = formatLoss(given, view, this.session.value.name);
    if (lost) this.message.value = lost;
  }

  /** @param {Partial<import("./preferences.js").Preferences>} patch */
  prefer(patch) {
    const isKept = prefer(this.prefs, patch);
    if (!isKept) this.message.value = "This browser keeps no settings: they last until the page is closed.";
  }

  /** Ask nothing more. */
  close() {
    this.connection.close();
    this.address.close();
    this.keeping.stop();
  }
}

const Shared = createContext(/** @type {Store} */ (notYet()));
export const StoreProvider = Shared.Provider;
export const useStore = () => useContext(Shared);
