import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut } from "../src/draw/flow_of_two.js";

const TABLE = [
  [30, 0, 5],
  [0, 20, 0],
  [1, 4, 40],
];

test("blocks are as large as their clusters and do not overlap", () => {
  const { a, b } = layOut(TABLE, 300);
  assert.deepEqual(
    a.map((one) => one.count),
    [35, 20, 45],
  );
  assert.deepEqual(
    b.map((one) => one.count),
    [31, 24, 45],
  );
  for (const side of [a, b]) {
    const stacked = [...side].sort((p, q) => p.top - q.top);
    for (const [at, one] of stacked.slice(1).entries()) assert.ok(one.top >= stacked[at].top + stacked[at].size);
    assert.ok(stacked.at(-1).top + stacked.at(-1).size <= 300 + 1e-9);
    assert.ok(Math.abs(side[0].size / side[1].size - side[0].count / side[1].count) < 1e-9);
  }
});

test("ribbons fill the blocks at both ends", () => {
  const { a, b, ribbons } = layOut(TABLE, 300);
  assert.equal(ribbons.length, 6);
  for (const [side, end] of [
    [a, "from"],
    [b, "to"],
  ]) {
    side.forEach((block, c) => {
      const size = ribbons.filter((one) => one[end] === c).reduce((sum, one) => sum + one.size, 0);
      assert.ok(Math.abs(size - block.size) < 1e-9, `${end} ${c}`);
    });
  }
});

test("sides with different numbers of clusters use one scale", () => {
  const { a, b, ribbons } = layOut([[10, 10, 10, 10]], 200);
  assert.ok(Math.abs(a[0].size - b.reduce((sum, one) => sum + one.size, 0)) < 1e-9);
  assert.ok(Math.abs(ribbons[0].size - b[0].size) < 1e-9);
});

test("right blocks stand beside what flows into them", () => {
  const { b } = layOut(
    [
      [0, 9],
      [9, 0],
    ],
    100,
  );
  assert.ok(b[1].top < b[0].top);
});
