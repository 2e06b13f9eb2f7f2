// Labels of the clusterings that are looked at, fetched together and kept while there is room.
import { computed, signal } from "@preact/signals";
import { slots } from "./align.js";
import { decode } from "./codec.js";
import { Refusal, SUPERSEDED } from "./transport.js";
import { isConsensus } from "./tree.js";

/**
 * @typedef {{
 *   ref: string, node: number, leaf: number | null, clusters: number, size: number,
 *   scores: Record<string, number>, names?: string[] | null, goes_by?: [string, number][],
 *   labels: import("./messages.js").Labels, support: Uint8Array | null,
 * }} Shown
 */

/** @typedef {import("./messages.js").LabelsMessage} LabelsMessage */

const ROOM = 400e6; // bytes of labels kept
const AT_ONCE = 32; // refs asked for in one request

/** @param {Shown | null | undefined} shown */
const bytesOf = (shown) => (shown ? shown.labels.byteLength + (shown.support?.byteLength ?? 0) : 0);

export class LabelCache {
  /** @param {import("./store.js").Store} store */
  constructor(store) {
    this.store = store;
    /** @type {Map<string, import("@preact/signals").Signal<Shown | null>>} */ this.known = new Map();
    /** @type {Set<string>} */ this.wanted = new Set();
    /** @type {Set<string>} */ this.asked = new Set(); // on their way
    /** @type {Map<string, Int32Array>} */ this.slotsOf = new Map();
    this.asking = false;
    this.bytes = 0;
    /** @type {AbortController | null} */ this.flight = null; // of the question that is on its way
    this.waiting = signal(0); // consensuses that are still to come
    this.isBusy = computed(() => this.waiting.value > 0);
  }

  /**
   * The labels of a ref, or null until they are there; reading it in a component draws that again when they come.
   * @param {string} ref
   */
  get(ref) {
    void this.store.snapshot.value; // also when all of them were forgotten
    let found = this.known.get(ref);
    if (found) {
      this.known.delete(ref); // the last used stays longest
      this.known.set(ref, found);
    } else {
      found = signal(null);
      this.known.set(ref, found);
    }
    if (!found.peek()) this.want(ref);
    return found.value;
  }

  /**
   * Color slots of a ref's clusters, aligned to those of the reference; null until both are there.
   * @param {string} ref
   */
  slots(ref) {
    const pin = this.store.reference.value;
    const mine = this.get(ref);
    const pinned = pin ? this.get(pin) : null;
    if (!mine || !pinned) return null;
    const key = `${ref} ${pin}`;
    let found = this.slotsOf.get(key);
    if (!found) {
      found = slots(mine.labels, mine.clusters, pinned.labels, pinned.clusters);
      if (this.slotsOf.size > 5000) this.slotsOf.clear();
      this.slotsOf.set(key, found);
    }
    return found;
  }

  /** @param {string} ref */
  want(ref) {
    if (!this.asked.has(ref)) this.wanted.add(ref);
    if (this.asking) {
      queueMicrotask(() => this.prune());
      return;
    }
    this.asking = true;
    queueMicrotask(() => this.ask());
  }

  /** What is on the screen or about to be; `null` until there is a session. */
  needed() {
    const { sel, pin, cmp } = this.store.view.peek();
    const shown = [sel, pin, cmp, this.store.reference.peek(), this.store.selected.peek()];
    return new Set([...shown, ...this.store.representatives.peek()]);
  }

  /**
   * Take back what nobody looks at any more: a slider in motion passes many cuts, and a consensus takes long. A
   * question on its way is given up if all of it is stale.
   */
  prune() {
    const needed = this.needed();
    const isStale = (/** @type {string} */ ref) => isConsensus(ref) && !needed.has(ref);
    for (const ref of this.wanted) if (isStale(ref)) this.wanted.delete(ref);
    if (this.asked.size && [...this.asked].every(isStale)) this.flight?.abort();
    this.waiting.value = [...this.wanted, ...this.asked].filter((ref) => isConsensus(ref)).length;
  }

  /** Ask for nothing more, and give up what is on its way. */
  stop() {
    this.wanted.clear();
    this.flight?.abort();
    this.prune();
  }

  /**
   * What to ask for now: what is selected and pinned before the rest, medoids together, a consensus (which takes
   * long) alone.
   */
  next() {
    const first = [this.store.view.peek().sel, this.store.reference.peek()];
    const rank = (/** @type {string} */ ref) => (first.includes(ref) ? 0 : ref.endsWith("m") ? 1 : 2);
    const refs = [...this.wanted].sort((a, b) => rank(a) - rank(b));
    const slow = refs.findIndex((ref) => isConsensus(ref));
    return refs.slice(0, slow < 0 ? AT_ONCE : Math.min(AT_ONCE, slow || 1));
  }

  /** Forget everything: numbers may mean something else from now on. What is on the screen is asked for again. */
  clear() {
    this.known.clear();
    this.slotsOf.clear();
    this.wanted.clear();
    this.asked.clear();
    this.bytes = 0;
  }

  async ask() {
    let snapshot = this.store.snapshot.peek();
    try {
      for (this.prune(); this.wanted.size; this.prune()) {
        const refs = this.next();
        snapshot = this.store.snapshot.peek();
        for (const ref of refs) {
          this.wanted.delete(ref);
          this.asked.add(ref);
        }
        this.flight = new AbortController();
        this.prune();
        const answer = await this.store.transport.get(`/api/labels/${refs.join(",")}`, this.flight.signal);
        const shown = /** @type {LabelsMessage} */ (/** @type {unknown} */ (decode(answer.buffer)));
        const isNow = () => snapshot === this.store.snapshot.peek();
        // another page added clusterings
        if (isNow() && shown.header.revision !== this.store.boot.value.header.revision) await this.store.open();
        if (isNow()) this.take(shown);
        this.asked.clear();
      }
    } catch (error) {
      // of a tree that is gone: what was asked for is no longer looked at
      const isStale = error instanceof Refusal && error.status === 404 && snapshot !== this.store.snapshot.peek();
      if (!isStale && !(error instanceof Refusal && error.status === SUPERSEDED)) {
        this.wanted.clear();
        this.store.fail(error);
      }
    } finally {
      this.asked.clear();
      this.asking = false;
      this.prune();
    }
    if (this.wanted.size) this.want([...this.wanted][0]); // a question was taken back: on with what is in sight now
  }

  /** Keep what an answer brought. @param {LabelsMessage | import("./messages.js").Boot} shown */
  take({ header, arrays, shapes }) {
    if (!header.items.length) return;
    const n = shapes.labels[1];
    const all = "support" in arrays ? arrays.support : null;
    header.items.forEach((item, row) => {
      const labels = arrays.labels.subarray(row * n, (row + 1) * n);
      const support = all && item.leaf === null ? all.subarray(row * n, (row + 1) * n) : null;
      const value = { ...item, labels, support };
      const known = this.known.get(item.ref);
      this.bytes += bytesOf(value) - bytesOf(known?.peek());
      if (known) known.value = value;
      else this.known.set(item.ref, signal(/** @type {Shown | null} */ (value)));
    });
    this.forget();
  }

  /**
   * Keep the first clustering of the first picture by its own number too, which stays whatever tree is shown.
   * @param {import("./messages.js").Boot} boot @returns {string | null} its ref
   */
  takeLeaf({ header }) {
    const first = header.items[0];
    const value = first && this.known.get(first.ref)?.peek();
    if (!value || first.leaf === null) return null;
    const ref = `${first.leaf}m`;
    if (!this.known.get(ref)?.peek())
      this.known.set(ref, signal(/** @type {Shown | null} */ ({ ...value, ref, size: 1 })));
    return ref;
  }

  /** Let go of what was used longest ago, but nothing that is on the screen. */
  forget() {
    const { sel, pin, cmp } = this.store.view.peek();
    const shown = new Set([sel, pin, cmp, this.store.reference.peek(), ...this.store.representatives.peek()]);
    for (const [ref, found] of this.known) {
      if (this.bytes <= ROOM) return;
      const value = found.peek();
      if (!value || shown.has(ref)) continue;
      this.bytes -= bytesOf(value);
      this.known.delete(ref);
    }
  }
}
