// The server behind the page: asked for what the first picture needs, and asked again while it is away.
import { signal } from "@preact/signals";
import { decode } from "./codec.js";
import { Refusal } from "./transport.js";

/** @typedef {import("./messages.js").Session} Session */
/** @typedef {import("./messages.js").Boot} Boot */
/** @typedef {{session: Session, boot: Boot}} Opened */

const TRIES = 5; // of asking for two answers that belong together
const PATIENCE = 4000; // milliseconds without an answer after which a small question is asked
const PING = 1000; // milliseconds in which that is answered, or the page says that the server does not answer
const AGAIN = 1000; // milliseconds until a server that is away is asked again

export class Connection {
  /**
   * @param {import("./transport.js").Transport} transport @param {(opened: Opened) => void} show
   * @param {(text: string) => void} say
   */
  constructor(transport, show, say) {
    this.transport = watched(transport, this);
    this.pending = new Set(); // alarms of questions on their way
    this.show = show;
    this.say = say;
    this.status = signal({ kind: "loading", message: "opening …" }); // loading, ready, silent, lost, refused
    this.plain = transport;
    this.closed = false;
    this.looking = false;
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

  /** Whether the server is there while somebody waits for an answer; a frozen one takes questions and is silent. */
  async look() {
    if (this.closed || this.looking) return;
    this.looking = true;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), PING);
    try {
      await this.plain.get("/api/session", silence.signal);
      if (this.status.value.kind === "silent") this.status.value = { kind: "ready", message: "" };
    } catch (error) {
      if (silence.signal.aborted && this.status.value.kind === "ready") this.status.value = SILENT;
      else if (!silence.signal.aborted && error instanceof Refusal && AWAY[error.status]) this.fail(error);
    } finally {
      clearTimeout(timer);
      this.looking = false;
    }
  }

  /** A question was answered. @param {ReturnType<typeof setInterval>} alarm */
  answered(alarm) {
    clearInterval(alarm);
    this.pending.delete(alarm);
    if (this.status.value.kind === "silent") this.status.value = { kind: "ready", message: "" };
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
    this.pending.forEach(clearInterval);
    clearTimeout(this.retrying);
  }
}

const SILENT = {
  kind: "silent",
  message:
    "The server has not answered for 5 seconds: it is busy, or stands still. This view is kept, and goes on with it.",
};

/**
 * The same transport, its questions counted while they are on their way.
 * @param {import("./transport.js").Transport} transport @param {Connection} connection
 * @returns {import("./transport.js").Transport}
 */
function watched(transport, connection) {
  /** @template T @param {() => Promise<T>} ask */
  const count = async (ask) => {
    const alarm = setInterval(() => connection.look(), PATIENCE);
    connection.pending.add(alarm);
    try {
      return await ask();
    } finally {
      connection.answered(alarm);
    }
  };
  return {
    get: (...asked) => count(() => transport.get(...asked)),
    post: (...asked) => count(() => transport.post(...asked)),
    delete: (...asked) => count(() => transport.delete(...asked)),
  };
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
      "This browser has no token for it, or the server was started again: open the address that it printed. " +
      "This page then goes on by itself.",
  },
};
