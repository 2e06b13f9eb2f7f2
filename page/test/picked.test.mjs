import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import { History } from "../src/core/history.js";
import { asRows, dropLabel, encodeRows, keyOf, maskOfRows, NONE, pick } from "../src/core/picked.js";
import { isInside, rowsInSight } from "../src/draw/lasso.js";
import { pixelBytes } from "../src/draw/look.js";

test("rows are sorted and each there once", () => {
  assert.deepEqual([...asRows([5, 2, 5, 11])], [2, 5, 11]);
});

test("few rows are sent as numbers, many as bits", () => {
  assert.deepEqual(encodeRows(asRows([3, 1])), [1, 3]);
  const many = Uint32Array.from({ length: 5000 }, (_, i) => 3 * i);
  const bytes = Uint8Array.from(atob(encodeRows(many)), (letter) => letter.charCodeAt(0));
  const found = [];
  bytes.forEach((byte, at) => {
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) found.push(8 * at + bit);
  });
  assert.deepEqual(found, [...many]);
});

test("no two picks have the same key", () => {
  const many = Uint32Array.from({ length: 5000 }, (_, i) => 3 * i);
  const other = many.map((row, at) => (at === 4999 ? row + 1 : row));
  const picks = [
    NONE,
    asRows([0, 62]),
    asRows([1, 31]),
    asRows([10, 62]),
    asRows([11, 31]),
    asRows([131]),
    many,
    other,
  ];
  assert.equal(new Set(picks.map(keyOf)).size, picks.length);
  assert.equal(keyOf(asRows([31, 1])), keyOf(asRows([1, 31])));
});

test("a saved label is dropped by its name, whatever was dropped elsewhere", async () => {
  const asked = [];
  const transport = {
    delete: async (...call) => {
      asked.push(call);
      return { json: { saved: [] } };
    },
  };
  const session = signal({ known: ["shape"], saved: ["a", "b"] });
  const store = {
    transport,
    session,
    edition: signal(0),
    colored: signal(null),
    message: signal(""),
    attempt: (work) => work(),
  };
  await dropLabel(store, "b");
  assert.deepEqual(asked, [["/api/known", { name: "b" }]]);
  assert.deepEqual(store.session.value.saved, []);
});

test("a mask has a one for every picked object, and is none without any", () => {
  assert.equal(maskOfRows(NONE, 4), null);
  assert.deepEqual([...maskOfRows(asRows([1, 3]), 4)], [0, 1, 0, 1]);
});

test("picking replaces, adds, and lets go of what is picked already", () => {
  const store = { picked: signal(NONE), message: signal(""), history: new History() };
  store.step = () => ({ view: null, picked: store.picked.value });
  pick(store, [4]);
  pick(store, [2], { add: true });
  assert.deepEqual([...store.picked.value], [2, 4]);
  assert.equal(store.message.value, "2 objects picked.");
  pick(store, [4], { add: true });
  assert.deepEqual([...store.picked.value], [2]);
  pick(store, [7, 6]);
  assert.deepEqual([...store.picked.value], [6, 7]);
  const before = [1, 2, 3, 4].map(() => [...store.history.undo(store.step()).picked]);
  assert.deepEqual(before, [[2], [2, 4], [4], []]);
});

test("a lasso with a dent leaves out what lies in the dent", () => {
  const line = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 10 },
    { x: 5, y: 4 },
    { x: 0, y: 10 },
  ];
  assert.ok(isInside(line, 5, 2));
  assert.ok(isInside(line, 1, 7));
  assert.ok(!isInside(line, 5, 7));
  assert.ok(!isInside(line, 11, 5));
});

test("what is in sight is what the enlarged part of the plane holds", () => {
  const xy = Float32Array.of(0.1, 0.1, 0.6, 0.6, 0.9, 0.6, 0.6, 0.9);
  assert.deepEqual([...rowsInSight(xy, { x: 0.5, y: 0.5, k: 4 })], [1]);
  assert.deepEqual([...rowsInSight(xy, { x: 0, y: 0, k: 1 })], [0, 1, 2, 3]);
});

test("pixels run from the smallest value to the largest, grey or in color", () => {
  const grey = pixelBytes({ low: -1, high: 1 }, Float32Array.of(-1, 0, 1), 1);
  assert.deepEqual([...grey.subarray(0, 8)], [0, 0, 0, 255, 128, 128, 128, 255]);
  assert.deepEqual([...pixelBytes({ low: 0, high: 255 }, Float32Array.of(1, 2, 3), 3)], [1, 2, 3, 255]);
});
