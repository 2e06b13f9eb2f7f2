// Trees to test on.
import { Tree } from "../src/core/tree.js";

/** A tree of m leaves grown at random, as SciPy numbers it; the order is that of a walk from the root. */
export function randomTree(m, seed = 1) {
  const next = random(seed);
  const merges = new Int32Array(2 * (m - 1));
  const heights = new Float32Array(m - 1);
  const roots = Array.from({ length: m }, (_, i) => i);
  for (let i = 0; i < m - 1; i++) {
    for (let side = 0; side < 2; side++) merges[2 * i + side] = roots.splice(Math.floor(next() * roots.length), 1)[0];
    heights[i] = (heights[i - 1] ?? 0) + 0.01 + next();
    roots.push(m + i);
  }
  const order = [];
  const walk = (node) => {
    if (node < m) order.push(node);
    else for (let side = 0; side < 2; side++) walk(merges[2 * (node - m) + side]);
  };
  walk(2 * m - 2);
  return new Tree(merges, heights, Int32Array.from(order));
}

/** Numbers from 0 to 1, the same ones for the same seed. */
export function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}
