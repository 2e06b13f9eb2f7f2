import assert from "node:assert/strict";
import { test } from "node:test";
import { cloudOf, fitted, placesOf } from "../src/draw/points.js";
import { centers, maskOf, withRoom } from "../src/draw/tiles.js";
import { enlarged, shifted, WHOLE } from "../src/draw/window.js";

test("points without a place are left out, brushed ones marked", () => {
  const cloud = cloudOf(Float32Array.from([0, 0, NaN, 1, 0.5, 0.25, 1, NaN]), [3, 1, 2, 0], [2]);
  assert.deepEqual([...cloud.leaf], [0, 2]);
  assert.deepEqual([...cloud.labels], [3, 2]);
  assert.deepEqual([...cloud.xy], [0, 0, 0.5, 0.25]);
  assert.deepEqual([...cloud.mask], [0, 1]);
  assert.equal(cloudOf(Float32Array.from([0, 0]), [0], null).mask, null);
});

test("a map is fitted with one scale for both directions", () => {
  const found = fitted(Float32Array.from([0, 0.4, 1, 0.6, 0.5, 0.5]), 400, 200);
  const wide = (found[2] - found[0]) * 400;
  const high = (found[3] - found[1]) * 200;
  assert.ok(Math.abs(wide - 400) < 1e-3);
  assert.ok(Math.abs(high / wide - 0.2) < 1e-5);
  assert.ok(Math.abs(found[4] - 0.5) < 1e-6 && Math.abs(found[5] - 0.5) < 1e-6);
});

test("places and values are each other's inverse", () => {
  const place = placesOf(700, { width: 333, height: 222, ratio: 1.5 });
  for (const value of [0, 0.3, 1]) {
    assert.ok(Math.abs(place.toX(place.x(value)) - value) < 1e-9);
    assert.ok(Math.abs(place.toY(place.y(value)) - value) < 1e-9);
  }
  assert.ok(place.y(1) < place.y(0));
});

test("the middle of a cluster is the mean of its objects", () => {
  const xy = Float32Array.from([0, 0, 1, 1, 0.5, 0.25, 9, 9]);
  const labels = Uint8Array.from([0, 0, 2, 255]);
  const found = centers(xy, labels, 3);
  assert.deepEqual([found[0], found[1], found[4], found[5]], [0.5, 0.5, 0.5, 0.25]);
  assert.ok(Number.isNaN(found[2]));
  assert.deepEqual([...maskOf(labels, 0)], [1, 1, 0, 0]);
});

test("of numbers that would lie on each other the first stay", () => {
  const spots = Array.from({ length: 12 }, (_, i) => ({ x: 100 + 8 * i, y: 60 }));
  assert.deepEqual(
    withRoom(spots).map((one) => one.x),
    [100, 124, 148, 172],
  );
});

test("an enlarged plane keeps the point under the pointer, and stays on the data", () => {
  const near = enlarged(WHOLE, 0.25, 0.75, 4);
  assert.deepEqual(near, { x: 0.1875, y: 0.5625, k: 4 });
  assert.equal(near.x + 0.25 / near.k, 0.25);
  assert.deepEqual(enlarged(near, 0.9, 0.1, 0.01), WHOLE);
  assert.deepEqual(shifted(near, 100, -100), { x: 0.75, y: 0, k: 4 });
});
