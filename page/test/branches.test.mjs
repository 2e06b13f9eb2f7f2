import assert from "node:assert/strict";
import { test } from "node:test";
import {
  branchAt,
  branchMeans,
  drawBranches,
  groupOfNodes,
  groupsAt,
  moved,
  scales,
  zoomed,
} from "../src/draw/branches.js";
import { randomTree } from "./trees.mjs";

const tree = randomTree(30, 7);
const whole = { from: 0, to: 30 };

test("means of branches leave unknown values out", () => {
  const score = Float32Array.from({ length: 30 }, (_, i) => (i % 7 ? i : NaN));
  const means = branchMeans(tree, score);
  for (let node = 0; node <= tree.root; node++) {
    const known = [...tree.leaves(node)].map((leaf) => score[leaf]).filter(Number.isFinite);
    const mean = known.reduce((a, b) => a + b, 0) / known.length;
    assert.ok(Number.isNaN(mean) ? Number.isNaN(means[node]) : Math.abs(mean - means[node]) < 1e-9);
  }
});

test("the number of groups at a level is that of a cut there", () => {
  for (let g = 1; g <= 30; g++) assert.equal(groupsAt(tree, tree.cutHeight(g)), g);
});

test("the branch at a point is the group that a cut at its level makes", () => {
  for (let g = 1; g <= 30; g++) {
    for (const node of tree.cut(g)) {
      for (let place = tree.first[node]; place < tree.first[node] + tree.size[node]; place++) {
        assert.equal(branchAt(tree, place, tree.cutHeight(g)), node);
      }
    }
  }
});

test("every node of a group carries its number", () => {
  const groups = tree.cut(4);
  const found = groupOfNodes(tree, groups);
  for (let node = 0; node <= tree.root; node++)
    assert.equal(
      found[node],
      groups.findIndex((group) => tree.isUnder(node, group)),
    );
});

test("each branch is a run of its color, from its height to its parent's", () => {
  const width = 900;
  const height = 400;
  const pixels = new Uint32Array(width * height);
  const colors = Uint32Array.from({ length: tree.root + 1 }, (_, node) => node + 1);
  drawBranches(pixels, width, height, tree, whole, colors, 1);
  const { x, y } = scales(tree, whole, width, height);
  for (let node = 0; node < tree.root; node++) {
    const middle = Math.round((y(tree.height[node]) + y(tree.height[tree.parent[node]])) / 2);
    assert.equal(pixels[middle * width + Math.round(x(tree.x[node]))], colors[node]);
  }
  assert.ok(new Set(pixels).size > tree.root);
});

test("what is out of sight is not drawn into the edges", () => {
  const pixels = new Uint32Array(100 * 100);
  const span = { from: 10, to: 14 };
  drawBranches(pixels, 100, 100, tree, span, new Uint32Array(tree.root + 1).fill(9), 1);
  const lowest = [...pixels.subarray(99 * 100)].map((value, at) => (value ? at : -1)).filter((at) => at >= 0);
  assert.deepEqual(lowest, [13, 38, 63, 88]);
});

test("zooming keeps the place under the pointer, and the span inside the tree", () => {
  const near = zoomed(tree, whole, 12, 0.5);
  assert.equal(near.to - near.from, 15);
  assert.ok(Math.abs((12 - near.from) / 15 - 12 / 30) < 1e-9);
  assert.deepEqual(zoomed(tree, near, 12, 100), whole);
  assert.equal(zoomed(tree, near, 12, 1e-9).to - zoomed(tree, near, 12, 1e-9).from, 8);
  assert.deepEqual(moved(tree, { from: 3, to: 8 }, -10), { from: 0, to: 5 });
  assert.deepEqual(moved(tree, { from: 3, to: 8 }, 100), { from: 25, to: 30 });
});
