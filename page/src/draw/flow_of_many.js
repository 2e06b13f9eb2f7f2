// Where the blocks and ribbons of a flow over several clusterings lie: few ribbons cross, and none is wider than it is.

/**
 * @typedef {number[][]} Counts of objects, clusters of a clustering × clusters of its neighbor, missing labels last
 * @typedef {{column: number, cluster: number, count: number, x: number, y: number, size: number}} Block
 * @typedef {{gap: number, from: number, to: number, count: number, y0: number, y1: number, size: number}} Ribbon
 */

const SWEEPS = 12;

/** How many objects every block has, missing labels last. @param {{sizes: number[], n_missing: number}[]} columns */
export const countsOf = (columns) => columns.map(({ sizes, n_missing: missing }) => [...sizes, missing]);

/**
 * Objects times objects on ribbons that cross.
 * @param {Counts} table @param {number[]} left blocks from top to bottom @param {number[]} right
 */
export function crossings(table, left, right) {
  const above = new Float64Array(right.length); // objects of blocks higher up, by where they go
  let total = 0;
  for (const r of left) {
    let lower = 0; // of those, what goes below
    for (let at = right.length - 1; at >= 0; at--) {
      total += table[r][right[at]] * lower;
      lower += above[at];
    }
    right.forEach((c, at) => {
      above[at] += table[r][c];
    });
  }
  return total;
}

/**
 * The blocks of every column from top to bottom: each by the mean place of what it shares objects with, over the
 * columns and back, as long as fewer ribbons cross. Missing labels stay at the bottom.
 * @param {Counts[]} tables @param {number[][]} counts @returns {number[][]}
 */
export function orderBlocks(tables, counts) {
  let orders = counts.map((blocks) => blocks.map((_, c) => c));
  let best = orders;
  const crossed = () => tables.reduce((sum, table, at) => sum + crossings(table, orders[at], orders[at + 1]), 0);
  let fewest = crossed();
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    orders = [...orders];
    const isBack = sweep % 2 === 1;
    for (let step = 1; step < counts.length; step++) {
      const at = isBack ? counts.length - 1 - step : step;
      const place = placesOf(orders[isBack ? at + 1 : at - 1]);
      const table = tables[isBack ? at : at - 1];
      const share = (/** @type {number} */ c, /** @type {number} */ d) => (isBack ? table[c][d] : table[d][c]);
      const now = placesOf(orders[at]);
      const missing = counts[at].length - 1;
      const mean = counts[at].map((count, c) =>
        c === missing ? Infinity : count ? place.reduce((sum, y, d) => sum + y * share(c, d), 0) / count : now[c],
      );
      orders[at] = [...orders[at]].sort((a, b) => mean[a] - mean[b] || now[a] - now[b]);
    }
    const now = crossed();
    if (now < fewest) {
      fewest = now;
      best = orders;
    }
  }
  return best;
}

/** @param {number[]} order @returns {number[]} of every block its place */
function placesOf(order) {
  const found = Array(order.length);
  order.forEach((c, at) => {
    found[c] = at;
  });
  return found;
}

/**
 * Blocks and ribbons in a picture of this size; blocks without objects have none.
 * @param {Counts[]} tables @param {number[][]} counts @param {number[][]} orders
 * @param {{width: number, height: number, block: number}} size `block` is how wide blocks are
 * @returns {{blocks: Block[][], ribbons: Ribbon[], scale: number}} blocks by column, from top to bottom
 */
export function layOutFlow(tables, counts, orders, { width, height, block }) {
  const total = Math.max(1, ...counts.map((blocks) => blocks.reduce((a, b) => a + b, 0)));
  const most = Math.max(...counts.map((blocks) => blocks.filter(Boolean).length));
  const gap = Math.min(8, (0.3 * height) / Math.max(1, most));
  const scale = (height - gap * (most - 1)) / total;
  const step = (width - block) / Math.max(1, counts.length - 1);
  const blocks = orders.map((order, column) => {
    const there = order.filter((c) => counts[column][c]);
    const whole = there.reduce((sum, c) => sum + counts[column][c] * scale, 0) + gap * (there.length - 1);
    let y = Math.max(0, (height - whole) / 2);
    return there.map((cluster) => {
      const size = counts[column][cluster] * scale;
      const found = { column, cluster, count: counts[column][cluster], x: column * step, y, size };
      y += size + gap;
      return found;
    });
  });
  const ribbons = [];
  for (let at = 0; at < tables.length; at++) {
    const out = new Map(blocks[at].map((one) => [one.cluster, one.y]));
    const into = new Map(blocks[at + 1].map((one) => [one.cluster, one.y]));
    for (const { cluster: from } of blocks[at])
      for (const { cluster: to } of blocks[at + 1]) {
        const count = tables[at][from][to];
        if (!count) continue;
        const size = count * scale;
        const y0 = /** @type {number} */ (out.get(from));
        const y1 = /** @type {number} */ (into.get(to));
        ribbons.push({ gap: at, from, to, count, y0, y1, size });
        out.set(from, y0 + size);
        into.set(to, y1 + size);
      }
  }
  return { blocks, ribbons, scale };
}

/**
 * A ribbon's outline.
 * @param {{y0: number, y1: number}} ribbon @param {number} x0 @param {number} x1 @param {number} size
 */
export function ribbonPath({ y0, y1 }, x0, x1, size) {
  const mid = (x0 + x1) / 2;
  const f = (/** @type {number} */ value) => Number(value.toFixed(2));
  const there = `M${f(x0)} ${f(y0)}C${f(mid)} ${f(y0)} ${f(mid)} ${f(y1)} ${f(x1)} ${f(y1)}`;
  return `${there}V${f(y1 + size)}C${f(mid)} ${f(y1 + size)} ${f(mid)} ${f(y0 + size)} ${f(x0)} ${f(y0 + size)}Z`;
}

/**
 * The same counts as blocks and tables have, of some objects alone.
 * @param {import("../core/align.js").Labels} labels columns × objects @param {number} n objects
 * @param {number[][]} counts @param {Uint32Array} rows
 */
export function countsAmong(labels, n, counts, rows) {
  const blocks = counts.map((one) => new Uint32Array(one.length));
  const tables = counts.slice(1).map((one, at) => new Uint32Array(counts[at].length * one.length));
  for (const row of rows) {
    let before = 0;
    for (let at = 0; at < counts.length; at++) {
      const cluster = Math.min(labels[at * n + row], counts[at].length - 1); // missing is the largest
      blocks[at][cluster]++;
      if (at) tables[at - 1][before * counts[at].length + cluster]++;
      before = cluster;
    }
  }
  return { blocks, tables };
}

/**
 * Objects of a block, or of a ribbon to another one.
 * @param {import("../core/align.js").Labels} labels @param {number} n @param {number[][]} counts
 * @param {{column: number, cluster: number}[]} blocks that they are in, each of them
 */
export function objectsIn(labels, n, counts, blocks) {
  const found = [];
  for (let row = 0; row < n; row++)
    if (
      blocks.every(({ column, cluster }) => Math.min(labels[column * n + row], counts[column].length - 1) === cluster)
    )
      found.push(row);
  return Uint32Array.from(found);
}
