// The tree as pixels: every branch a run of them, since a path of thousands of strokes takes half a second.

/** @typedef {import("../core/tree.js").Tree} Tree */
/** @typedef {{from: number, to: number}} Span places of leaves that are in sight, from 0 to m */

/**
 * Heights to pixels and places to pixels of a box as high as a branch, by default all.
 * @param {Tree} tree @param {Span} span @param {number} width @param {number} height @param {number} [branch]
 */
export function scales(tree, span, width, height, branch = tree.root) {
  const top = (tree.height[branch] || tree.height[tree.root] || 1) * 1.06;
  const wide = span.to - span.from;
  return {
    x: (/** @type {number} */ place) => ((place + 0.5 - span.from) / wide) * width,
    y: (/** @type {number} */ h) => height - (h / top) * height,
    place: (/** @type {number} */ x) => span.from + (x / width) * wide - 0.5,
    level: (/** @type {number} */ y) => ((height - y) / height) * top,
    top,
  };
}

/**
 * Draw the branches in sight; a node's color is that of its stem and its bar.
 * @param {Uint32Array} pixels of a box of width × height @param {number} width @param {number} height
 * @param {Tree} tree @param {Span} span @param {Uint32Array} colors one a node @param {number} thick
 * @param {number} [branch] as high as the box
 */
export function drawBranches(pixels, width, height, tree, span, colors, thick, branch) {
  const put = (/** @type {number[]} */ [left, top, wide, high], /** @type {number} */ color) => {
    for (let row = top; row < top + high; row++)
      for (let at = row * width + left, end = at + wide; at < end; at++) pixels[at] = color;
  };
  eachBranch(put, width, height, tree, span, colors, thick, branch);
}

/**
 * The bars and stems in sight, each a box (left, top, width, height) inside width × height and a color.
 * @param {(box: number[], color: number) => void} put @param {number} width @param {number} height @param {Tree} tree
 * @param {Span} span @param {Uint32Array} colors one a node @param {number} thick
 * @param {Parameters<typeof scales>[4]} [branch]
 */
export function eachBranch(put, width, height, tree, span, colors, thick, branch) {
  const { x, y } = scales(tree, span, width, height, branch);
  const m = tree.m;
  const clampX = (/** @type {number} */ at) => Math.max(0, Math.min(width, at));
  const clampY = (/** @type {number} */ at) => Math.max(0, Math.min(height, at));
  /** @param {number} left @param {number} right @param {number} top @param {number} bottom @param {number} color */
  const fill = (left, right, top, bottom, color) => {
    const a = clampX(left);
    const b = clampX(right);
    const up = clampY(top);
    const low = clampY(bottom);
    if (b > a && low > up) put([a, up, b - a, low - up], color);
  };
  const half = Math.floor(thick / 2);
  const dense = span.to - span.from > width / (2 * thick); // then the stems of leaves are paler
  for (let node = m; node <= tree.root; node++) {
    const start = tree.first[node];
    const end = start + tree.size[node];
    if (end <= span.from || start >= span.to) continue;
    const top = Math.round(y(tree.height[node])) - half;
    let left = Infinity;
    let right = -Infinity;
    for (let side = 0; side < 2; side++) {
      const child = tree.merges[2 * (node - m) + side];
      const at = Math.round(x(tree.x[child])) - half;
      fill(
        at,
        at + thick,
        top,
        Math.round(y(tree.height[child])),
        child < m && dense ? (colors[child] & 0x60ffffff) >>> 0 : colors[child],
      );
      left = Math.min(left, at);
      right = Math.max(right, at + thick);
    }
    fill(left, right, top, top + thick, colors[node]);
  }
  const stem = Math.round(x(tree.x[tree.root])) - half;
  fill(stem, stem + thick, 0, Math.round(y(tree.height[tree.root])), colors[tree.root]);
}

/** The group each node lies in; −1 above the groups. @param {Tree} tree @param {number[]} groups */
export function groupOfNodes(tree, groups) {
  const found = new Int32Array(tree.root + 1).fill(-1);
  groups.forEach((node, g) => {
    found[node] = g;
  });
  for (let node = tree.root - 1; node >= 0; node--) if (found[node] < 0) found[node] = found[tree.parent[node]];
  return found;
}

/**
 * Mean of a score over the clusterings of every node, unknown ones left out.
 * @param {Tree} tree @param {ArrayLike<number>} score one a leaf
 */
export function branchMeans(tree, score) {
  const sum = new Float64Array(tree.root + 1);
  const count = new Int32Array(tree.root + 1);
  for (let node = 0; node <= tree.root; node++) {
    if (node < tree.m) {
      if (Number.isFinite(score[node])) {
        sum[node] = score[node];
        count[node] = 1;
      }
    } else {
      for (let side = 0; side < 2; side++) {
        const child = tree.merges[2 * (node - tree.m) + side];
        sum[node] += sum[child];
        count[node] += count[child];
      }
    }
  }
  return sum.map((total, node) => (count[node] ? total / count[node] : NaN));
}

/**
 * The branch at a point: of the leaf nearest to the place, the largest branch made at or below the level.
 * @param {Tree} tree @param {number} place @param {number} level
 */
export function branchAt(tree, place, level) {
  let node = tree.order[Math.max(0, Math.min(tree.m - 1, Math.round(place)))];
  while (tree.parent[node] >= 0 && tree.height[tree.parent[node]] <= level) node = tree.parent[node];
  return node;
}

/**
 * How many groups a cut of a branch at a level makes.
 * @param {Tree} tree @param {number} level @param {number} [top]
 */
export function groupsAt(tree, level, top = tree.root) {
  if (top !== tree.root) return tree.merged(top).filter((node) => tree.height[node] > level).length + 1;
  let low = tree.m;
  let high = tree.root + 1; // the first node made above the level lies between
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tree.height[middle] > level) high = middle;
    else low = middle + 1;
  }
  return tree.root - low + 2;
}

/**
 * A span around a place, wider or narrower by a factor, inside the tree.
 * @param {Tree} tree @param {Span} span @param {number} place @param {number} factor @returns {Span}
 */
export function zoomed(tree, span, place, factor) {
  const wide = Math.max(Math.min(8, tree.m), Math.min(tree.m, (span.to - span.from) * factor));
  const share = (place - span.from) / (span.to - span.from);
  return moved(tree, { from: place - share * wide, to: place - share * wide + wide }, 0);
}

/**
 * A span moved by so many places, inside the tree.
 * @param {Tree} tree @param {Span} span @param {number} by @returns {Span}
 */
export function moved(tree, { from, to }, by) {
  const wide = to - from;
  const start = Math.max(0, Math.min(tree.m - wide, from + by));
  return { from: start, to: start + wide };
}
