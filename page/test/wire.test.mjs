import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../src/core/codec.js";
import { readHash, writeHash } from "../src/core/view.js";

test("arrays are read from the container without copying", () => {
  const header = JSON.stringify({
    revision: 3,
    arrays: {
      xy: { dtype: "float32", shape: [2, 2], offset: 0 },
      labels: { dtype: "uint8", shape: [1, 3], offset: 16 },
    },
  });
  const length = Math.ceil((4 + header.length) / 8) * 8 - 4;
  const buffer = new ArrayBuffer(4 + length + 24);
  new DataView(buffer).setUint32(0, length, true);
  new Uint8Array(buffer, 4, length).set(new TextEncoder().encode(header.padEnd(length)));
  new Float32Array(buffer, 4 + length, 4).set([1, 2, 3, 4]);
  new Uint8Array(buffer, 4 + length + 16, 3).set([7, 8, 255]);
  const found = decode(buffer);
  assert.equal(found.header.revision, 3);
  assert.deepEqual([...found.arrays.xy], [1, 2, 3, 4]);
  assert.deepEqual([...found.arrays.labels], [7, 8, 255]);
  assert.deepEqual(found.shapes, { xy: [2, 2], labels: [1, 3] });
  assert.equal(found.arrays.xy.buffer, buffer);
});

const view = {
  of: "0123abcd.4567",
  cut: 7,
  split: [90, 91],
  join: [95],
  cutM: 50,
  open: [97, 95],
  cuts: [6, 3],
  rep: "c",
  sel: "50.90c",
  pin: "3m",
  cmp: null,
  x: "compactness",
  y: "accuracy:a&b=c#d",
  brush: [0.5, 1, -2, 3.25],
  map: "neighbors",
  color: "group",
  pane: "map",
  tab: "compare",
  cluster: 2,
  flow: "clusters",
  order: "50.90c7,3m",
  most: 12,
  rows: "agreement",
  over: "branch",
  tray: [
    { ref: "3m", name: '=a, "b" & <c>', note: "line\nline", of: "0123abcd.4567" },
    { ref: "50.90c", name: "ü", note: "", of: "89ab.cdef" },
  ],
};

test("a view is the same after its address", () => {
  assert.deepEqual(readHash(`#${writeHash(view)}`), view);
});

test("an address of another version, or a broken one, is not followed", () => {
  for (const bad of ["", "#v=2&run=a", "#v=1"]) assert.equal(readHash(bad), null);
  const found = readHash("#v=1&run=a&cut=x&split=1,zz&brush=1,2&rep=q&tray=nonsense&tray=[1]");
  assert.deepEqual([found.of, found.cut, found.split, found.brush, found.rep], ["a", 0, [], null, "m"]);
  assert.deepEqual(found.tray, [{ ref: "1", name: "", note: "", of: "a" }]);
});
