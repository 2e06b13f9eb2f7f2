// How the page asks: over HTTP with a token, or through a notebook's messages. Both answer alike.

/**
 * @typedef {{status: number, type: string, json: any, buffer: ArrayBuffer, name: string | null}} Answer
 * @typedef {{
 *   get: (path: string) => Promise<Answer>,
 *   post: (path: string, body: any) => Promise<Answer>,
 *   delete: (path: string) => Promise<Answer>,
 * }} Transport
 */

/** What the server said no to; `status` 0 means that it did not answer at all. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const KEY = "consilience-token";
let held = "";
let isStored = true; // where site data is blocked, the token lasts as long as the page

/**
 * The token of this address: from the fragment it was opened with, which is then cleaned, or as an earlier tab kept
 * it.
 */
export function pageToken() {
  const found = /(?:^#|&)token=([0-9a-f]{32})(?:&|$)/.exec(location.hash);
  if (found) {
    held = found[1];
    try {
      localStorage.setItem(KEY, held);
    } catch {
      isStored = false;
    }
    const rest = location.hash
      .slice(1)
      .split("&")
      .filter((part) => !part.startsWith("token="));
    history.replaceState(null, "", `${location.pathname}#${rest.join("&")}`);
  }
  try {
    return (isStored && localStorage.getItem(KEY)) || held;
  } catch {
    return held;
  }
}

/**
 * A token other than the session's is that of another server, maybe with another run: until the session is asked for
 * again,
 * nothing else is asked there.
 * @param {() => string} token @returns {Transport}
 */
export function httpTransport(token) {
  let known = "";
  /** @param {string} method @param {string} path @param {any} [body] */
  async function ask(method, path, body) {
    const now = token();
    if (path === "/api/session") known = now;
    if (now !== known) throw new Refusal(401, "The server was started again.");
    /** @type {Record<string, string>} */ const headers = { "X-Consilience-Token": now };
    if (method !== "GET") headers["Content-Type"] = "application/json";
    let response;
    try {
      response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    } catch {
      throw new Refusal(0, "The server does not answer.");
    }
    const disposition = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
    const type = response.headers.get("Content-Type") ?? "";
    return answer(response.status, type, await response.arrayBuffer(), disposition?.[1] ?? null);
  }
  return verbs(ask);
}

/** @param {any} model anywidget's @returns {Transport} */
export function widgetTransport(model) {
  /** @type {Map<number, (value: any) => void>} */ const waiting = new Map();
  let last = 0;
  model.on("msg:custom", (/** @type {any} */ message, /** @type {DataView[]} */ buffers) => {
    const done = waiting.get(message.id);
    if (!done) return;
    waiting.delete(message.id);
    const view = buffers[0];
    done({
      ...message,
      buffer: view ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : new ArrayBuffer(0),
    });
  });
  /** @param {string} method @param {string} path @param {any} [body] */
  async function ask(method, path, body) {
    const id = ++last;
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

/** @param {(method: string, path: string, body?: any) => Promise<Answer>} ask @returns {Transport} */
function verbs(ask) {
  return {
    get: (path) => ask("GET", path),
    post: (path, body) => ask("POST", path, body),
    delete: (path) => ask("DELETE", path),
  };
}
