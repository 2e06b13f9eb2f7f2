import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countsAmong,
  countsOf,
  crossings,
  layOutFlow,
  objectsIn,
  orderBlocks,
  ribbonPath,
} from "../src/draw/flow_of_many.js";

const NONE = 255;
const A = [0, 0, 0, 1, 1, 1, 2, 2, NONE, 2];
const B = [1, 1, 1, 0, 0, 0, 2, 2, 2, 0];
const C = [2, 2, 0, 1, 1, 0, NONE, 0, 0, 1];
const LABELS = Uint8Array.from([...A, ...B, ...C]);
const N = A.length;
const K = [3, 3, 3];

const tableOf = (a, b) => {
  const table = Array.from({ length: 4 }, () => Array(4).fill(0));
  for (const [i, one] of a.entries()) table[Math.min(one, 3)][Math.min(b[i], 3)]++;
  return table;
};
const TABLES = [tableOf(A, B), tableOf(B, C)];
const COUNTS = countsOf(
  [A, B, C].map((labels, at) => ({
    sizes: Array.from({ length: K[at] }, (_, c) => labels.filter((one) => one === c).length),
    n_missing: labels.filter((one) => one === NONE).length,
  })),
);

const permutations = (list) =>
  list.length < 2
    ? [list]
    : list.flatMap((one, at) => permutations(list.toSpliced(at, 1)).map((rest) => [one, ...rest]));

test("crossings are pairs of objects whose ribbons cross", () => {
  const pairs = (left, right) => {
    let total = 0;
    for (let i = 0; i < N; i++)
      for (let j = 0; j < N; j++) {
        const [a, b] = [left.indexOf(Math.min(A[i], 3)), left.indexOf(Math.min(A[j], 3))];
        const [c, d] = [right.indexOf(Math.min(B[i], 3)), right.indexOf(Math.min(B[j], 3))];
        if (a < b && c > d) total++;
      }
    return total;
  };
  for (const right of permutations([0, 1, 2, 3]))
    assert.equal(crossings(TABLES[0], [2, 0, 3, 1], right), pairs([2, 0, 3, 1], right));
});

test("blocks stand so that as few ribbons cross as can, missing ones last", () => {
  const orders = orderBlocks(TABLES, COUNTS);
  const total = (found) => TABLES.reduce((sum, table, at) => sum + crossings(table, found[at], found[at + 1]), 0);
  const all = permutations([0, 1, 2]).map((one) => [...one, 3]);
  const least = Math.min(...all.flatMap((a) => all.flatMap((b) => all.map((c) => total([a, b, c])))));
  for (const order of orders) assert.equal(order.at(-1), 3);
  assert.equal(total(orders), least);
  assert.ok(total(orders) < total([0, 0, 0].map(() => [0, 1, 2, 3])));
});

test("ribbons fill the blocks at both ends, and blocks do not overlap", () => {
  const orders = orderBlocks(TABLES, COUNTS);
  const { blocks, ribbons, scale } = layOutFlow(TABLES, COUNTS, orders, { width: 600, height: 200, block: 12 });
  for (const column of blocks)
    column.forEach((one, at) => {
      assert.ok(Math.abs(one.size - one.count * scale) < 1e-9);
      if (at) assert.ok(one.y > column[at - 1].y + column[at - 1].size);
      assert.ok(one.y >= 0 && one.y + one.size <= 200 + 1e-9);
      assert.ok(one.x >= 0 && one.x + 12 <= 600);
    });
  for (const gap of [0, 1])
    for (const [side, key, y] of [
      [gap, "from", "y0"],
      [gap + 1, "to", "y1"],
    ])
      for (const block of blocks[side]) {
        const mine = ribbons.filter((one) => one.gap === gap && one[key] === block.cluster).sort((p, q) => p[y] - q[y]);
        assert.equal(
          mine.reduce((sum, one) => sum + one.count, 0),
          block.count,
        );
        let at = block.y;
        for (const one of mine) {
          assert.ok(Math.abs(one[y] - at) < 1e-9);
          at += one.size;
        }
      }
  assert.match(ribbonPath(ribbons[0], 12, 300, 5), /^M12 .*Z$/);
});

test("picked objects are counted where they go, and blocks and ribbons know their objects", () => {
  const rows = Uint32Array.of(0, 6, 8, 9);
  const { blocks, tables } = countsAmong(LABELS, N, COUNTS, rows);
  assert.deepEqual([...blocks[0]], [1, 0, 2, 1]);
  assert.deepEqual([...blocks[2]], [1, 1, 1, 1]);
  assert.equal(tables[0][2 * 4 + 2], 1);
  assert.equal(tables[0][3 * 4 + 2], 1);
  assert.equal(tables[1][2 * 4 + 3], 1);
  assert.deepEqual([...objectsIn(LABELS, N, COUNTS, [{ column: 0, cluster: 3 }])], [8]);
  const ribbon = [
    { column: 0, cluster: 2 },
    { column: 1, cluster: 2 },
  ];
  assert.deepEqual([...objectsIn(LABELS, N, COUNTS, ribbon)], [6, 7]);
});
