import assert from "node:assert/strict";
import { test } from "node:test";
import { httpTransport, pageToken } from "../src/core/transport.js";
import { fakeBrowser } from "./fake_server.mjs";

const TOKENS = ["0", "1", "2"].map((one) => one.repeat(32));

test("the token is kept where site data is blocked, too", () => {
  fakeBrowser(`#token=${TOKENS[0]}&v=1`);
  const stored = new Map();
  globalThis.localStorage = {
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => stored.set(name, value),
  };
  assert.equal(pageToken(), TOKENS[0]);
  assert.equal(location.hash, "#v=1");
  stored.set("consilience-token", TOKENS[1]); // another page was opened by a newer server
  assert.equal(pageToken(), TOKENS[1]);

  Object.defineProperty(globalThis, "localStorage", {
    get: () => {
      throw new Error("blocked");
    },
    configurable: true,
  });
  location.hash = `#token=${TOKENS[2]}`;
  assert.equal(pageToken(), TOKENS[2]);
  assert.equal(pageToken(), TOKENS[2]);
});

test("a server with another token is asked for its session before anything else", async () => {
  let token = TOKENS[0];
  const asked = [];
  const transport = httpTransport(() => token);
  globalThis.fetch = async (path, { headers }) => {
    asked.push([path, headers["X-Consilience-Token"]]);
    return new Response("{}", { headers: { "Content-Type": "application/json" } });
  };
  await transport.get("/api/session");
  await transport.get("/api/boot");
  token = TOKENS[1];
  for (let i = 0; i < 2; i++) await assert.rejects(transport.get("/api/labels/3m"), { status: 401 });
  await transport.get("/api/session");
  await transport.get("/api/labels/3m");
  assert.deepEqual(asked, [
    ["/api/session", TOKENS[0]],
    ["/api/boot", TOKENS[0]],
    ["/api/session", TOKENS[1]],
    ["/api/labels/3m", TOKENS[1]],
  ]);
});
