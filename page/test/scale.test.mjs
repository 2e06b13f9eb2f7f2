// Round numbers along an axis.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scaleLinear } from "../src/draw/scale.js";

test("ticks are round, within the ends, and exact", () => {
  assert.deepEqual(scaleLinear([0, 1], [0, 1]).ticks(5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(scaleLinear([0.05, 0.38], [0, 1]).ticks(4), [0.1, 0.2, 0.3]);
  assert.deepEqual(scaleLinear([-12, 31], [0, 1]).ticks(5), [-10, 0, 10, 20, 30]);
  assert.deepEqual(scaleLinear([980, 5020], [0, 1]).ticks(4), [1000, 2000, 3000, 4000, 5000]);
  assert.deepEqual(scaleLinear([3, 3], [0, 1]).ticks(4), [3]);
});

test("ticks have as many digits as their step", () => {
  const words = (low, high, count) => {
    const scale = scaleLinear([low, high], [0, 1]);
    return scale.ticks(count).map(scale.tickFormat(count));
  };
  assert.deepEqual(words(0, 1, 2), ["0.0", "0.5", "1.0"]);
  assert.deepEqual(words(-2, 2, 5), ["−2", "−1", "0", "1", "2"]);
  assert.deepEqual(words(0, 0.8, 1), ["0"]);
  assert.deepEqual(words(0.101, 0.1301, 3), ["0.11", "0.12", "0.13"]);
  assert.deepEqual(words(2, 2, 3), ["2"]);
});

test("places and values are inverse, nice ends are round, one value stands in the middle", () => {
  const scale = scaleLinear([2, 10], [300, 20]);
  assert.equal(scale(2), 300);
  assert.equal(scale(10), 20);
  assert.equal(scale.invert(scale(7.25)), 7.25);
  assert.deepEqual(scaleLinear([0.13, 0.91], [0, 1]).nice(4).ticks(4), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.equal(scaleLinear([4, 4], [0, 10])(4), 5);
});
