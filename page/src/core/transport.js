// How the page asks: over HTTP with a token, or through a notebook's messages. Both answer alike.
import { dropToken, keepToken } from "./token.js";

/**
 * @typedef {{status: number, type: string, json: unknown, buffer: ArrayBuffer, name: string | null}} Answer
 * @typedef {{
 *   get: (path: string, signal?: AbortSignal) => Promise<Answer>,
 *   post: (path: string, body: object, signal?: AbortSignal) => Promise<Answer>,
 *   delete: (path: string, body?: object) => Promise<Answer>,
 * }} Transport
 * @typedef {{id: number, status: number, type: string, name: string | null, buffer: ArrayBuffer}} Reply a notebook's
 */

export const SUPERSEDED = 499; // the status of a question that the page itself took back

/** What the server said no to; `status` 0 means that it did not answer at all. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * A token other than the session's is that of another server, maybe with another run: until the session is asked for
 * again, nothing else is asked there.
 * @param {() => string} token @returns {Transport}
 */
export function httpTransport(token) {
  let known = "";
  /**
   * @param {string} method @param {string} path @param {object} [body] @param {AbortSignal} [signal]
   * @returns {Promise<Answer>}
   */
  async function ask(method, path, body, signal) {
    const now = token();
    if (path === "/api/session") known = now;
    if (now !== known) throw new Refusal(401, "The server was started again.");
    const response = await send(now, method, path, body, signal);
    const other = response.status === 401 ? dropToken(now) : "";
    if (other && other !== now) {
      known = other;
      return ask(method, path, body, signal);
    }
    if (response.ok) keepToken(now);
    /** @param {Answer} got */
    const named = (got) => {
      const { run } = /** @type {{run?: string}} */ ((path === "/api/session" && got.json) || {});
      if (run) keepToken(now, run);
      return got;
    };
    const disposition = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
    const type = response.headers.get("Content-Type") ?? "";
    return named(answer(response.status, type, await bodyOf(response, signal), disposition?.[1] ?? null));
  }
  return verbs(ask);
}

/** @param {Response} response @param {AbortSignal} [signal] */
async function bodyOf(response, signal) {
  try {
    return await response.arrayBuffer();
  } catch {
    throw new Refusal(signal?.aborted ? SUPERSEDED : 0, "The answer did not arrive whole.");
  }
}

/**
 * @param {string} token @param {string} method @param {string} path @param {object} [body]
 * @param {AbortSignal} [signal]
 */
async function send(token, method, path, body, signal) {
  /** @type {Record<string, string>} */ const headers = { "X-Consilience-Token": token };
  if (method !== "GET") headers["Content-Type"] = "application/json";
  try {
    return await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    if (signal?.aborted) throw new Refusal(SUPERSEDED, "Nobody waits for this any more.");
    throw new Refusal(0, "The server does not answer.");
  }
}

/** @param {import("./widget_link.js").Model} model @returns {Transport} */
export function widgetTransport(model) {
  /** @type {Map<number, (value: Reply) => void>} */ const waiting = new Map();
  let last = 0;
  model.on("msg:custom", (/** @type {Omit<Reply, "buffer">} */ message, /** @type {DataView[]} */ buffers) => {
    const done = waiting.get(message.id);
    if (!done) return;
    waiting.delete(message.id);
    const view = buffers[0];
    done({
      ...message,
      buffer: view ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice().buffer : new ArrayBuffer(0),
    });
  });
  /** @param {string} method @param {string} path @param {object} [body] */
  async function ask(method, path, body) {
    const id = ++last;
    /** @type {Reply} */
    const reply = await new Promise((done) => {
      waiting.set(id, done);
      model.send({ id, method, path, body: body === undefined ? null : body });
    });
    return answer(reply.status, reply.type, reply.buffer, reply.name ?? null);
  }
  return verbs(ask);
}

/** @param {number} status @param {string} type @param {ArrayBuffer} buffer @param {string | null} name */
function answer(status, type, buffer, name) {
  const json = type.startsWith("application/json") ? JSON.parse(new TextDecoder().decode(buffer)) : null;
  if (status >= 400) throw new Refusal(status, json?.error ?? `The server answered ${status}.`);
  return { status, type, json, buffer, name };
}

/**
 * @param {(method: string, path: string, body?: object, signal?: AbortSignal) => Promise<Answer>} ask
 * @returns {Transport}
 */
function verbs(ask) {
  return {
    get: (path, signal) => ask("GET", path, undefined, signal),
    post: (path, body, signal) => ask("POST", path, body, signal),
    delete: (path, body) => ask("DELETE", path, body),
  };
}
