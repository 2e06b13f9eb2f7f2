import assert from "node:assert/strict";
import { test } from "node:test";
import { as, nameOf } from "../src/core/commands.js";
import { formatPercent, plural } from "../src/core/format.js";
import { setApart } from "../src/core/groups.js";
import { branchAround } from "../src/core/jobs.js";
import { Tree } from "../src/core/tree.js";

// ((0 1) (2 3)) 4: nodes 5 = 0+1, 6 = 2+3, 7 = 5+6, 8 = 7+4
const tree = new Tree(Int32Array.of(0, 1, 2, 3, 5, 6, 7, 4), Float32Array.of(1, 2, 3, 4), Int32Array.of(0, 1, 2, 3, 4));

test("the branch around a clustering holds half of what was made around it", () => {
  assert.equal(branchAround(tree, 0, [1]), 5);
  assert.equal(branchAround(tree, 0, [1, 4]), 5);
  assert.equal(branchAround(tree, 0, [2, 3, 4]), 7);
  assert.equal(branchAround(tree, 0, [4]), 8);
});

test("a branch changes between medoid and consensus, a clustering stays itself", () => {
  assert.equal(as("5000.7012m", "c"), "5000.7012c");
  assert.equal(as("17m", "c"), "17m");
  assert.equal(as(null, "c"), null);
  assert.equal(as("5000.9998c3", "c"), "5000.9998c3");
  assert.equal(as("5000.9998c3", "m"), "5000.9998m");
});

test("kept clusterings are called by what a reader knows", () => {
  const store = /** @type {any} */ ({ tree: { value: tree }, groups: { value: [7, 4] } });
  assert.equal(nameOf(store, "5.8c3"), "consensus of 3 clusters");
  assert.equal(nameOf(store, "5.8c"), "consensus of 5 clusterings");
  assert.equal(nameOf(store, "5.7c6"), "group 1 consensus in 6 clusters");
  assert.equal(nameOf(store, "5.5m"), "medoid of 2 clusterings");
});

test("tiles are called by the columns that set them apart", () => {
  /** @type {[string, number][]} */
  const shared = [
    ["since", 0.99],
    ["sales", 0.96],
    ["discount", 0.93],
  ];
  /** @type {[string, number][]} */
  const first = [...shared, ["note", 0.6], ["active", 0.5]];
  const names = [first, shared].map((mine) => setApart(mine, [first, shared]).map(([name]) => name));
  assert.deepEqual(names, [
    ["note", "active"],
    ["since", "sales"],
  ]);
});

test("numbers in words", () => {
  assert.equal(plural(1, "object"), "1 object");
  assert.equal(plural(1200, "object"), "1,200 objects");
  assert.deepEqual([0, 0.0123, 0.5, 1].map(formatPercent), ["0\u00a0%", "1.2\u00a0%", "50\u00a0%", "100\u00a0%"]);
});
