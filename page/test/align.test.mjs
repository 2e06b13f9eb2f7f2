import assert from "node:assert/strict";
import { test } from "node:test";
import { assign, contingency, slots } from "../src/core/align.js";
import { random } from "./trees.mjs";

/** The largest sum that any way to give columns to rows has. */
function best(table, rows, columns, row = 0, used = 0) {
  if (row === rows) return 0;
  let most = best(table, rows, columns, row + 1, used);
  for (let c = 0; c < columns; c++) {
    if (!(used & (1 << c)))
      most = Math.max(most, table[row * columns + c] + best(table, rows, columns, row + 1, used | (1 << c)));
  }
  return most;
}

test("assignment is the best there is, each column once", () => {
  const next = random(3);
  for (let trial = 0; trial < 200; trial++) {
    const rows = 1 + Math.floor(next() * 5);
    const columns = 1 + Math.floor(next() * 6);
    const table = Int32Array.from({ length: rows * columns }, () => Math.floor(next() * 20));
    const found = assign(table, rows, columns);
    const chosen = [...found].filter((c) => c >= 0);
    assert.equal(new Set(chosen).size, chosen.length);
    assert.equal(chosen.length, Math.min(rows, columns));
    const sum = [...found].reduce((total, c, row) => total + (c < 0 ? 0 : table[row * columns + c]), 0);
    assert.equal(sum, best(table, rows, columns));
  }
});

test("renamed clusters keep their colors", () => {
  const next = random(5);
  const pinned = Uint8Array.from({ length: 500 }, () => Math.floor(next() * 6));
  const names = [3, 5, 0, 1, 4, 2];
  const renamed = pinned.map((label) => names[label]);
  const found = slots(renamed, 6, pinned, 6);
  for (let i = 0; i < 500; i++) assert.equal(found[renamed[i]], pinned[i]);
});

test("objects without a label count nowhere, and clusters without a partner get new colors", () => {
  const a = Uint8Array.from([0, 0, 1, 2, 255]);
  const b = Uint8Array.from([0, 0, 255, 1, 1]);
  assert.deepEqual([...contingency(a, 3, b, 2)], [2, 0, 0, 0, 0, 1]);
  const found = slots(a, 3, b, 2);
  assert.deepEqual([...found], [0, 2, 1]);
  assert.deepEqual([...slots(Uint8Array.of(0, 0, 1), 2, Uint8Array.of(0, 0, 0), 2)], [0, 2]);
  assert.equal(new Set(slots(Uint16Array.from([0, 1, 2, 3]), 4, Uint8Array.from([0, 0, 0, 0]), 1)).size, 4);
});
