// Clusters of one clustering matched to those of another by maximum overlap, so that colors mean the same.

/** @typedef {Uint8Array | Uint16Array} Labels */

/** @param {Labels} labels */
export const missingOf = (labels) => (labels.BYTES_PER_ELEMENT === 1 ? 255 : 65535);

/**
 * Counts of objects: clusters of a × clusters of b; objects without a label in either count nowhere.
 * @param {Labels} a @param {number} ka @param {Labels} b @param {number} kb
 */
export function contingency(a, ka, b, kb) {
  const table = new Int32Array(ka * kb);
  const noA = missingOf(a);
  const noB = missingOf(b);
  for (let i = 0; i < a.length; i++) if (a[i] !== noA && b[i] !== noB) table[a[i] * kb + b[i]]++;
  return table;
}

/**
 * For every row its column, each column once, the sum of the chosen cells largest; −1 for rows left over.
 * The Hungarian method by shortest augmenting paths, O(rows² · columns).
 * @param {ArrayLike<number>} table rows × columns @param {number} rows @param {number} columns
 * @returns {Int32Array}
 */
export function assign(table, rows, columns) {
  const size = Math.max(rows, columns);
  const cost = (/** @type {number} */ r, /** @type {number} */ c) =>
    r < rows && c < columns ? -table[r * columns + c] : 0;
  const u = new Float64Array(size + 1);
  const v = new Float64Array(size + 1);
  const owner = new Int32Array(size + 1);
  const way = new Int32Array(size + 1);
  for (let row = 1; row <= size; row++) {
    owner[0] = row;
    let at = 0;
    const least = new Float64Array(size + 1).fill(Infinity);
    const seen = new Uint8Array(size + 1);
    do {
      seen[at] = 1;
      const from = owner[at];
      let delta = Infinity;
      let next = 0;
      for (let c = 1; c <= size; c++) {
        if (seen[c]) continue;
        const reduced = cost(from - 1, c - 1) - u[from] - v[c];
        if (reduced < least[c]) {
          least[c] = reduced;
          way[c] = at;
        }
        if (least[c] < delta) {
          delta = least[c];
          next = c;
        }
      }
      for (let c = 0; c <= size; c++) {
        if (seen[c]) {
          u[owner[c]] += delta;
          v[c] -= delta;
        } else least[c] -= delta;
      }
      at = next;
    } while (owner[at] !== 0);
    do {
      owner[at] = owner[way[at]];
      at = way[at];
    } while (at);
  }
  const found = new Int32Array(rows).fill(-1);
  for (let c = 1; c <= columns; c++) if (owner[c] && owner[c] <= rows) found[owner[c] - 1] = c - 1;
  return found;
}

/**
 * A color slot for every cluster: that of the cluster of the pinned clustering it overlaps most with; clusters without
 * a partner, or without any overlap with theirs, get slots that no other has.
 * @param {Labels} labels @param {number} k @param {Labels} pinned @param {number} kPinned
 * @returns {Int32Array}
 */
export function slots(labels, k, pinned, kPinned) {
  const table = contingency(labels, k, pinned, kPinned);
  const slot = assign(table, k, kPinned);
  let free = kPinned;
  for (let c = 0; c < k; c++) if (slot[c] < 0 || table[c * kPinned + slot[c]] === 0) slot[c] = free++;
  return slot;
}
