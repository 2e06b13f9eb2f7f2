// The view's copy in the browser's address, where there is one.
import { readHash, writeHash } from "./view.js";

const PAUSE = 200; // milliseconds of rest: browsers refuse addresses that change many times a second

export class Address {
  /** @param {boolean} isUsed a notebook has none */
  constructor(isUsed) {
    this.isUsed = isUsed;
    /** @type {ReturnType<typeof setTimeout> | undefined} */ this.writing = undefined;
    this.written = ""; // by this page, last
  }

  /** The view that it says, or null. */
  read() {
    this.written = "";
    return this.isUsed ? readHash(location.hash) : null;
  }

  /** @param {() => import("./view.js").View} view @param {boolean} [later] once the motion pauses */
  write(view, later = false) {
    clearTimeout(this.writing);
    if (!this.isUsed) return;
    if (later) this.writing = setTimeout(() => this.write(view), PAUSE);
    else this.put(`#${writeHash(view())}`);
  }

  /** Browsers take a millisecond for an address, the same one too. @param {string} text */
  put(text) {
    if (text === this.written) return;
    this.written = text;
    history.replaceState(null, "", text);
  }

  close() {
    clearTimeout(this.writing);
  }
}
