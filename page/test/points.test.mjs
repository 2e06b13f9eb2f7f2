import assert from "node:assert/strict";
import { test } from "node:test";
import { cloudOf, fitted, placesOf } from "../src/draw/points.js";
import { apart, centers, maskOf } from "../src/draw/tiles.js";

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

test("numbers are pushed apart and stay in their box", () => {
  const spots = Array.from({ length: 12 }, (_, i) => ({ x: 100 + (i % 3), y: 60 }));
  apart(spots, 18, 200, 120);
  for (let i = 0; i < 12; i++) {
    assert.ok(spots[i].x >= 9 && spots[i].x <= 191 && spots[i].y >= 9 && spots[i].y <= 111);
    for (let j = 0; j < i; j++) assert.ok(Math.hypot(spots[i].x - spots[j].x, spots[i].y - spots[j].y) > 12);
  }
});
