// A panel of the page as SVG, as it stands: words as words, lines as lines, on a light ground. Controls are left out.
import { drawingOf, LIGHT } from "./canvas.jsx";
import { escaped, plainColor, Recorder, short, written } from "./svg_recorder.js";

const CONTROLS =
  ".tools, .zoom, .actions, .picture-tools, .pager, .picked-bar, .tip, .hidden, .guidance, header, select, input, " +
  "textarea, datalist, script, [popover], .save-picture, h3 button.link";
const PAD = 16;
const LONG = 700; // pixels up to which a list is drawn whole; of longer ones what is in sight
const TITLE = 30; // room for the title, and for each line of the caption
const LINE = 16;
const INHERITED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity"];
const LETTERS = ["font-size", "font-weight", "text-anchor", "dominant-baseline"];
const FONT = "system-ui, sans-serif";

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */

const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
/** @type {Map<string, [string, number]>} */
const colors = new Map();

/** A color of the page, however it is written. @param {string} color @returns {[string, number]} */
function colorOf(color) {
  if (color === "none") return [color, 0];
  if (/^(#|rgb)/.test(color)) return plainColor(color);
  let found = colors.get(color);
  if (!found && pen) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    found = [plainColor(`rgb(${r} ${g} ${b})`)[0], a / 255];
    colors.set(color, found);
  }
  return found ?? [color, 1];
}

/**
 * @param {HTMLElement} panel @param {string} title @param {string[]} caption lines
 * @returns {{svg: string, width: number, height: number}}
 */
export function panelSvg(panel, title, caption) {
  const root = /** @type {HTMLElement} */ (panel.closest(".consilience"));
  const theme = root.dataset.theme ?? "auto";
  const opened = /** @type {(() => void)[]} */ ([]);
  root.dataset.theme = "light"; // for as long as this runs: nothing is painted meanwhile
  try {
    for (const element of panel.querySelectorAll("*")) openScroll(/** @type {HTMLElement} */ (element), opened);
    return drawn(panel, title, caption);
  } finally {
    for (const close of opened) close();
    root.dataset.theme = theme;
  }
}

/** Let a list be as long as it is. @param {HTMLElement} element @param {(() => void)[]} opened */
function openScroll(element, opened) {
  if (element.scrollHeight <= element.clientHeight + 1 && element.scrollWidth <= element.clientWidth + 1) return;
  if (element.scrollHeight > LONG || !/auto|scroll/.test(getComputedStyle(element).overflow)) return;
  const { overflow, maxHeight } = element.style;
  element.style.overflow = "visible";
  element.style.maxHeight = "none";
  opened.push(() => {
    element.style.overflow = overflow;
    element.style.maxHeight = maxHeight;
  });
}

/** @param {HTMLElement} panel @param {string} title @param {string[]} caption */
function drawn(panel, title, caption) {
  /** @type {string[]} */ const parts = [];
  const seen = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const child of panel.childNodes) walk(child, panel, parts, seen, ALL);
  const box = Number.isFinite(seen.left) ? seen : { left: 0, top: 0, right: 300, bottom: 20 };
  const wide = Math.max(320, box.right - box.left, ...[title, ...caption].map(widthOf));
  const width = Math.ceil(wide + 2 * PAD);
  const height = Math.ceil(box.bottom - box.top + TITLE + LINE * caption.length + 2 * PAD);
  const words = (/** @type {string} */ text, /** @type {object} */ how) =>
    `<text${written({ x: PAD, "font-family": FONT, ...how })}>${escaped(text)}</text>`;
  const below = PAD + TITLE + (box.bottom - box.top) + LINE;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(caption.join(" "))}</desc>`,
    `<rect width="${width}" height="${height}" fill="${LIGHT.ground}"/>`,
    words(title, { y: PAD + 12, "font-size": 15, "font-weight": 650, fill: LIGHT.ink }),
    `<g transform="translate(${short(PAD - box.left)} ${short(PAD + TITLE - box.top)})">`,
    ...parts,
    "</g>",
    ...caption.map((line, at) => words(line, { y: below + LINE * at, "font-size": 11, fill: LIGHT.soft })),
    "</svg>",
  ].join("\n");
  return { svg, width, height };
}

/** How wide a title or a line of the caption may be. @param {string} text @param {number} at the title is the first */
function widthOf(text, at) {
  if (!pen) return 0;
  pen.font = at ? `11px ${FONT}` : `650 15px ${FONT}`;
  return pen.measureText(text).width + 8;
}

/** @param {Box} seen @param {{left: number, top: number, right: number, bottom: number}} box */
function cover(seen, box) {
  seen.left = Math.min(seen.left, box.left);
  seen.top = Math.min(seen.top, box.top);
  seen.right = Math.max(seen.right, box.right);
  seen.bottom = Math.max(seen.bottom, box.bottom);
}

/** What is in sight. @typedef {{top: number, bottom: number}} Sight */
const ALL = { top: -Infinity, bottom: Infinity };

/** @param {Node} node @param {HTMLElement} parent @param {string[]} parts @param {Box} seen @param {Sight} sight */
function walk(node, parent, parts, seen, sight) {
  if (node instanceof Text) return words(node, parent, parts, seen);
  if (!(node instanceof Element) || node.matches(CONTROLS)) return;
  const box = node.getBoundingClientRect();
  const style = getComputedStyle(node);
  if (box.height && (box.bottom < sight.top + 2 || box.top > sight.bottom - 2)) return;
  if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return;
  if (node instanceof HTMLCanvasElement) return canvas(node, box, parts, seen);
  if (node instanceof SVGSVGElement) return picture(node, box, parts, seen);
  if (node instanceof HTMLImageElement) return image(node, box, parts, seen);
  ground(box, style, parts, seen);
  const isFaint = Number(style.opacity) < 1;
  if (isFaint) parts.push(`<g opacity="${style.opacity}">`);
  const isCut = /auto|scroll/.test(style.overflowY) && node.scrollHeight > node.clientHeight + 1;
  const inside = isCut ? { top: box.top, bottom: box.bottom } : sight;
  for (const child of node.childNodes) walk(child, /** @type {HTMLElement} */ (node), parts, seen, inside);
  if (isFaint) parts.push("</g>");
}

/** Background and borders of an element. */
/** @param {DOMRect} box @param {CSSStyleDeclaration} style @param {string[]} parts @param {Box} seen */
function ground(box, style, parts, seen) {
  const [fill, alpha] = colorOf(style.backgroundColor);
  const place = { x: box.left, y: box.top, width: box.width, height: box.height };
  const rx = Math.min(Number.parseFloat(style.borderTopLeftRadius) || 0, box.height / 2, box.width / 2);
  if (alpha > 0 && box.width && box.height) {
    parts.push(`<rect${written({ ...place, rx: rx || null, fill, "fill-opacity": alpha < 1 ? alpha : null })}/>`);
    cover(seen, box);
  }
  const sides = /** @type {const} */ (["Top", "Right", "Bottom", "Left"]);
  const lines = sides.map((side) => ({
    side,
    wide: style[`border${side}Style`] === "none" ? 0 : Number.parseFloat(style[`border${side}Width`]),
    color: colorOf(style[`border${side}Color`]),
  }));
  const all = lines.filter((one) => one.wide > 0 && one.color[1] > 0);
  if (all.length === 4) {
    const [color, opacity] = all[0].color;
    const stroke = { fill: "none", stroke: color, "stroke-width": all[0].wide, "stroke-opacity": opacity };
    parts.push(`<rect${written({ ...place, rx: rx || null, ...stroke })}/>`);
    cover(seen, box);
    return;
  }
  for (const { side, wide, color } of all) {
    const x = side === "Right" ? box.right : box.left;
    const y = side === "Bottom" ? box.bottom : box.top;
    const to = side === "Top" || side === "Bottom" ? `H${short(box.right)}` : `V${short(box.bottom)}`;
    const d = `M${short(x)} ${short(y)}${to}`;
    parts.push(`<path${written({ d, stroke: color[0], "stroke-width": wide, "stroke-opacity": color[1] })}/>`);
  }
}

/** Words, line by line as they stand. */
/** @param {Text} node @param {HTMLElement} parent @param {string[]} parts @param {Box} seen */
function words(node, parent, parts, seen) {
  if (!node.data.trim()) return;
  const style = getComputedStyle(parent);
  const size = Number.parseFloat(style.fontSize);
  const [fill, alpha] = colorOf(style.color);
  const clip = clipOf(parent);
  for (const { text, box } of linesOf(node)) {
    let shown = style.textTransform === "uppercase" ? text.toUpperCase() : text;
    const right = Math.min(box.right, clip);
    if (box.left >= clip) continue;
    if (box.right > clip + 1) shown = `${shown.slice(0, Math.max(1, fitting(shown, box, clip)))}…`;
    const isRight = style.textAlign === "right" || style.textAlign === "end";
    const place = {
      x: isRight ? right : box.left,
      y: (box.top + box.bottom) / 2 + 0.35 * size,
      "text-anchor": isRight ? "end" : null,
    };
    const weight = Number(style.fontWeight);
    const letters = { "font-family": FONT, "font-size": size, "font-weight": weight === 400 ? null : weight };
    const paint = { fill, "fill-opacity": alpha < 1 ? alpha : null };
    parts.push(`<text${written({ ...place, ...letters, ...paint })}>${escaped(shown.trim())}</text>`);
    cover(seen, { left: box.left, top: box.top, right, bottom: box.bottom });
  }
}

/** How many letters of a line stand before a place. @param {string} text @param {Box} box @param {number} right */
const fitting = (text, box, right) => Math.floor((text.length * (right - box.left)) / (box.right - box.left)) - 1;

/** Where words of an element are cut off at the right. @param {HTMLElement} element */
function clipOf(element) {
  for (let at = /** @type {HTMLElement | null} */ (element), i = 0; at && i < 3; at = at.parentElement, i++)
    if (getComputedStyle(at).overflowX === "hidden") return at.getBoundingClientRect().right;
  return Infinity;
}

/** The lines that a text is broken into. @param {Text} node */
function linesOf(node) {
  const range = document.createRange();
  range.setStart(node, node.data.search(/\S/)); // a space before or after the words is no part of the line
  range.setEnd(node, node.data.trimEnd().length);
  if (range.getClientRects().length === 1)
    return [{ text: node.data.trim().replace(/\s+/g, " "), box: range.getBoundingClientRect() }];
  const found = /** @type {{text: string, box: Box}[]} */ ([]);
  for (const word of node.data.matchAll(/\S+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const { left, top, right, bottom } = range.getBoundingClientRect();
    const last = found.at(-1);
    if (last && Math.abs(last.box.top - top) < 2) {
      last.text += ` ${word[0]}`;
      last.box.right = right;
    } else found.push({ text: word[0], box: { left, top, right, bottom } });
  }
  return found;
}

/** A canvas, drawn again as lines and words. */
/** @param {HTMLCanvasElement} element @param {DOMRect} box @param {string[]} parts @param {Box} seen */
function canvas(element, box, parts, seen) {
  const found = drawingOf(element);
  if (!found || !box.width || !box.height) return;
  const recorder = new Recorder(found.size);
  found.draw(/** @type {any} */ (recorder), /** @type {any} */ (recorder), LIGHT, found.size);
  const { width, height } = found.size;
  const view = { x: box.left, y: box.top, width: box.width, height: box.height, viewBox: `0 0 ${width} ${height}` };
  parts.push(`<svg${written(view)}>`, ...recorder.parts, "</svg>");
  cover(seen, box);
}

/** A drawing that is SVG already, with what the page's style says of it. */
/** @param {SVGSVGElement} element @param {DOMRect} box @param {string[]} parts @param {Box} seen */
function picture(element, box, parts, seen) {
  const copy = /** @type {SVGSVGElement} */ (element.cloneNode(true));
  const originals = [element, ...element.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  copies.forEach((one, at) => {
    const style = getComputedStyle(originals[at]);
    one.removeAttribute("class");
    one.removeAttribute("style");
    for (const name of one.tagName === "text" || one.tagName === "tspan" ? [...INHERITED, ...LETTERS] : INHERITED) {
      const value = style.getPropertyValue(name);
      const [color, alpha] = name === "fill" || name === "stroke" ? colorOf(value) : [value, 1];
      if (value) one.setAttribute(name, alpha === 0 ? "none" : color);
    }
    if (one.tagName === "text") one.setAttribute("font-family", FONT);
  });
  for (const [name, value] of Object.entries({ x: box.left, y: box.top, width: box.width, height: box.height }))
    copy.setAttribute(name, short(value));
  parts.push(new XMLSerializer().serializeToString(copy));
  cover(seen, box);
}

/** @param {HTMLImageElement} element @param {DOMRect} box @param {string[]} parts @param {Box} seen */
function image(element, box, parts, seen) {
  const copy = document.createElement("canvas");
  copy.width = element.naturalWidth;
  copy.height = element.naturalHeight;
  if (!copy.width || !copy.height) return;
  copy.getContext("2d")?.drawImage(element, 0, 0);
  const place = { x: box.left, y: box.top, width: box.width, height: box.height };
  parts.push(`<image${written({ ...place, href: copy.toDataURL("image/png") })}/>`);
  cover(seen, box);
}
