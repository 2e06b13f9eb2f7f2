// The view's copy in the browser's address, where there is one.
import { readHash, writeHash } from "./view.js";

const PAUSE = 200; // milliseconds of rest: browsers refuse addresses that change many times a second

export class Address {
  /** @param {boolean} isUsed a notebook has none */
  constructor(isUsed) {
    this.isUsed = isUsed;
    /** @type {ReturnType<typeof setTimeout> | undefined} */ this.writing = undefined;
  }

  /** The view that it says, or null. */
  read() {
    return this.isUsed ? readHash(location.hash) : null;
  }

  /** @param {() => import("./view.js").View} view @param {boolean} [later] once the motion pauses */
  write(view, later = false) {
    clearTimeout(this.writing);
    if (!this.isUsed) return;
    if (later) this.writing = setTimeout(() => this.write(view), PAUSE);
    else history.replaceState(null, "", `#${writeHash(view())}`);
  }

  close() {
    clearTimeout(this.writing);
  }
}
