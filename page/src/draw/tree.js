// What the tree's two canvases show: branches and axis below, cut, selection and brush above.

import { branchMeans, drawBranches, eachBranch, groupOfNodes, scales } from "./branches.js";
import { font } from "./font.js";
import { groupShades, rampRgb, rgb } from "./palette.js";
import { drawPin } from "./points.js";
import { packed } from "./raster.js";
import { scaleLinear } from "./scale.js";
import { Recorder } from "./svg_recorder.js";

/** @typedef {import("../core/tree.js").Tree} Tree */
/** @typedef {import("./branches.js").Span} Span */
/** @typedef {import("./canvas.jsx").Theme} Theme */
/** @typedef {import("./canvas.jsx").Size} Size */

const DRAWN = 2000; // clusterings whose tree is lines in a picture that is taken away; larger ones are an image in it
const LEFT = 56;
const RIGHT = 12;
const TOP = 6;
const RUG = 8;
const MINI = 26;
const GAP = 6;
export const BOXES = 26; // height of the row of groups

/** Where the tree, the row of groups and the small whole tree lie. @param {Size} size */
export function layout({ width, height }) {
  const wide = Math.max(1, width - LEFT - RIGHT);
  const high = Math.max(1, height - TOP - RUG - BOXES - GAP - MINI);
  return {
    left: LEFT,
    top: TOP,
    width: wide,
    height: high,
    boxes: TOP + high + RUG,
    mini: { top: TOP + high + RUG + BOXES + GAP, height: MINI },
  };
}

/** @typedef {import("../core/messages.js").Score | null} Shade the score that colors the tree; null colors by group */

/**
 * A pixel color for every node.
 * @param {Tree} tree @param {number[]} groups @param {Shade} shade @param {ArrayLike<number> | null} score
 * @param {Theme} theme
 */
export function nodeColors(tree, groups, shade, score, theme) {
  const above = packed(rgb(theme.soft));
  const found = new Uint32Array(tree.root + 1);
  if (shade && score) {
    const low = shade.low ?? 0;
    const wide = (shade.high ?? 1) - low || 1;
    const grey = packed(rgb(theme.line));
    branchMeans(tree, score).forEach((mean, node) => {
      found[node] = Number.isFinite(mean) ? packed(rampRgb((mean - low) / wide, theme.dark)) : grey;
    });
  } else {
    const pixels = groupShades(tree, groups, theme.dark).map((shade) => packed(rgb(shade)));
    groupOfNodes(tree, groups).forEach((g, node) => {
      found[node] = g < 0 ? above : pixels[g];
    });
  }
  return found;
}

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {Size} size
 * @param {Tree} tree @param {Span} span @param {number} branch that is opened, and fills the height
 * @param {Uint32Array} colors @param {string} words what heights are
 */
export function drawBase(context, theme, size, tree, span, branch, colors, words) {
  const at = layout(size);
  const ratio = size.ratio;
  const thin = Math.max(1, Math.round(ratio));
  const thick = at.width / (span.to - span.from) > 5 ? Math.round(1.6 * ratio) : thin;
  /** @param {number} top @param {number} height @param {Span} places @param {number} line @param {number} whole */
  const put = (top, height, places, line, whole) => {
    const wide = Math.round(at.width * ratio);
    const high = Math.round(height * ratio);
    if (context instanceof Recorder && tree.m <= DRAWN) {
      context.save();
      context.translate(at.left, top);
      const scaled = (/** @type {number[]} */ box, /** @type {number} */ color) => {
        const hex = [0, 8, 16].map((bit) => ((color >> bit) & 255).toString(16).padStart(2, "0"));
        context.fillStyle = `#${hex.join("")}`;
        context.globalAlpha = (color >>> 24) / 255;
        const [left, up, width, tall] = box.map((one) => one / ratio);
        context.fillRect(left, up, width, tall);
      };
      eachBranch(scaled, wide, high, tree, places, colors, line, whole);
      return context.restore();
    }
    const image = context.createImageData(wide, high);
    drawBranches(new Uint32Array(image.data.buffer), wide, high, tree, places, colors, line, whole);
    context.putImageData(image, Math.round(at.left * ratio), Math.round(top * ratio));
  };
  put(at.top, at.height, span, thick, branch);
  put(at.mini.top, at.mini.height, { from: 0, to: tree.m }, thin, tree.root);
  drawHeights(context, theme, at, scales(tree, span, at.width, at.height, branch), words);
}

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {ReturnType<typeof layout>} at
 * @param {ReturnType<typeof scales>} scale @param {string} words
 */
function drawHeights(context, theme, at, { y, top }, words) {
  context.font = font();
  context.fillStyle = theme.soft;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const ticks = scaleLinear([0, top], [0, 1]);
  for (const tick of ticks.ticks(5)) {
    const high = at.top + y(tick);
    context.fillText(ticks.tickFormat(5)(tick), at.left - 8, high);
    context.fillRect(at.left - 5, Math.round(high), 3, 1);
  }
  context.translate(4, at.top + at.height / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillText(words, 0, 0);
}

/**
 * @typedef {{
 *   groups: number[], plain: number[], cut: number, top: number, selected: number, pinned: number, hovered: number,
 *   brushed: number[] | null,
 * }} Marks
 */

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {Size} size @param {Tree} tree
 * @param {Span} span @param {Marks} marks
 */
export function drawMarks(context, theme, size, tree, span, marks) {
  const at = layout(size);
  const scale = scales(tree, span, at.width, at.height, marks.top);
  context.save();
  context.beginPath();
  context.rect(at.left, 0, at.width, at.top + at.height + RUG);
  context.clip();
  context.translate(at.left, at.top);
  if (marks.hovered >= 0) drawBranchBox(context, tree, marks.hovered, scale, at.height, theme.soft, 0.08);
  if (marks.selected >= 0) drawBranchBox(context, tree, marks.selected, scale, at.height, theme.accent, 0.16);
  drawCut(context, theme, at.width, scale.y(tree.cutHeight(marks.cut, marks.top)));
  drawTops(context, theme, tree, scale, marks);
  if (marks.brushed) {
    const wide = Math.max(1, at.width / (span.to - span.from) - 1);
    const places = new Set();
    for (const leaf of marks.brushed) places.add(tree.first[leaf]);
    context.fillStyle = theme.accent;
    for (const place of places) context.fillRect(scale.x(place) - wide / 2, at.height + 1, wide, RUG - 3);
  }
  context.restore();
  drawWindow(context, theme, at, tree, span);
}

/**
 * @param {CanvasRenderingContext2D} context @param {Tree} tree @param {number} node
 * @param {ReturnType<typeof scales>} scale @param {number} bottom @param {string} color @param {number} alpha
 */
function drawBranchBox(context, tree, node, scale, bottom, color, alpha) {
  const left = Math.round(scale.x(tree.first[node] - 0.5));
  const right = Math.round(scale.x(tree.first[node] + tree.size[node] - 0.5));
  const wide = Math.max(3, right - left);
  const top = Math.round(Math.min(scale.y(tree.height[node]) - 3, bottom - 6));
  context.fillStyle = context.strokeStyle = color;
  context.globalAlpha = alpha;
  context.fillRect(left, top, wide, bottom - top);
  context.globalAlpha = 1;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, wide - 1, bottom - top - 1);
}

/** @param {CanvasRenderingContext2D} context @param {Theme} theme @param {number} width @param {number} y */
function drawCut(context, theme, width, y) {
  const at = Math.round(y) + 0.5;
  context.strokeStyle = context.fillStyle = theme.accent;
  context.lineWidth = 1;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(0, at);
  context.lineTo(width, at);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.roundRect(width - 18, at - 6, 18, 12, 6);
  context.fill();
  context.fillStyle = theme.ground;
  context.fillRect(width - 13, at - 2, 8, 1);
  context.fillRect(width - 13, at + 1, 8, 1);
}

/** A dot where each group begins, ringed where it was made by hand; a triangle on the pinned branch. */
/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {Tree} tree
 * @param {ReturnType<typeof scales>} scale @param {Marks} marks
 */
function drawTops(context, theme, tree, scale, marks) {
  const plain = new Set(marks.plain);
  const r = marks.groups.length > 60 ? 2 : 3.5;
  marks.groups.forEach((node) => {
    const x = scale.x(tree.x[node]);
    const y = Math.min(scale.y(tree.height[node]), scale.y(0) - r);
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fillStyle = node === marks.selected ? theme.accent : theme.ink;
    context.fill();
    context.strokeStyle = plain.has(node) ? theme.ground : theme.accent;
    context.lineWidth = plain.has(node) ? 1 : 2;
    context.stroke();
  });
  if (marks.pinned < 0) return;
  drawPin(
    context,
    theme,
    scale.x(tree.x[marks.pinned]),
    Math.min(scale.y(tree.height[marks.pinned]), scale.y(0) - r) - r - 2,
  );
}

/**
 * The part in sight, on the small whole tree.
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {ReturnType<typeof layout>} at
 * @param {Tree} tree @param {Span} span
 */
function drawWindow(context, theme, at, tree, span) {
  if (span.to - span.from >= tree.m) return;
  const left = at.left + (span.from / tree.m) * at.width;
  const wide = Math.max(4, ((span.to - span.from) / tree.m) * at.width);
  context.fillStyle = context.strokeStyle = theme.accent;
  context.globalAlpha = 0.16;
  context.fillRect(left, at.mini.top, wide, at.mini.height);
  context.globalAlpha = 1;
  context.strokeRect(Math.round(left) + 0.5, at.mini.top + 0.5, Math.round(wide), at.mini.height - 1);
}
