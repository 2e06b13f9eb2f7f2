import assert from "node:assert/strict";
import { test } from "node:test";
import { pageToken } from "../src/core/token.js";
import { httpTransport } from "../src/core/transport.js";
import { fakeBrowser, storage, takes } from "./fake_server.mjs";

const TOKENS = ["0", "1", "2"].map((one) => one.repeat(32));

test("a bookmark of a run finds the token of that run, and else the last", async () => {
  fakeBrowser("#v=1&run=ab12");
  const stored = storage({ "consilience-token": TOKENS[1], "consilience-token-ab12": TOKENS[2] });
  const asked = takes(TOKENS[2]);
  const transport = httpTransport(pageToken);
  assert.equal((await transport.get("/api/session")).status, 200);
  assert.deepEqual(
    asked.map(([, token]) => token),
    [TOKENS[2]],
  );
  takes(TOKENS[1], asked); // another run is shown at this port now
  assert.equal((await transport.get("/api/session")).status, 200);
  assert.equal(pageToken(), TOKENS[1]);
  assert.equal(stored.get("consilience-token-ab12"), TOKENS[2], "for the next time that this run is shown");
  takes(TOKENS[0]); // neither: refused, and not asked for ever
  await assert.rejects(() => transport.get("/api/session"));
});
