import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, cellBytes, consensusOf, GUTTER, gridOf, rowOf, stripeSlots, TOP } from "../src/draw/stripes.js";

// three clusterings of six objects, of which two share the last row; two objects to a column
const STRIPES = {
  header: { revision: 0, ref: "3.4c", by: "tree", clusters: 2, sizes: [3, 2], names: null },
  arrays: {
    slots: Uint8Array.from([0, 0, 255, 0, 2, 1]),
    shares: Uint8Array.from([254, 127, 254, 254, 254, 254]),
    order: Uint32Array.from([4, 0, 2, 5, 1, 3]),
    rows: Uint32Array.from([0, 1, 3]),
    columns: Uint32Array.from([0, 2, 4, 6]),
    members: Uint32Array.from([7, 3, 9]),
    own: Uint16Array.from([1, 0, 65535, 0, 1, 2, 2, 1, 0]),
    agreement: Float32Array.from([1, 0.5, 0.75]),
    kept: new Float32Array(6),
  },
  shapes: { slots: [2, 3], own: [3, 3] },
};

test("the consensus is what the order and the sizes say", () => {
  assert.deepEqual([...consensusOf(STRIPES)], [0, 1, 0, 65535, 0, 1]);
});

test("stripes have the colors of the page, and unmatched clusters colors of their own", () => {
  const labels = Uint8Array.from([1, 0, 1, 1, 1, 0]); // the pinned one calls them the other way round
  assert.deepEqual([...stripeSlots(STRIPES, { labels, clusters: 4 })], [1, 0, 4]);
});

test("mixed cells are paler, and missing ones grey", () => {
  const theme = { ground: "#ffffff", line: "#808080" };
  const bytes = cellBytes(STRIPES, Int32Array.of(0, 1, 2), theme);
  assert.deepEqual([...bytes.slice(0, 4)], [0x00, 0x72, 0xb2, 255]);
  assert.ok(bytes[4] > 60 && bytes[6] > 0xb2);
  assert.deepEqual([...bytes.slice(8, 12)], [0x80, 0x80, 0x80, 255]);
});

test("a place leads to a row and a column, and a cell to its clusterings, objects and own cluster", () => {
  const grid = gridOf(STRIPES, { width: GUTTER + 300, height: TOP + 100 });
  assert.equal(grid.row(TOP - 3), -1);
  assert.equal(grid.row(TOP + 60), 1);
  assert.equal(grid.column(GUTTER + 299), 2);
  assert.equal(grid.column(0), 0);
  const cell = cellAt(STRIPES, 1, 1);
  assert.deepEqual([...cell.members], [3, 9]);
  assert.deepEqual([...cell.objects], [2, 5]);
  assert.equal(cell.leaf, 9); // more like the consensus
  assert.equal(cell.own, 0);
  assert.equal(cellAt(STRIPES, 0, 2).own, 65535);
  assert.deepEqual(
    [7, 3, 9, 1].map((leaf) => rowOf(STRIPES.arrays, leaf)),
    [0, 1, 1, -1],
  );
});
