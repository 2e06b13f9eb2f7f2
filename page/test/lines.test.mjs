import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const MOST = 120; // letters of a line: the formatter leaves comments and texts alone
const source = new URL("../src/", import.meta.url);

test("no line is too long to read", () => {
  const files = readdirSync(source, { recursive: true }).filter((name) => /\.(js|jsx|css)$/.test(name));
  assert.ok(files.length > 50);
  for (const name of files) {
    for (const [at, line] of readFileSync(new URL(name, source), "utf8").split("\n").entries()) {
      assert.ok(line.length <= MOST, `${name}:${at + 1} has ${line.length} letters`);
    }
  }
});
