import assert from "node:assert/strict";
import { test } from "node:test";
import { pageToken } from "../src/transport.js";
import { fakeBrowser } from "./fake_server.mjs";

const TOKENS = ["0", "1", "2"].map((one) => one.repeat(32));

test("the token is kept where site data is blocked, too", () => {
  fakeBrowser(`#token=${TOKENS[0]}&v=1`);
  const stored = new Map();
  globalThis.localStorage = { getItem: (name) => stored.get(name) ?? null, setItem: (name, value) => stored.set(name, value) };
  assert.equal(pageToken(), TOKENS[0]);
  assert.equal(location.hash, "#v=1");
  stored.set("consilience-token", TOKENS[1]); // another page was opened by a newer server
  assert.equal(pageToken(), TOKENS[1]);

  Object.defineProperty(globalThis, "localStorage", { get: () => { throw new Error("blocked"); }, configurable: true });
  location.hash = `#token=${TOKENS[2]}`;
  assert.equal(pageToken(), TOKENS[2]);
  assert.equal(pageToken(), TOKENS[2]);
});
