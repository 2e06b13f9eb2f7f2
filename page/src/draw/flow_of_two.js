// Where the blocks and ribbons of a flow between two clusterings lie.

/**
 * What a cluster of the first (side 0) or second clustering is called, as in the picture and in what is exported:
 * which clusters match is for their colors to say.
 * @param {import("../core/messages.js").Compare} shown @param {number} side @param {number} c
 */
export const clusterName = (shown, side, c) => shown.names[side]?.[c] ?? String(c);

/**
 * Places of blocks and ribbons. The right blocks stand by the mean place of what flows into them, so that few ribbons
 * cross.
 * @param {number[][]} table @param {number} height
 */
export function layOut(table, height) {
  const ka = table.length;
  const kb = table[0]?.length ?? 0;
  const left = table.map((row) => row.reduce((a, b) => a + b, 0));
  const right = Array.from({ length: kb }, (_, c) => table.reduce((sum, row) => sum + row[c], 0));
  const total = Math.max(
    1,
    left.reduce((a, b) => a + b, 0),
  );
  const gap = Math.min(6, (0.3 * height) / Math.max(ka, kb, 1));
  const scale = (height - gap * (Math.max(ka, kb) - 1)) / total;
  const a = stack(
    left,
    left.map((_, c) => c),
    scale,
    height,
    gap,
  );
  const mean = right.map((size, c) =>
    size ? table.reduce((sum, row, r) => sum + row[c] * (a[r].top + a[r].size / 2), 0) / size : Infinity,
  );
  const b = stack(
    right,
    right.map((_, c) => c).sort((p, q) => mean[p] - mean[q]),
    scale,
    height,
    gap,
  );
  const usedA = a.map((one) => one.top);
  const usedB = b.map((one) => one.top);
  const ribbons = [];
  const order = right.map((_, c) => c).sort((p, q) => b[p].top - b[q].top);
  for (let r = 0; r < ka; r++) {
    for (const c of order) {
      if (!table[r][c]) continue;
      const size = table[r][c] * scale;
      ribbons.push({ from: r, to: c, count: table[r][c], y0: usedA[r], y1: usedB[c], size });
      usedA[r] += size;
      usedB[c] += size;
    }
  }
  return { a, b, ribbons };
}

/**
 * Blocks under each other, in the middle of the height.
 * @param {number[]} sizes @param {number[]} order @param {number} scale @param {number} height @param {number} gap
 */
function stack(sizes, order, scale, height, gap) {
  const whole = sizes.reduce((sum, size) => sum + size * scale, 0) + gap * (sizes.length - 1);
  const found = sizes.map(() => ({ top: 0, size: 0, count: 0 }));
  let top = Math.max(0, (height - whole) / 2);
  for (const c of order) {
    found[c] = { top, size: sizes[c] * scale, count: sizes[c] };
    top += sizes[c] * scale + gap;
  }
  return found;
}
