// Undo and redo: what was shown and picked before and after.
import { batch, signal } from "@preact/signals";

/** @typedef {{view: import("./view.js").View, picked: Uint32Array<ArrayBuffer>}} Step */

const UNDOS = 200;

export class History {
  constructor() {
    this.past = signal(/** @type {Step[]} */ ([]));
    this.future = signal(/** @type {Step[]} */ ([]));
    this.moving = false; // a quick change is going on, such as a slider in motion
  }

  /** Keep what gives way; quick changes in a row are one step. @param {Step} step @param {boolean} quick */
  push(step, quick) {
    if (!(quick && this.moving)) {
      batch(() => {
        this.past.value = [...this.past.value, step].slice(-UNDOS);
        this.future.value = [];
      });
    }
    this.moving = quick;
  }

  /** The step before this one, or null. @param {Step} now */
  undo(now) {
    return this.step(this.past, this.future, now);
  }

  /** The step after this one, or null. @param {Step} now */
  redo(now) {
    return this.step(this.future, this.past, now);
  }

  /**
   * @param {import("@preact/signals").Signal<Step[]>} from @param {import("@preact/signals").Signal<Step[]>} to
   * @param {Step} now
   */
  step(from, to, now) {
    const found = from.value.at(-1);
    if (!found) return null;
    this.moving = false;
    batch(() => {
      from.value = from.value.slice(0, -1);
      to.value = [...to.value, now];
    });
    return found;
  }

  clear() {
    this.past.value = [];
    this.future.value = [];
    this.moving = false;
  }
}
