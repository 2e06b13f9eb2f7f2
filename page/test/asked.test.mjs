import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import { ask } from "../src/core/answers.js";
import { askUntil } from "../src/core/asked.js";
import { searchObjects } from "../src/core/picked.js";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** A server that answers when it is told to, and sees what is taken back. */
function slowStore() {
  const asked = [];
  const get = (path, taken) =>
    new Promise((answer, refuse) => {
      asked.push({ path, taken, answer });
      taken?.addEventListener("abort", () => refuse(new Error("taken back")));
    });
  const boot = signal({ header: { revision: 0 } });
  const told = { snapshot: signal("a"), edition: signal(0), message: signal(""), fail: assert.fail };
  return { asked, transport: { get }, boot, ...told };
}

test("a question that is taken back is given up, and nothing is told of it", async () => {
  const { asked, transport } = slowStore();
  const told = [];
  const tell = (what) => told.push(what);
  askUntil((taken) => transport.get("/api/a", taken), tell, tell)();
  askUntil((taken) => transport.get("/api/b", taken), tell, tell);
  assert.deepEqual([asked[0].taken.aborted, asked[1].taken.aborted], [true, false]);
  asked[1].answer("b");
  await pause(0);
  assert.deepEqual(told, ["b"]);
});

test("a shared question is given up once all have left it, and asked anew", async () => {
  const store = slowStore();
  const both = [ask(store, "/api/why/5m"), ask(store, "/api/why/5m")];
  const failed = both[0].promise.catch((error) => error.message);
  assert.equal(store.asked.length, 1);
  both[0].leave();
  await pause(150);
  assert.equal(store.asked[0].taken.aborted, false);
  both[1].leave();
  await pause(150);
  assert.equal(await failed, "taken back");
  const again = ask(store, "/api/why/5m");
  assert.equal(store.asked.length, 2);
  store.asked[1].answer({ json: { revision: 0 } });
  assert.deepEqual(await again.promise, { revision: 0 });
  again.leave();
  await pause(150);
  assert.deepEqual(await ask(store, "/api/why/5m").promise, { revision: 0 }, "what was answered is kept");
  assert.equal(store.asked.length, 2);
});

test("who comes back at once waits on", async () => {
  const store = slowStore();
  ask(store, "/api/why/5m").leave();
  ask(store, "/api/why/5m");
  await pause(150);
  assert.deepEqual([store.asked.length, store.asked[0].taken.aborted], [1, false]);
});

test("a search takes the place of the one before", async () => {
  const store = slowStore();
  const first = searchObjects(store, "one");
  searchObjects(store, "two");
  assert.deepEqual(
    store.asked.map(({ taken }) => taken.aborted),
    [true, false],
  );
  await first;
  assert.equal(store.message.value, "");
});
