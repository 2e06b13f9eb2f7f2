import assert from "node:assert/strict";
import { test } from "node:test";
import { colorOf, markOf, rampRgb, rgb } from "../src/draw/palette.js";
import { frame, markSize, nearest, packed, scatter } from "../src/draw/raster.js";
import { random } from "./trees.mjs";

/** A canvas that keeps its pixels. */
function paper(width, height) {
  const canvas = {
    width,
    height,
    pixels: new Uint32Array(0),
    getContext: () => ({
      createImageData: () => ({ data: { buffer: new ArrayBuffer(4 * width * height) } }),
      putImageData: (image) => {
        canvas.pixels = new Uint32Array(image.data.buffer);
      },
    }),
  };
  return canvas;
}

/** Where an object's middle is drawn. */
function spot(canvas, xy, i) {
  const { pad, across, down } = frame(xy.length / 2, canvas.width, canvas.height);
  return (pad + Math.round((1 - xy[2 * i + 1]) * down)) * canvas.width + pad + Math.round(xy[2 * i] * across);
}

const next = random(11);
const xy = Float32Array.from({ length: 200 }, next);
const labels = Uint8Array.from({ length: 100 }, (_, i) => i % 4);

test("every object has the color of its cluster's slot; the last drawn lies above", () => {
  const canvas = paper(600, 500);
  const slots = [2, 0, 7, 5];
  scatter(canvas, xy, labels, slots);
  const shown = new Map();
  for (let i = 0; i < 100; i++) shown.set(spot(canvas, xy, i), packed(rgb(colorOf(slots[labels[i]]))));
  let hits = 0;
  for (const [at, color] of shown) hits += canvas.pixels[at] === color ? 1 : 0;
  assert.ok(hits >= 95, `${hits} of ${shown.size}`);
});

test("a mask leaves only its objects in color, above all others", () => {
  const canvas = paper(600, 500);
  const mask = Uint8Array.from(labels, (label) => (label === 1 ? 1 : 0));
  scatter(canvas, xy, labels, [0, 1, 2, 3], { mask });
  const solid = new Set([...canvas.pixels].filter((pixel) => pixel >>> 24 === 255));
  assert.deepEqual(solid, new Set([packed(rgb(colorOf(1))), packed([0xc4, 0xc8, 0xcc])]));
  for (let i = 1; i < 100; i += 4) assert.equal(canvas.pixels[spot(canvas, xy, i)], packed(rgb(colorOf(1))));
});

test("objects of weak support are hollow, objects without a label grey", () => {
  const one = Float32Array.from([0.5, 0.5]);
  const canvas = paper(200, 200);
  const at = spot(canvas, one, 0);
  scatter(canvas, one, Uint8Array.of(0), [0], { support: Uint8Array.of(200) });
  assert.equal(canvas.pixels[at], packed(rgb(colorOf(0))));
  scatter(canvas, one, Uint8Array.of(0), [0], { support: Uint8Array.of(100) });
  assert.equal(canvas.pixels[at], 0);
  assert.ok(canvas.pixels.includes(packed(rgb(colorOf(0)))));
  scatter(canvas, one, Uint8Array.of(255), [0]);
  assert.equal(canvas.pixels[at], packed([0xc4, 0xc8, 0xcc]));
});

test("where objects are single pixels, those of weak support are pale and never cover others", () => {
  const crowd = new Float32Array(2 * 5000).fill(0.5);
  const labels = new Uint8Array(5000);
  const canvas = paper(100, 100);
  const at = spot(canvas, crowd, 0);
  scatter(canvas, crowd, labels, [0], { support: new Uint8Array(5000).fill(100) });
  assert.deepEqual([canvas.pixels[at] >>> 24, canvas.pixels.filter(Boolean).length], [96, 1]);
  scatter(canvas, crowd, labels, [0], { support: new Uint8Array(5000).fill(100).fill(200, 0, 1) });
  assert.equal(canvas.pixels[at], packed(rgb(colorOf(0))));
});

test("past twenty clusters the mark changes with the same color", () => {
  const one = Float32Array.from([0.5, 0.5]);
  const pictures = [3, 23, 43, 63, 83].map((slot) => {
    const canvas = paper(200, 200);
    scatter(canvas, one, Uint8Array.of(0), [slot]);
    return canvas.pixels.join();
  });
  assert.equal(new Set(pictures).size, 5);
  assert.deepEqual([3, 23, 43, 63, 83, 103].map(markOf), [0, 1, 2, 3, 4, 0]);
});

test("marks stay on the canvas and shrink with the number of objects", () => {
  const corners = Float32Array.from([0, 0, 1, 1, 0, 1, 1, 0]);
  for (const [width, height] of [
    [40, 30],
    [300, 300],
    [3000, 2000],
  ]) {
    const { pad } = frame(4, width, height);
    assert.ok(pad >= markSize(4, width, height) + 3);
    scatter(paper(width, height), corners, Uint8Array.of(0, 1, 2, 3), [0, 11, 22, 33]);
  }
  const sizes = [10, 300, 1000, 5000, 100000].map((n) => markSize(n, 320, 250));
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => b - a),
  );
  assert.equal(sizes.at(-1), 0);
});

test("the nearest object is found within reach", () => {
  const canvas = paper(600, 500);
  const { pad, across, down } = frame(100, 600, 500);
  for (let i = 0; i < 100; i++)
    assert.equal(nearest(canvas, xy, pad + xy[2 * i] * across + 0.4, pad + (1 - xy[2 * i + 1]) * down), i);
  assert.equal(nearest(canvas, Float32Array.from([0, 0]), 500, 10), -1);
});

test("the scale of scores keeps its order in lightness on both grounds", () => {
  for (const dark of [false, true]) {
    const light = [0, 0.25, 0.5, 0.75, 1]
      .map((value) => rampRgb(value, dark))
      .map(([r, g, b]) => 0.3 * r + 0.6 * g + 0.1 * b);
    assert.deepEqual(
      light,
      [...light].sort((a, b) => a - b),
    );
    assert.deepEqual(rampRgb(-3, dark), rampRgb(0, dark));
  }
});
