import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { groupAbove, joinUnder, nextNode, splitGroup } from "../src/core/groups.js";
import { nodeOf, parseRef, refOf, Tree } from "../src/core/tree.js";
import { randomTree } from "./trees.mjs";

const tree = randomTree(40);

/** Whether groups are branches that hold every clustering once, the largest first. */
function isPartition(groups) {
  const leaves = groups.flatMap((node) => [...tree.leaves(node)]);
  assert.deepEqual(
    leaves.sort((a, b) => a - b),
    [...tree.order].sort((a, b) => a - b),
  );
  for (const [at, node] of groups.slice(1).entries()) assert.ok(tree.size[groups[at]] >= tree.size[node]);
}

test("groups have the numbers that Python gives them", () => {
  const cases = JSON.parse(readFileSync(new URL("cuts.json", import.meta.url), "utf8"));
  for (const { merges, order, groups } of cases) {
    const heights = Float32Array.from({ length: order.length - 1 }, (_, i) => i + 1);
    const one = new Tree(Int32Array.from(merges), heights, Int32Array.from(order));
    groups.forEach((nodes, at) => {
      assert.deepEqual(one.cut(at + 1), nodes);
    });
  }
});

test("a cut makes as many groups as asked, at every level", () => {
  for (let g = 1; g <= 40; g++) {
    const groups = tree.cut(g);
    assert.equal(groups.length, g);
    isPartition(groups);
    for (const node of groups) assert.ok(tree.height[node] <= tree.cutHeight(g));
    if (g > 1) for (const node of groups) assert.ok(tree.height[tree.parent[node]] >= tree.cutHeight(g));
  }
});

test("a split makes two of one group, and joining its halves takes it back", () => {
  const cut = { cut: 6, split: [], join: [], cutM: tree.m };
  for (const node of tree.cut(6).filter((one) => !tree.isLeaf(one))) {
    const split = { ...cut, ...splitGroup(tree, cut, node) };
    const groups = tree.cut(6, split.split, split.join);
    assert.equal(groups.length, 7);
    isPartition(groups);
    for (const half of tree.children(node)) assert.ok(groups.includes(half));
    const joined = { ...split, ...joinUnder(tree, split, node) };
    assert.deepEqual(joined, cut);
  }
});

test("a joined branch is split again into its two branches alone", () => {
  const cut = { cut: 12, split: [], join: [], cutM: tree.m };
  const node = tree.root;
  const joined = { ...cut, ...joinUnder(tree, cut, node) };
  assert.deepEqual(tree.cut(12, joined.split, joined.join), [node]);
  const halves = { ...joined, ...splitGroup(tree, joined, node) };
  assert.deepEqual(new Set(tree.cut(12, halves.split, halves.join)), new Set(tree.children(node)));
});

test("what cannot be split or joined is refused", () => {
  const all = { cut: 40, split: [], join: [], cutM: tree.m };
  const one = { ...all, cut: 1 };
  assert.equal(splitGroup(tree, all, 3), null);
  assert.equal(splitGroup(tree, one, tree.children(tree.root)[0]), null);
  assert.equal(joinUnder(tree, one, tree.root), null);
});

test("splits of another tree count for nothing", () => {
  const old = { cut: 3, split: [tree.cut(3)[0]], join: [], cutM: 39 };
  const patch = splitGroup(
    tree,
    old,
    tree.cut(3).find((node) => !tree.isLeaf(node)),
  );
  assert.equal(patch.split.length, 1);
  assert.equal(patch.cutM, 40);
});

test("arrows lead to every clustering, and stay inside the tree", () => {
  const groups = tree.cut(5);
  for (let leaf = 0; leaf < 40; leaf++) {
    let node = leaf;
    let steps = 0;
    while (node !== tree.root && steps++ < 80) node = nextNode(tree, groups, node, "up");
    assert.equal(node, tree.root);
  }
  assert.equal(nextNode(tree, groups, tree.root, "up"), tree.root);
  assert.equal(nextNode(tree, groups, 7, "down"), 7);
  for (let node = 40; node <= tree.root; node++) {
    const below = nextNode(tree, groups, node, "down");
    const other = tree.children(node).find((child) => child !== below);
    assert.equal(tree.parent[below], node);
    assert.ok(tree.size[below] >= tree.size[other]);
  }
  const across = [...groups].sort((a, b) => tree.first[a] - tree.first[b]);
  assert.deepEqual(across.map((node) => nextNode(tree, groups, node, "right")).slice(0, -1), across.slice(1));
  const seen = [tree.order[0]];
  for (let i = 1; i < 40; i++) seen.push(nextNode(tree, [], seen[i - 1], "right"));
  assert.deepEqual(seen, [...tree.order]);
});

test("a node knows the group it is in", () => {
  const groups = tree.cut(5);
  for (const group of groups)
    for (const leaf of tree.leaves(group)) assert.equal(groupAbove(tree, groups, leaf), group);
  assert.equal(groupAbove(tree, groups, tree.root), -1);
});

test("equal clusterings are not counted twice", () => {
  const heights = new Float32Array([0, 0, 0, 1, 2]);
  const some = new Tree(new Int32Array([0, 1, 2, 3, 6, 4, 7, 8, 9, 5]), heights, new Int32Array([0, 1, 4, 2, 3, 5]));
  assert.equal(some.distinct(some.root), 3);
  assert.equal(some.distinct(8), 1);
  assert.equal(some.distinct(9), 2);
  assert.equal(some.jump(8), 1);
});

test("refs name the tree they belong to", () => {
  assert.equal(refOf(tree, 7, "c"), "7m");
  assert.equal(refOf(tree, 50, "c"), "40.50c");
  assert.equal(nodeOf(tree, "40.50c"), 50);
  assert.equal(nodeOf(tree, "39.50c"), -1);
  assert.equal(nodeOf(tree, "7m"), 7);
  for (const bad of ["", "x", "7", "-7m", "7mm", "1.2.3m", "1234567890m"]) assert.equal(parseRef(bad), null);
});
