// A drawing context that keeps what is drawn as SVG: the calls that this page's drawings make, and no others.

/** @typedef {[number, number, number, number, number, number]} Matrix */

const PLAIN = /** @type {Matrix} */ ([1, 0, 0, 1, 0, 0]);

/** A number as short as it is exact enough. @param {number} value */
export const short = (value) => String(Math.round(value * 100) / 100);

const ENTITIES = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" });
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu; // in XML, even as entities

/** @param {string} text */
export const escaped = (text) => text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"]/g, (one) => ENTITIES[one]);

/** @param {Record<string, string | number | null | undefined>} attributes */
export const written = (attributes) =>
  Object.entries(attributes)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => ` ${name}="${typeof value === "number" ? short(value) : escaped(String(value))}"`)
    .join("");

/**
 * A color as six digits and its opacity, which all programs that open SVG understand.
 * @param {string} color `#rrggbb`, `#rrggbbaa` or `rgb(r g b)`, `rgba(r, g, b, a)` @returns {[string, number]}
 */
export function plainColor(color) {
  const hex = /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(color);
  if (hex) return [`#${hex[1]}`, hex[2] ? Number.parseInt(hex[2], 16) / 255 : 1];
  const parts = /^rgba?\(([^)]+)\)$/.exec(color)?.[1].split(/[\s,/]+/);
  if (!parts) return [color, 1];
  const digits = parts.slice(0, 3).map((one) => Math.round(Number(one)).toString(16).padStart(2, "0"));
  return [`#${digits.join("")}`, parts[3] === undefined ? 1 : Number.parseFloat(parts[3])];
}

const SHIFT = /** @type {Record<string, number>} */ ({ middle: 0.35, top: 0.8, hanging: 0.8, bottom: -0.2 });
const ANCHOR = /** @type {Record<string, string>} */ ({ center: "middle", right: "end", end: "end" });

let clips = 0;

/** @returns {{fillStyle: string, strokeStyle: string, lineWidth: number, globalAlpha: number, font: string,
 *   textAlign: string, textBaseline: string, lineJoin: string, dash: number[], matrix: Matrix, clipped: string}} */
const start = () => ({
  fillStyle: "#000000",
  strokeStyle: "#000000",
  lineWidth: 1,
  globalAlpha: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
  lineJoin: "miter",
  dash: [],
  matrix: PLAIN,
  clipped: "",
});

/** It stands for a canvas and for its context. */
export class Recorder {
  /** @param {{width: number, height: number, ratio: number}} size in CSS pixels, and pixels of the canvas to each */
  constructor({ width, height, ratio }) {
    this.width = Math.round(width * ratio);
    this.height = Math.round(height * ratio);
    this.ratio = ratio;
    this.imageSmoothingEnabled = true;
    /** @type {string[]} */ this.parts = [];
    this.d = "";
    /** @type {ReturnType<typeof start>[]} */ this.saved = [];
    this.state = start();
    // what drawings set on a context
    for (const name of Object.keys(this.state))
      Object.defineProperty(this, name, {
        get: () => /** @type {any} */ (this.state)[name],
        set: (value) => {
          /** @type {any} */ (this.state)[name] = value;
        },
      });
  }

  getContext() {
    return this;
  }

  save() {
    this.saved.push({ ...this.state });
  }
  restore() {
    this.state = this.saved.pop() ?? this.state;
  }
  /** @param {number} x @param {number} y */
  translate(x, y) {
    const [a, b, c, d, e, f] = this.state.matrix;
    this.state.matrix = [a, b, c, d, e + a * x + c * y, f + b * x + d * y];
  }
  /** @param {number} angle */
  rotate(angle) {
    const [a, b, c, d, e, f] = this.state.matrix;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.state.matrix = [a * cos + c * sin, b * cos + d * sin, c * cos - a * sin, d * cos - b * sin, e, f];
  }
  setTransform() {
    this.state.matrix = PLAIN; // drawings reset it to the pixels of the canvas, or to CSS pixels
  }
  clearRect() {}
  /** @param {number[]} dash */
  setLineDash(dash) {
    this.state.dash = dash;
  }

  beginPath() {
    this.d = "";
  }
  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.d += `M${short(x)} ${short(y)}`;
  }
  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.d += `${this.d ? "L" : "M"}${short(x)} ${short(y)}`;
  }
  closePath() {
    this.d += "Z";
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.d += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`;
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r */
  roundRect(x, y, w, h, r) {
    const turn = (/** @type {number} */ dx, /** @type {number} */ dy) =>
      `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
    this.d += `M${short(x + r)} ${short(y)}h${short(w - 2 * r)}${turn(r, r)}v${short(h - 2 * r)}${turn(-r, r)}`;
    this.d += `h${short(2 * r - w)}${turn(-r, -r)}v${short(2 * r - h)}${turn(r, -r)}Z`;
  }
  /** @param {number} x @param {number} y @param {number} r @param {number} from @param {number} to */
  arc(x, y, r, from, to) {
    const at = (/** @type {number} */ angle) => `${short(x + r * Math.cos(angle))} ${short(y + r * Math.sin(angle))}`;
    const half = (from + to) / 2;
    const large = to - from > 2 * Math.PI ? 1 : 0; // of each of the two halves
    const turn = (/** @type {number} */ angle) => `A${short(r)} ${short(r)} 0 ${large} 1 ${at(angle)}`;
    this.d += `${this.d && to - from < 6.28 ? "L" : "M"}${at(from)}${turn(half)}${turn(to)}`;
  }
  /** @param {number[]} p two control points and the end */
  bezierCurveTo(...p) {
    this.d += `C${p.map(short).join(" ")}`;
  }

  /** What every element has: where it stands, and how opaque it is. @param {number} [alpha] */
  common(alpha = 1) {
    const { matrix, globalAlpha } = this.state;
    return {
      transform: matrix === PLAIN ? null : `matrix(${matrix.map(short).join(" ")})`,
      opacity: alpha * globalAlpha < 1 ? alpha * globalAlpha : null,
    };
  }
  /** Cut by a group around it: a clip path would move with an element's own transform. @param {string} element */
  put(element) {
    const { clipped } = this.state;
    this.parts.push(clipped ? `<g clip-path="url(#${clipped})">${element}</g>` : element);
  }
  fill() {
    const [color, alpha] = plainColor(this.state.fillStyle);
    this.put(`<path${written({ d: this.d, fill: color, ...this.common(alpha) })}/>`);
  }
  stroke() {
    this.put(`<path${written({ d: this.d, ...this.pen() })}/>`);
  }
  pen() {
    const [color, alpha] = plainColor(this.state.strokeStyle);
    const { lineWidth, dash, lineJoin } = this.state;
    return {
      fill: "none",
      stroke: color,
      "stroke-width": lineWidth,
      "stroke-dasharray": dash.join(" "),
      "stroke-linejoin": lineJoin === "miter" ? null : lineJoin,
      ...this.common(alpha),
    };
  }
  clip() {
    const id = `clip-${++clips}`;
    const { transform } = this.common();
    this.parts.push(`<clipPath id="${id}"><path${written({ d: this.d, transform })}/></clipPath>`);
    this.state.clipped = id;
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    const [fill, alpha] = plainColor(this.state.fillStyle);
    this.put(`<rect${written({ x, y, width, height, fill, ...this.common(alpha) })}/>`);
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.put(`<rect${written({ x, y, width, height, ...this.pen() })}/>`);
  }

  /** @param {string} text @param {number} x @param {number} y @param {object} paint */
  text(text, x, y, paint) {
    const [, weight, pixels, family] = /^(?:(\S+) )?([\d.]+)px (.+)$/.exec(this.state.font) ?? [];
    const size = Number(pixels);
    const place = {
      x,
      y: y + (SHIFT[this.state.textBaseline] ?? 0) * size,
      "text-anchor": ANCHOR[this.state.textAlign],
    };
    const letters = { "font-family": family, "font-size": size, "font-weight": weight };
    this.put(`<text${written({ ...place, ...letters, ...paint })}>${escaped(text)}</text>`);
  }
  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const [fill, alpha] = plainColor(this.state.fillStyle);
    this.text(text, x, y, { fill, ...this.common(alpha) });
  }
  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.text(text, x, y, this.pen());
  }
  /** @param {string} text */
  measureText(text) {
    const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    context.font = this.state.font;
    return context.measureText(text);
  }

  /** @param {number} width @param {number} height */
  createImageData(width, height) {
    return new ImageData(width, height);
  }
  /** Pixels of the canvas, whatever the transform. @param {ImageData} image @param {number} x @param {number} y */
  putImageData(image, x, y) {
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    const box = { x, y, width: image.width, height: image.height };
    this.image(canvas, box.x / this.ratio, box.y / this.ratio, box.width / this.ratio, box.height / this.ratio);
  }
  /**
   * Drawings give the pixels of the canvas.
   * @param {CanvasImageSource & {width: number, height: number}} source @param {number} x @param {number} y
   * @param {number} width @param {number} height
   */
  drawImage(source, x, y, width, height) {
    const canvas = document.createElement("canvas");
    canvas.width = source.width;
    canvas.height = source.height;
    canvas.getContext("2d")?.drawImage(source, 0, 0);
    this.image(canvas, x / this.ratio, y / this.ratio, width / this.ratio, height / this.ratio);
  }
  /**
   * @param {HTMLCanvasElement} canvas @param {number} x @param {number} y @param {number} width
   * @param {number} height
   */
  image(canvas, x, y, width, height) {
    const style = this.imageSmoothingEnabled ? null : "image-rendering:pixelated";
    const place = { x, y, width, height, style, preserveAspectRatio: "none" };
    this.put(`<image${written({ ...place, href: canvas.toDataURL("image/png") })}/>`);
  }

  /**
   * One object: its mark as the raster draws it, at a place in pixels of the canvas.
   * @param {number} shape dot, square, cross, bar, diamond, ring @param {number} px @param {number} py
   * @param {number} half size @param {string} color
   */
  mark(shape, px, py, half, color) {
    const [x, y] = [px / this.ratio, py / this.ratio];
    const r = (half + 0.4) / this.ratio;
    const line = { fill: "none", stroke: color, "stroke-width": Math.max(0.7, 0.5 * r) };
    /** @param {number[]} steps pairs, from the middle */
    const polyline = (steps) =>
      steps.reduce((d, step, at) => d + (at % 2 ? ` ${short(y + step)}` : `${at ? "L" : "M"}${short(x + step)}`), "");
    const box = (/** @type {number} */ w, /** @type {number} */ h) =>
      `<rect${written({ x: x - w, y: y - h, width: 2 * w, height: 2 * h, fill: color })}/>`;
    if (shape === 0) this.put(`<circle${written({ cx: x, cy: y, r, fill: color })}/>`);
    else if (shape === 1) this.put(box(r, r));
    else if (shape === 2) {
      const d = polyline([-r, -r, r, r]) + polyline([-r, r, r, -r]);
      this.put(`<path${written({ d, ...line })}/>`);
    } else if (shape === 3) this.put(box(1.3 * r, 0.45 * r));
    else if (shape === 4) {
      const w = 1.25 * r;
      const d = polyline([-w, 0, 0, -w, w, 0, 0, w]);
      this.put(`<path${written({ d, fill: color })}/>`);
    } else this.put(`<circle${written({ cx: x, cy: y, r, ...line })}/>`);
  }
}
