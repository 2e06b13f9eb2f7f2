// How objects flow between the clusters of two clusterings: blocks at both sides, ribbons between.
import { html } from "htm/preact";
import { colorOf } from "./palette.js";
import { many } from "./parts.js";
import { useStore } from "./state.js";

const WIDTH = 520, BLOCK = 14, LABEL = 56, LEFT = LABEL, RIGHT = WIDTH - LABEL;

/**
 * Places of blocks and ribbons. The right blocks stand by the mean place of what flows into them, so that few ribbons cross.
 * @param {number[][]} table @param {number} height
 */
export function layOut(table, height) {
  const ka = table.length, kb = table[0]?.length ?? 0;
  const left = table.map((row) => row.reduce((a, b) => a + b, 0));
  const right = Array.from({ length: kb }, (_, c) => table.reduce((sum, row) => sum + row[c], 0));
  const total = Math.max(1, left.reduce((a, b) => a + b, 0));
  const gap = Math.min(6, (0.3 * height) / Math.max(ka, kb, 1));
  const scale = (height - gap * (Math.max(ka, kb) - 1)) / total;
  const a = stack(left, left.map((_, c) => c), scale, height, gap);
  const mean = right.map((size, c) => (size ? table.reduce((sum, row, r) => sum + row[c] * (a[r].top + a[r].size / 2), 0) / size : Infinity));
  const b = stack(right, right.map((_, c) => c).sort((p, q) => mean[p] - mean[q]), scale, height, gap);
  const usedA = a.map((one) => one.top), usedB = b.map((one) => one.top), ribbons = [];
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

/** Blocks under each other, in the middle of the height. @param {number[]} sizes @param {number[]} order @param {number} scale @param {number} height @param {number} gap */
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

/** @param {{shown: any}} props */
export function Flow({ shown }) {
  const store = useStore(), sa = store.labels.slots(shown.a), sb = store.labels.slots(shown.b);
  const height = Math.max(220, 20 * Math.max(...shown.clusters)), { a, b, ribbons } = layOut(shown.table, height);
  const mid = (LEFT + RIGHT) / 2;
  const ribbon = (/** @type {any} */ one) => {
    const x0 = LEFT + BLOCK, x1 = RIGHT - BLOCK, { y0, y1, size } = one;
    return `M${x0} ${y0}C${mid} ${y0} ${mid} ${y1} ${x1} ${y1}V${y1 + size}C${mid} ${y1 + size} ${mid} ${y0 + size} ${x0} ${y0 + size}Z`;
  };
  const fill = (/** @type {any} */ slots, /** @type {number} */ c) => (slots ? colorOf(slots[c]) : "currentColor");
  const block = (/** @type {any} */ one, /** @type {number} */ c, /** @type {boolean} */ isLeft) => {
    const ref = isLeft ? shown.a : shown.b, slots = isLeft ? sa : sb;
    return html`<g key=${c} class="block" onClick=${() => store.go({ sel: ref, cluster: c, cmp: shown.b })}>
      <title>${`cluster ${c}: ${many(one.count)} objects`}</title>
      <rect x=${isLeft ? LEFT : RIGHT - BLOCK} y=${one.top} width=${BLOCK} height=${Math.max(1, one.size)} fill=${fill(slots, c)} rx="2" />
      ${one.size > 9 ? html`<text x=${isLeft ? LEFT - 6 : RIGHT + 6} y=${one.top + one.size / 2} dy="0.35em" text-anchor=${isLeft ? "end" : "start"}>${c}: ${many(one.count)}</text>` : null}
    </g>`;
  };
  return html`<svg class="flow" viewBox=${`0 0 ${WIDTH} ${height}`} role="img" aria-label="Flow of objects between the clusters; the counts are in the table">
    <g class="ribbons">${ribbons.map((one) => html`<path key=${`${one.from} ${one.to}`} d=${ribbon(one)} fill=${fill(sa, one.from)}><title>${`${one.from} → ${one.to}: ${many(one.count)} objects`}</title></path>`)}</g>
    ${a.map((one, c) => block(one, c, true))}${b.map((one, c) => block(one, c, false))}
  </svg>`;
}
