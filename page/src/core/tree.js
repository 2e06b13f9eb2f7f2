// The tree of clusterings: who is under whom, and groups cut from it at one level or at several.

/** Nodes 0 … m − 1 are the clusterings; node m + i is made by merge i; the root is 2m − 2. */
export class Tree {
  /**
   * @param {Int32Array} merges (m − 1) × 2 @param {Float32Array} heights
   * @param {Int32Array} order leaves, left to right
   */
  constructor(merges, heights, order) {
    const m = order.length;
    const n = 2 * m - 1;
    this.m = m;
    this.root = n - 1;
    this.order = order;
    this.merges = merges;
    this.parent = new Int32Array(n).fill(-1);
    this.size = new Int32Array(n).fill(1);
    this.first = new Int32Array(n); // place of the leftmost leaf of a node in the order
    this.lowest = Int32Array.from({ length: n }, (_, node) => node); // number of the first clustering under a node
    this.height = new Float32Array(n);
    this.x = new Float32Array(n); // places between leaves, for drawing
    for (let at = 0; at < m; at++) this.first[order[at]] = this.x[order[at]] = at;
    for (let i = 0; i < m - 1; i++) {
      const a = merges[2 * i];
      const b = merges[2 * i + 1];
      const node = m + i;
      this.parent[a] = this.parent[b] = node;
      this.size[node] = this.size[a] + this.size[b];
      this.first[node] = Math.min(this.first[a], this.first[b]);
      this.lowest[node] = Math.min(this.lowest[a], this.lowest[b]);
      this.height[node] = heights[i];
      this.x[node] = (this.x[a] + this.x[b]) / 2;
    }
  }

  /** @param {number} node */
  isLeaf(node) {
    return node < this.m;
  }

  /** The two branches of a node, the left one first. @param {number} node @returns {number[]} */
  children(node) {
    if (node < this.m) return [];
    const a = this.merges[2 * (node - this.m)];
    const b = this.merges[2 * (node - this.m) + 1];
    return this.first[a] < this.first[b] ? [a, b] : [b, a];
  }

  /** The clusterings under a node. @param {number} node */
  leaves(node) {
    return this.order.subarray(this.first[node], this.first[node] + this.size[node]);
  }

  /** @param {number} node @param {number} ancestor */
  isUnder(node, ancestor) {
    return (
      this.first[node] >= this.first[ancestor] &&
      this.first[node] + this.size[node] <= this.first[ancestor] + this.size[ancestor]
    );
  }

  /**
   * Groups: the last merges undone until there are `groups`, then some nodes split into their two branches and some
   * joined to one, in the order given.
   * @param {number} groups @param {number[]} [split] @param {number[]} [join] @param {number} [top] the branch to cut
   * @returns {number[]} nodes of groups 1, 2, …: by falling size, then by lowest clustering
   */
  cut(groups, split = [], join = [], top = this.root) {
    const first = this.firstUndone(groups, top);
    let nodes = top < first ? [top] : [];
    for (let node = 0; node < first; node++)
      if (this.parent[node] >= first && node !== top && this.isUnder(node, top)) nodes.push(node);
    for (const node of split) {
      const at = nodes.indexOf(node);
      if (at >= 0 && !this.isLeaf(node)) nodes.splice(at, 1, ...this.children(node));
    }
    for (const node of join) {
      if (!this.isUnder(node, top) || !nodes.some((one) => one !== node && this.isUnder(one, node))) continue;
      nodes = [...nodes.filter((one) => !this.isUnder(one, node)), node];
    }
    return nodes.sort((a, b) => this.size[b] - this.size[a] || this.lowest[a] - this.lowest[b]);
  }

  /** How many clusterings under a node differ: merges at height 0 are of equal ones. @param {number} top */
  distinct(top) {
    return 1 + this.merged(top).filter((node) => this.height[node] > 0).length;
  }

  /** The merges under a node, the last first. @param {number} top */
  merged(top) {
    const found = [];
    for (let node = top; node >= this.m; node--) if (this.isUnder(node, top)) found.push(node);
    return found;
  }

  /**
   * Of a cut of a branch into so many groups, the first node that is undone.
   * @param {number} groups @param {number} top
   */
  firstUndone(groups, top) {
    const wanted = Math.max(1, Math.min(groups, this.size[top]));
    if (top === this.root) return 2 * this.m - wanted;
    return wanted === 1 ? top + 1 : this.merged(top)[wanted - 2];
  }

  /**
   * Height at which a cut into so many groups lies: between the last merge kept and the first undone.
   * @param {number} groups @param {number} [top]
   */
  cutHeight(groups, top = this.root) {
    const merges = top === this.root ? null : this.merged(top);
    const at = (/** @type {number} */ nth) => this.height[merges ? (merges[nth] ?? -1) : this.root - nth] ?? 0;
    const below = at(groups - 1);
    const above = groups > 1 ? at(groups - 2) : this.height[top] * 1.04;
    return (below + above) / 2;
  }

  /** A number of groups of a branch below which merging suddenly costs more. @param {number} top */
  jump(top) {
    const heights = this.merged(top).map((node) => this.height[node]);
    let best = Math.min(this.distinct(top), 4);
    let most = 0;
    for (let groups = 2; groups <= Math.min(8, heights.length); groups++) {
      const gain = heights[groups - 2] - heights[groups - 1];
      if (gain > most * 1.2) {
        most = gain;
        best = groups;
      }
    }
    return best;
  }
}

/** A ref: the medoid ("m") or consensus ("c") of a node; internal nodes name the tree by its number of leaves. */
/** @param {Tree} tree @param {number} node @param {string} kind */
export const refOf = (tree, node, kind) => (node < tree.m ? `${node}m` : `${tree.m}.${node}${kind}`);

/**
 * `k` clusters of a consensus that has another number of them than usual; 0 for the usual one.
 * @param {string} ref @returns {{m: number | null, node: number, kind: string, k: number} | null}
 */
export function parseRef(ref) {
  const found = /^(?:(\d{1,9})\.)?(\d{1,9})(?:(m)|(c)(\d{0,4}))$/.exec(ref);
  if (!found) return null;
  const [, m, node, medoid, consensus, k] = found;
  return { m: m ? Number(m) : null, node: Number(node), kind: medoid ?? consensus, k: Number(k ?? 0) };
}

/** Whether a ref is that of a clustering edited by hand, which is of no tree. @param {string | null} ref */
export const isEdited = (ref) => /^\d{1,9}e$/.test(ref ?? "");

/** Whether a ref is that of a consensus, which takes longer than a medoid. @param {string} ref */
export const isConsensus = (ref) => parseRef(ref)?.kind === "c";

/** The node of a ref in this tree; −1 if it belongs to another. @param {Tree} tree @param {string | null} ref */
export function nodeOf(tree, ref) {
  const parsed = ref ? parseRef(ref) : null;
  if (!parsed || parsed.node > tree.root || (parsed.node >= tree.m && parsed.m !== tree.m)) return -1;
  return parsed.node;
}
