import assert from "node:assert/strict";
import { test } from "node:test";
import { enter, pageToken } from "../src/core/token.js";
import { httpTransport } from "../src/core/transport.js";
import { fakeBrowser, storage, takes } from "./fake_server.mjs";

const TOKENS = ["0", "1", "2"].map((one) => one.repeat(32));

test("a token that another site made up does not replace the one that was kept", async () => {
  fakeBrowser(`#token=${TOKENS[0]}`);
  const stored = storage({ "consilience-token": TOKENS[1] });
  takes(TOKENS[1]);
  const transport = httpTransport(pageToken);
  const answers = await Promise.all([transport.get("/api/session"), transport.get("/api/boot")]);
  assert.deepEqual(
    answers.map((one) => one.status),
    [200, 200],
  );
  assert.equal(stored.get("consilience-token"), TOKENS[1]);
  assert.equal(pageToken(), TOKENS[1]);
});

test("the token is kept once the server took it, where site data is blocked, too", async () => {
  fakeBrowser(`#token=${TOKENS[0]}&v=1`);
  const stored = storage();
  assert.equal(pageToken(), TOKENS[0]);
  assert.equal(location.hash, "#v=1");
  assert.equal(stored.size, 0);
  takes(TOKENS[0]);
  await httpTransport(pageToken).get("/api/session");
  assert.equal(stored.get("consilience-token"), TOKENS[0]);
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
  takes(TOKENS[2]);
  await httpTransport(pageToken).get("/api/session");
  assert.equal(pageToken(), TOKENS[2]);
  Object.defineProperty(globalThis, "localStorage", { value: null, writable: true, configurable: true });
});

test("a code is exchanged for the token", async () => {
  fakeBrowser(`#code=${TOKENS[2]}`);
  const sent = [];
  globalThis.fetch = async (path, { body }) => {
    sent.push([path, JSON.parse(body)]);
    return new Response(JSON.stringify({ token: TOKENS[0] }));
  };
  await enter();
  assert.deepEqual(sent, [["/enter", { code: TOKENS[2] }]]);
  assert.equal(location.hash, "#");
  assert.equal(pageToken(), TOKENS[0]);
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
