import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { isKept, keep, relink } from "../src/core/commands.js";
import { followJobs } from "../src/core/jobs.js";
import { Store } from "../src/core/store.js";
import { Refusal } from "../src/core/transport.js";
import { whyUnavailable } from "../src/core/view.js";
import { FakeServer, fakeBrowser } from "./fake_server.mjs";

const stores = [];
const turn = () => new Promise((done) => setTimeout(done));
beforeEach(() => fakeBrowser());
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

async function opened(server, options = {}) {
  const store = new Store(server, { address: true, ...options });
  stores.push(store);
  await store.open();
  return store;
}

/** A store on a server that is lost and comes back as another. */
async function restarted(store, server, change) {
  store.fail(new Refusal(0, "lost"));
  Object.assign(server, change);
  await store.open();
}

async function labelsOf(store, ref) {
  store.labels.get(ref);
  await turn();
  await turn();
  return store.labels.get(ref)?.labels[0];
}

test("a ref without its tree names a clustering, never a branch", async () => {
  const store = await opened(new FakeServer(6));
  const shown = (sel) => store.checked({ ...store.view.value, sel }).sel;
  assert.deepEqual(["5m", "6.7c", "5.8m", "6.10m"].map(shown), ["5m", "6.7c", "5.8m", "6.10m"]);
  assert.deepEqual(["6m", "7c", "6.11m", "7.8m", "1.0m", "x"].map(shown), Array(6).fill(null));
});

test("the address carries the tree, and opens the same view", async () => {
  const server = Object.assign(new FakeServer(), { tree: "t1" });
  const store = await opened(server);
  store.go({ sel: "6.8c", split: [9] });
  keep(store, "6.7m");
  const parts = new URLSearchParams(location.hash.slice(1));
  assert.deepEqual([parts.get("run"), parts.get("tree"), JSON.parse(parts.get("tray")).length], ["run-a", "t1", 3]);
  const other = await opened(server);
  assert.deepEqual(other.view.value, store.view.value);
  assert.equal(other.message.value, "");
});

test("an address of another tree keeps its tray, unavailable, and lets the rest go", async () => {
  const server = Object.assign(new FakeServer(), { tree: "t1" });
  const before = await opened(server);
  before.go({ sel: "6.8c", pin: "3m", split: [9], tab: "objects" });
  keep(before, "6.7m");
  server.tree = "t2";
  const store = await opened(server);
  const { view, message, origin } = store;
  assert.deepEqual([view.value.sel, view.value.pin, view.value.split, view.value.tab], [null, null, [], "objects"]);
  assert.deepEqual(view.value.tray, before.view.value.tray);
  assert.match(whyUnavailable(view.value.tray[0], origin.value), /another tree/);
  assert.match(message.value, /tree is another one.*1 clustering of the tray is unavailable/);
  keep(store, "6.7m"); // another clustering than the one before of that number
  assert.equal(store.view.value.tray.length, 2);
  assert.deepEqual(
    store.view.value.tray.map((kept) => isKept(store, kept, "6.7m")),
    [false, true],
  );
  const again = await opened(server);
  assert.deepEqual(again.view.value, store.view.value);
  server.tree = "t1";
  const back = await opened(server);
  assert.deepEqual(
    back.view.value.tray.map((kept) => whyUnavailable(kept, back.origin.value) === ""),
    [true, false],
  );
});

test("an address of another run starts anew but for its tray, and says so", async () => {
  const server = new FakeServer();
  const before = await opened(server);
  before.go({ sel: "3m", tab: "objects", cut: 5 });
  keep(before, "3m");
  Object.assign(server, { run: "run-b", name: "b" });
  const { view, message, origin } = await opened(server);
  assert.deepEqual([view.value.sel, view.value.tab, view.value.cut], [null, "detail", 2]);
  assert.match(whyUnavailable(view.value.tray[0], origin.value), /another run/);
  assert.match(message.value, /another run \(b\).*1 clustering of the tray/);
});

test("an address of another run that is pasted changes nothing", async () => {
  const store = await opened(new FakeServer());
  store.go({ sel: "3m" });
  location.hash = "#v=1&run=run-b&sel=2m";
  store.readAddress();
  assert.equal(store.view.value.sel, "3m");
  assert.match(store.message.value, /another run/);
});

test("another run on the same port: nothing of the one before is left but the tray's words", async () => {
  const server = new FakeServer();
  const store = await opened(server);
  assert.equal(await labelsOf(store, "3m"), 3);
  store.labels.slots("3m");
  store.go({ sel: "3m" });
  keep(store, "4m");
  const snapshot = store.snapshot.value;
  await restarted(store, server, { run: "run-b", name: "b", mark: 100 });
  assert.equal(store.labels.known.size + store.labels.slotsOf.size + store.labels.bytes, 0);
  assert.notEqual(store.snapshot.value, snapshot);
  assert.deepEqual([store.history.past.value, store.history.future.value, store.view.value.sel], [[], [], null]);
  assert.match(store.message.value, /another run \(b\)/);
  assert.equal(store.view.value.tray[0].name, "clustering 4");
  assert.notEqual(whyUnavailable(store.view.value.tray[0], store.origin.value), "");
  assert.equal(await labelsOf(store, "3m"), 103);
  assert.equal(store.status.value.kind, "ready");
});

test("another run on the same port starts from the address if that is of it", async () => {
  const server = new FakeServer();
  const store = await opened(server);
  store.go({ sel: "3m" });
  location.hash = "#v=1&run=run-b&sel=2m&tab=objects";
  await restarted(store, server, { run: "run-b" });
  assert.deepEqual([store.view.value.sel, store.view.value.tab, store.message.value], ["2m", "objects", ""]);
});

test("growth keeps the view and what can be undone, and asks for everything else again", async () => {
  const server = Object.assign(new FakeServer(), { tree: "t1" });
  const store = await opened(server);
  store.go({ sel: "6.8c", pin: "3m" });
  keep(store, "6.7m");
  const snapshot = store.snapshot.value;
  const { view } = store;
  const before = view.value;
  store.message.value = "";
  Object.assign(server, { revision: 1, m: 9 });
  await store.open();
  assert.deepEqual([view.value, store.history.past.value.length, store.message.value], [before, 2, ""]);
  assert.notEqual(store.snapshot.value, snapshot);
  store.undo();
  assert.equal(view.value.tray.length, 0);
});

test("fewer clusterings than before: what vanished is let go, in the tray it stays unavailable for good", async () => {
  const server = Object.assign(new FakeServer(), { tree: "t1", revision: 1, m: 9 });
  const store = await opened(server);
  store.go({ sel: "9.12c", pin: "8m", cmp: "3m" });
  keep(store, "8m");
  keep(store, "3m");
  await restarted(store, server, { revision: 0, m: 6 });
  const { view, origin, message } = store;
  const why = () => view.value.tray.map((kept) => whyUnavailable(kept, origin.value));
  assert.deepEqual([view.value.sel, view.value.pin, view.value.cmp], [null, null, "3m"]);
  assert.deepEqual([view.value.tray.map((kept) => kept.name), why()[1]], [["clustering 8", "clustering 3"], ""]);
  assert.match(why()[0], /no longer there/);
  assert.match(message.value, /no longer there.*1 clustering of the tray is unavailable/);
  assert.equal(store.history.past.value.length, 0);
  Object.assign(server, { revision: 1, m: 9 }); // number 8 is given again, to another clustering
  await store.open();
  assert.match(why()[0], /no longer there/);
  assert.deepEqual((await opened(server)).view.value.tray, view.value.tray);
});

test("a session and a picture of two revisions are asked for again", async () => {
  const server = new FakeServer();
  let boots = 0;
  const { boot } = FakeServer.prototype;
  server.boot = () => {
    const picture = boot.call(server);
    if (++boots === 1) Object.assign(server, { revision: 1, m: 8 }); // clusterings are added once the picture is made
    return picture;
  };
  server.before = async (path) => {
    if (path === "/api/session") await turn();
  };
  const store = await opened(server);
  assert.equal(boots, 2);
  assert.deepEqual([store.session.value.revision, store.boot.value.header.revision, store.tree.value.m], [1, 1, 8]);
  assert.deepEqual([...store.score("accuracy:x")], [8, 9, 10, 11, 12, 13, 14, 15]);
});

test("revisions that never agree are asked for a few times, then later", async () => {
  const server = new FakeServer();
  server.before = async (path) => {
    if (path === "/api/boot") server.revision++;
  };
  server.session = () => ({ ...FakeServer.prototype.session.call(server), revision: -1 });
  const store = await opened(server);
  assert.equal(server.asked.length, 10);
  assert.equal(store.session.value, null);
  assert.match(store.message.value, /asking again/);
  assert.ok(store.connection.retrying);
});

test("an older opening that comes late changes nothing, and waits for the newest", async () => {
  const server = new FakeServer();
  const store = await opened(server);
  let release;
  const held = new Promise((done) => {
    release = done;
  });
  const old = new FakeServer();
  store.transport = {
    get: async (path) => {
      const answer = await old.get(path);
      await held;
      return answer;
    },
  };
  const first = store.open();
  store.transport = server;
  Object.assign(server, { revision: 1, m: 8 });
  server.before = async () => {
    for (let i = 0; i < 5; i++) await turn();
  };
  const second = store.open();
  release();
  await first;
  assert.deepEqual([store.session.value.revision, store.tree.value.m], [1, 8]);
  await second;
  assert.deepEqual([store.session.value.revision, store.tree.value.m], [1, 8]);
});

test("labels that were on their way when the run changed are not taken", async () => {
  const server = new FakeServer();
  const store = await opened(server);
  let release;
  server.before = (path) =>
    path.startsWith("/api/labels")
      ? new Promise((done) => {
          release = done;
        })
      : Promise.resolve();
  store.labels.get("3m");
  await turn();
  server.labels = () => FakeServer.prototype.labels.call({ ...server, mark: 50 }, ["3m"]);
  server.before = async () => {};
  await restarted(store, server, { run: "run-b" });
  release();
  await turn();
  assert.equal(store.labels.get("3m"), null);
});

test("labels that come again are counted once", async () => {
  const store = await opened(new FakeServer());
  await labelsOf(store, "3m");
  const { bytes } = store.labels;
  assert.equal(bytes, 4);
  store.labels.want("3m");
  await turn();
  await turn();
  assert.equal(store.labels.bytes, bytes);
});

test("a job is followed on after a refusal, and ends when the server says so", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const server = new FakeServer();
  const store = new Store(server);
  await store.open();
  let refusals = 2;
  server.job = { id: 1, kind: "null", state: "running", done: 0, total: 2, result: null, message: "" };
  server.before = async (path) => {
    if (path.startsWith("/api/jobs") && refusals-- > 0) throw new Refusal(429, "too many calls");
  };
  const stop = followJobs(store);
  const settled = async () => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  store.job.value = server.job;
  server.job = { ...server.job, state: "done" };
  t.mock.timers.tick(250);
  await settled();
  assert.equal(store.message.value, "too many calls");
  for (let i = 0; i < 2; i++) {
    t.mock.timers.tick(2000);
    await settled();
  }
  assert.equal(store.job.value.state, "done");
  stop();
});

test("what a question brings reaches the server whole, whatever the kind", async () => {
  const store = await opened(new FakeServer(6));
  const asked = [];
  for (const verb of ["get", "post", "delete"]) {
    store.connection.plain[verb] = async (...all) => asked.push(all);
    await store.transport[verb]("/api/x", { name: "b" }, "more");
  }
  assert.deepEqual(asked, Array(3).fill(["/api/x", { name: "b" }, "more"]));
});

test("clusterings in the tray outlive another linkage, medoids as what they are", async () => {
  const server = new FakeServer(6);
  server.tree = "ward";
  const store = await opened(server);
  for (const ref of ["3m", "6.8m", "6.8c"]) {
    await labelsOf(store, ref);
    keep(store, ref);
  }
  server.post = async () => {
    Object.assign(server, { tree: "average", revision: 1 });
  };
  await relink(store, "average");
  const { tray } = store.view.value;
  assert.deepEqual(
    tray.map(({ ref }) => ref),
    ["3m", "1m", "6.8c"],
  );
  const isThere = tray.map((kept) => whyUnavailable(kept, store.origin.value) === "");
  assert.deepEqual(isThere, [true, true, false]);
});
