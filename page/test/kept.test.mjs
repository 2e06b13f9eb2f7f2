// Edits in quick succession, a tray that others change too, and what dropping clusterings leaves.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { editClusters } from "../src/core/edits.js";
import { Store } from "../src/core/store.js";
import { Refusal } from "../src/core/transport.js";
import { mergeTrays } from "../src/core/tray_kept.js";
import { FakeServer, fakeBrowser } from "./fake_server.mjs";

const stores = [];
beforeEach(() => fakeBrowser());
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

/** A server that edits, keeps a tray with its edition, and drops. */
class Keeper extends FakeServer {
  constructor(m = 6) {
    super(m);
    Object.assign(this, { tray: [], changes: 0, edits: [], sent: [] });
    this.post = (path, body) => this.take(path, body);
  }

  session() {
    const { tray, changes, edits } = this;
    return { ...super.session(), tray, tray_edition: `s.${changes}`, edits, saved: [] };
  }

  async take(path, body) {
    this.sent.push([path, body]);
    await new Promise((done) => setTimeout(done, 5));
    if (path === "/api/edit") {
      const before = this.edits.find((one) => one.ref === body.ref)?.edits ?? [];
      const edited = { ref: `${100 + this.edits.length}e`, origin: "x", edits: [...before, body.do] };
      this.edits = [...this.edits, edited];
      return { json: { edited } };
    }
    if (path === "/api/tray" && body.tray) {
      if (body.edition !== `s.${this.changes}`) throw new Refusal(409, "the tray was changed elsewhere");
      this.tray = body.tray;
      this.changes++;
    }
    if (path === "/api/drop") Object.assign(this, { m: 6, revision: 9 });
    return { json: { lasts: false, note: "", edition: `s.${this.changes}` } };
  }
}

async function opened(server) {
  const store = new Store(server);
  stores.push(store);
  await store.open();
  return store;
}

const entry = (ref, name = "") => ({ ref, name, note: "", of: "run-a" });
const put = (store, ...kept) => store.go({ tray: [...store.view.value.tray, ...kept] });

test("edits in quick succession are each of what came out of the one before", async () => {
  const server = new Keeper();
  const store = await opened(server);
  store.go({ sel: "3m" });
  await Promise.all([
    editClusters(store, "3m", { do: "rename", cluster: "0", name: "warm" }),
    editClusters(store, "3m", { do: "merge", clusters: ["0", "1"] }),
  ]);
  const bodies = server.sent.filter(([path]) => path === "/api/edit").map(([, body]) => body);
  assert.deepEqual([bodies[1].ref, bodies[1].clusters], ["100e", ["warm", "1"]]);
  assert.deepEqual([store.view.value.sel, store.view.value.tray.map((one) => one.ref)], ["101e", ["101e"]]);
});

test("a full tray takes no further edit, and says so", async () => {
  const store = await opened(new Keeper());
  put(store, ...Array.from({ length: 64 }, (_, i) => entry("1m", `n${i}`)));
  await editClusters(store, "3m", { do: "rename", cluster: "0", name: "warm" });
  assert.deepEqual([store.view.value.tray.length, store.view.value.sel], [64, "100e"]);
  assert.match(store.message.value, /The tray is full/);
});

test("dropping what was made last leaves what was put into the tray since", async () => {
  const server = new Keeper(8);
  const store = await opened(server);
  store.go({ sel: "7m" });
  store.made.value = { first: 6, before: store.history.past.value.at(-1) };
  put(store, entry("1m", "an hour of notes"));
  await store.drop();
  assert.deepEqual(
    store.view.value.tray.map((one) => one.name),
    ["an hour of notes"],
  );
});

test("two pages: what either put into the tray is in both, and a view alone leaves the tray alone", async () => {
  const server = new Keeper();
  const [a, b] = [await opened(server), await opened(server)];
  put(a, entry("1m", "A"));
  await a.keeping.now();
  b.go({ cut: 3 });
  await b.keeping.now();
  assert.equal(server.sent.at(-1)[1].tray, undefined);
  put(b, entry("2m", "B"));
  await b.keeping.now();
  await b.keeping.now();
  const names = (tray) => tray.map((one) => one.name);
  assert.deepEqual(
    [names(server.tray), names(b.view.value.tray)],
    [
      ["A", "B"],
      ["A", "B"],
    ],
  );
  b.undo();
  assert.deepEqual(names(b.view.value.tray), ["A"], "undoing takes away one's own");
});

test("trays are merged entry by entry", () => {
  const base = [entry("1m", "a"), entry("2m", "b"), entry("3m", "c")];
  const mine = [entry("1m", "renamed"), entry("3m", "c"), entry("4m", "mine")];
  const theirs = [entry("1m", "a"), entry("2m", "b"), entry("5m", "theirs")];
  const names = (tray) => tray.map((one) => one.name);
  assert.deepEqual(names(mergeTrays(base, mine, theirs)), ["renamed", "theirs", "mine"]);
  assert.deepEqual(names(mergeTrays([], mine, [])), names(mine), "a server that was started again takes nothing away");
});
