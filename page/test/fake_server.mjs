// A server for tests of the store: answers that can be changed, held back or refused.
import { Refusal } from "../src/core/transport.js";
import { randomTree } from "./trees.mjs";

/** The binary container that wire.js reads. */
function encode(header, arrays) {
  let offset = 0;
  const places = {};
  for (const [name, [values, shape]] of Object.entries(arrays)) {
    const dtype = values.constructor.name.replace("Array", "").toLowerCase();
    places[name] = { dtype, shape: shape ?? [values.length], offset };
    offset += Math.ceil(values.byteLength / 8) * 8;
  }
  let text = JSON.stringify({ ...header, arrays: places });
  while ((4 + text.length) % 8) text += " ";
  const buffer = new ArrayBuffer(4 + text.length + offset);
  new DataView(buffer).setUint32(0, text.length, true);
  new Uint8Array(buffer, 4, text.length).set(new TextEncoder().encode(text));
  for (const [name, [values]] of Object.entries(arrays)) {
    new Uint8Array(buffer, 4 + text.length + places[name].offset).set(
      new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
    );
  }
  return buffer;
}

const OBJECTS = 4;

/** The clustering that a ref is: of every branch 1 is the medoid. */
const leafOf = (ref) => (ref.endsWith("c") ? null : ref.includes(".") ? 1 : parseInt(ref, 10));

/** Labels that tell which clustering of which run they are of. */
const labelsOf = (server, refs) =>
  Uint8Array.from(refs.flatMap((ref) => Array(OBJECTS).fill((parseInt(ref.split(".").pop(), 10) + server.mark) % 250)));

export class FakeServer {
  constructor(m = 6) {
    Object.assign(this, { run: "run-a", tree: undefined, name: "a", revision: 0, m, mark: 0, job: null, asked: [] });
    /** Called with a path before it is answered: may wait, or refuse by throwing. */
    this.before = async () => {};
    this.get = (path) => this.answer(path);
    this.post = this.delete = this.get;
  }

  session() {
    const { run, tree, name, revision, m, job } = this;
    const scores = [
      { name: "compactness", low: 0, high: 1, better: "low" },
      { name: "accuracy:x", low: 0, high: 1, better: "high" },
    ];
    return {
      run,
      tree,
      name,
      revision,
      job,
      scores,
      n_clusterings: m,
      cut: { groups: 2, candidates: [] },
      limits: { items: 64, more_like: 10 },
      can: {},
    };
  }

  boot() {
    const { m } = this;
    const { merges, order, height } = randomTree(m);
    const scores = Float32Array.from({ length: 2 * m }, (_, i) => i);
    return encode(
      { revision: this.revision, items: [] },
      {
        merges: [merges, [m - 1, 2]],
        heights: [height.slice(m)],
        order: [order],
        scores: [scores, [2, m]],
      },
    );
  }

  labels(refs) {
    const items = refs.map((ref) => ({ ref, clusters: 4, size: 1, confidence: false, leaf: leafOf(ref) }));
    return encode({ revision: this.revision, items }, { labels: [labelsOf(this, refs), [refs.length, OBJECTS]] });
  }

  async answer(path) {
    this.asked.push(path);
    await this.before(path);
    if (path === "/api/session") return { status: 200, json: this.session() };
    if (path === "/api/boot") return { status: 200, buffer: this.boot() };
    if (path.startsWith("/api/labels/")) return { status: 200, buffer: this.labels(path.split("/").pop().split(",")) };
    if (path.startsWith("/api/jobs/") && this.job)
      return { status: 200, json: { ...this.job, revision: this.revision } };
    throw new Refusal(404, "there is no such thing");
  }
}

/** The parts of a browser that the store touches; the address is what it says. */
export function fakeBrowser(hash = "") {
  globalThis.location = { hash, pathname: "/" };
  globalThis.history = {
    replaceState: (_state, _title, url) => {
      location.hash = url.slice(url.indexOf("#"));
    },
  };
  globalThis.localStorage = { getItem: () => null, setItem: () => {} };
}

/** The answer of a server that takes one token. */
export function takes(token, asked = []) {
  globalThis.fetch = async (path, { headers }) => {
    asked.push([path, headers["X-Consilience-Token"]]);
    const status = headers["X-Consilience-Token"] === token ? 200 : 401;
    return new Response("{}", { status, headers: { "Content-Type": "application/json" } });
  };
  return asked;
}

/** What the browser keeps for this page. */
export function storage(content = {}) {
  const stored = new Map(Object.entries(content));
  globalThis.localStorage = {
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => stored.set(name, value),
  };
  return stored;
}
