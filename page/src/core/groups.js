// Groups changed by hand: one split into its two branches, or several joined, at any level of the tree.

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {{cut: number, split: number[], join: number[], cutM: number, open?: number[]}} Cut */

/** The branch that is opened, or the whole tree. @param {Tree} tree @param {Cut} cut */
export const topOf = (tree, { open, cutM }) => (cutM === tree.m ? open?.at(-1) : undefined) ?? tree.root;

/** The splits and joins that count in this tree. @param {Tree} tree @param {Cut} cut */
const byHand = (tree, { split, join, cutM }) => (cutM === tree.m ? { split, join } : { split: [], join: [] });

/**
 * The group that a node is or lies under; −1 for a node above several groups.
 * @param {Tree} tree @param {number[]} groups @param {number} node
 */
export const groupAbove = (tree, groups, node) => groups.find((group) => tree.isUnder(node, group)) ?? -1;

/**
 * The cut with a group split into its two branches; null where that cannot be: a single clustering, or no group.
 * @param {Tree} tree @param {Cut} cut @param {number} node @returns {Partial<Cut> | null}
 */
export function splitGroup(tree, cut, node) {
  const { split, join } = byHand(tree, cut);
  const top = topOf(tree, cut);
  if (tree.isLeaf(node) || !tree.cut(cut.cut, split, join, top).includes(node)) return null;
  if (!join.includes(node)) return { split: [...split, node], join, cutM: tree.m };
  const rest = join.filter((one) => one !== node);
  const finer = tree.cut(cut.cut, split, rest, top);
  const halves = tree.children(node).filter((half) => finer.some((one) => one !== half && tree.isUnder(one, half)));
  return { split, join: [...rest, ...halves], cutM: tree.m };
}

/**
 * The cut with all groups under a node made one; null where they are one already.
 * @param {Tree} tree @param {Cut} cut @param {number} node @returns {Partial<Cut> | null}
 */
export function joinUnder(tree, cut, node) {
  const hand = byHand(tree, cut);
  const join = hand.join.filter((one) => !tree.isUnder(one, node));
  const split = hand.split.filter((one) => !tree.isUnder(one, node));
  const top = topOf(tree, cut);
  if (!tree.isUnder(node, top)) return null;
  if (!tree.cut(cut.cut, hand.split, hand.join, top).some((one) => one !== node && tree.isUnder(one, node)))
    return null;
  const plain = tree.cut(cut.cut, split, join, top).includes(node);
  return { split, join: plain ? join : [...join, node], cutM: tree.m };
}

/**
 * The node that an arrow leads to: up to the parent, down to the larger branch, left and right to the neighbor of the
 * same level (the next group, the next clustering, or the next branch made at about this height).
 * @param {Tree} tree @param {number[]} groups @param {number} node @param {"up" | "down" | "left" | "right"} way
 */
export function nextNode(tree, groups, node, way) {
  if (node < 0) return groups[0];
  if (way === "up") return tree.parent[node] < 0 ? node : tree.parent[node];
  if (way === "down") {
    const [a, b] = tree.children(node);
    return a === undefined ? node : tree.size[b] > tree.size[a] ? b : a;
  }
  const step = way === "left" ? -1 : 1;
  const across = [...groups].sort((a, b) => tree.first[a] - tree.first[b]);
  const at = across.indexOf(node);
  if (at >= 0) return across[at + step] ?? node;
  const place = way === "left" ? tree.first[node] - 1 : tree.first[node] + tree.size[node];
  if (place < 0 || place >= tree.m) return node;
  let next = tree.order[place];
  while (
    tree.parent[next] >= 0 &&
    tree.height[tree.parent[next]] <= tree.height[node] &&
    !tree.isUnder(node, tree.parent[next])
  )
    next = tree.parent[next];
  return next;
}

/**
 * The two columns to call a clustering by: first those that it goes by clearly more than the tiles do on average.
 * @param {[string, number][]} mine the most followed first @param {[string, number][][]} tiles
 */
export function setApart(mine, tiles) {
  const more = (/** @type {[string, number]} */ [name, share]) => {
    const all = tiles.flat().reduce((sum, one) => sum + (one[0] === name ? one[1] : 0), 0);
    const excess = share - all / (tiles.length || 1);
    return excess < 0.1 ? 0 : excess;
  };
  return [...mine].sort((a, b) => more(b) - more(a)).slice(0, 2);
}
