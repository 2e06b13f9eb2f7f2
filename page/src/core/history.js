// Undo and redo: what was shown before and after.
import { batch, signal } from "@preact/signals";

/** @typedef {import("./view.js").View} View */

const UNDOS = 200;

export class History {
  constructor() {
    this.past = signal(/** @type {View[]} */ ([]));
    this.future = signal(/** @type {View[]} */ ([]));
    this.moving = false; // a quick change is going on, such as a slider in motion
  }

  /** Keep a view that gives way; quick changes in a row are one step. @param {View} view @param {boolean} quick */
  push(view, quick) {
    if (!(quick && this.moving)) {
      batch(() => {
        this.past.value = [...this.past.value, view].slice(-UNDOS);
        this.future.value = [];
      });
    }
    this.moving = quick;
  }

  /** The view before this one, or null. @param {View} now */
  undo(now) {
    return this.step(this.past, this.future, now);
  }

  /** The view after this one, or null. @param {View} now */
  redo(now) {
    return this.step(this.future, this.past, now);
  }

  /**
   * @param {import("@preact/signals").Signal<View[]>} from @param {import("@preact/signals").Signal<View[]>} to
   * @param {View} now
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
