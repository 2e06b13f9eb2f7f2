// The server behind the page: asked for what the first picture needs, and asked again while it is away.
import { signal } from "@preact/signals";
import { decode } from "./codec.js";
import { Refusal } from "./transport.js";

/** @typedef {import("./messages.js").Session} Session */
/** @typedef {import("./messages.js").Boot} Boot */
/** @typedef {{session: Session, boot: Boot}} Opened */

const TRIES = 5; // of asking for two answers that belong together
const AGAIN = 1000; // milliseconds until a server that is away is asked again

export class Connection {
  /**
   * @param {import("./transport.js").Transport} transport @param {(opened: Opened) => void} show
   * @param {(text: string) => void} say
   */
  constructor(transport, show, say) {
    this.transport = transport;
    this.show = show;
    this.say = say;
    this.status = signal({ kind: "loading", message: "opening …" }); // loading, ready, lost, refused
    this.closed = false;
    this.turn = 0; // of the last `open`
    /** @type {Promise<void>} */ this.opening = Promise.resolve();
    /** @type {ReturnType<typeof setTimeout> | undefined} */ this.retrying = undefined;
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

  /**
   * The session and its first picture: asked for together, and again when clusterings were added in between.
   * @returns {Promise<Opened>}
   */
  async ask() {
    for (let i = 0; i < TRIES; i++) {
      const [first, second] = await Promise.all([this.transport.get("/api/session"), this.transport.get("/api/boot")]);
      const session = /** @type {Session} */ (first.json);
      const boot = /** @type {Boot} */ (/** @type {unknown} */ (decode(second.buffer)));
      const isOne = session.revision === boot.header.revision;
      if (isOne && session.n_clusterings === boot.arrays.order.length) return { session, boot };
    }
    throw new Refusal(503, "Clusterings are being added faster than they are read: asking again.");
  }

  /**
   * Tell people what went wrong; a lost server is asked again until it answers.
   * @param {unknown} error @param {boolean} [again] whether to ask again in any case
   */
  fail(error, again = false) {
    if (!(error instanceof Refusal)) throw error;
    const away = AWAY[error.status];
    if (away) this.status.value = away;
    else this.say(error.message);
    if (away || again) this.retry();
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
    }, AGAIN);
  }

  /** Ask nothing more. */
  close() {
    this.closed = true;
    clearTimeout(this.retrying);
  }
}

/** @type {Record<number, {kind: string, message: string}>} what a status means that is not about the question */
const AWAY = {
  0: {
    kind: "lost",
    message: "The server does not answer: has it been stopped? This view is kept, and goes on when it is back.",
  },
  401: {
    kind: "refused",
    message:
      "The server was started again, or this address lacks its token: open the address that it printed. " +
      "This page then goes on by itself.",
  },
};
