// Canvases as sharp as the screen, drawn again when their size, the theme or what they show changes.
import "../style_views.css";
import "../style_layout.css";
import "../style_objects.css";
import "../style_take.css";
import "../style_many.css";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { darkAround } from "../core/dark_or_light.js";
import { useStore } from "../core/store.js";
import { nearest } from "./raster.js";

/**
 * @typedef {{width: number, height: number, ratio: number}} Size in CSS pixels, and screen pixels to each
 * @typedef {{
 *   dark: boolean, ground: string, raised: string, line: string, ink: string, soft: string, accent: string,
 *   warn: string,
 * }} Theme
 * @typedef {(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D, theme: Theme, size: Size) => void} Draw
 */

/** @returns {[import("preact").RefObject<any>, Size]} a ref for an element, and how large that is */
export function useSize() {
  const ref = useRef(/** @type {any} */ (null));
  const [size, setSize] = useState({ width: 0, height: 0, ratio: 1 });
  useLayoutEffect(() => {
    const element = ref.current;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      const ratio = window.devicePixelRatio || 1;
      setSize((old) =>
        old.width === width && old.height === height && old.ratio === ratio ? old : { width, height, ratio },
      );
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [ref, size];
}

/**
 * Where in an element a pointer is.
 * @param {{current: HTMLElement}} ref @param {MouseEvent} event
 */
export function pointIn(ref, event) {
  const box = ref.current.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/**
 * The nearest point of a plot to a place on it, at most `far` pixels away; −1 for none.
 * @param {Size} size @param {Float32Array} xy @param {{x: number, y: number}} place @param {number} far
 * @param {import("./window.js").Window} [window]
 */
export function pointNear({ width, height, ratio }, xy, { x, y }, far, window) {
  const pixels = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
  return nearest(pixels, xy, x * ratio, y * ratio, far * ratio, window);
}

/** Whether the page is dark now. */
export function useDark() {
  const { theme } = useStore().prefs.value;
  return theme === "dark" || (theme === "auto" && darkAround.value);
}

/** @type {Map<boolean, Theme>} reading a page's style takes a millisecond each time */
const themes = new Map();

/**
 * The page's colors as six-digit hex.
 * @param {HTMLElement} element @param {CanvasRenderingContext2D} context @param {boolean} dark @returns {Theme}
 */
function themeOf(element, context, dark) {
  const known = themes.get(dark);
  if (known) return known;
  const style = getComputedStyle(element);
  /** @param {string} role */
  const read = (role) => {
    context.fillStyle = style.getPropertyValue(`--${role}`).trim();
    return String(context.fillStyle);
  };
  const found = {
    dark,
    ground: read("ground"),
    raised: read("raised"),
    line: read("line"),
    ink: read("ink"),
    soft: read("soft"),
    accent: read("accent"),
    warn: read("warn"),
  };
  themes.set(dark, found);
  return found;
}

/** What pictures that leave the page are drawn in. @type {Theme} */
export const LIGHT = {
  dark: false,
  ground: "#ffffff",
  raised: "#f6f7f8",
  line: "#d9dde1",
  ink: "#1b1f24",
  soft: "#57616c",
  accent: "#0b62a8",
  warn: "#9a3b00",
};

/** @type {WeakMap<HTMLCanvasElement, {draw: Draw, size: Size}>} what stands on each canvas */
const drawings = new WeakMap();

/** What is drawn on a canvas, to be drawn elsewhere too. @param {HTMLCanvasElement} canvas */
export const drawingOf = (canvas) => drawings.get(canvas);

/**
 * A canvas of a given size that `draw`s whenever one of `deps` changes.
 * @param {{
 *   size: Size, draw: Draw, deps: unknown[], class?: string, label?: string,
 * } & import("preact").JSX.HTMLAttributes<HTMLCanvasElement>} props
 */
export function Canvas({ size, draw, deps, label, class: extra = "", ...rest }) {
  const ref = useRef(/** @type {any} */ (null));
  const dark = useDark();
  useLayoutEffect(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (ref.current);
    const context = canvas.getContext("2d");
    const width = Math.round(size.width * size.ratio);
    const height = Math.round(size.height * size.ratio);
    if (!context || width < 1 || height < 1) return;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    draw(canvas, context, themeOf(canvas, context, dark), size);
    drawings.set(canvas, { draw, size });
  }, [dark, size.width, size.height, size.ratio, ...deps]);
  return (
    <canvas
      ref={ref}
      class={`layer ${extra}`}
      role={label ? "img" : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
      {...rest}
    />
  );
}

/**
 * Words beside the pointer, kept inside the plot.
 * @param {{at: {x: number, y: number} | null, size: Size, children?: import("preact").ComponentChildren}} props
 */
export function Tip({ at, size, children }) {
  if (!at) return null;
  const style = {
    left: at.x < size.width / 2 ? `${at.x + 12}px` : undefined,
    right: at.x < size.width / 2 ? undefined : `${size.width - at.x + 12}px`,
    top: at.y < size.height / 2 ? `${at.y + 12}px` : undefined,
    bottom: at.y < size.height / 2 ? undefined : `${size.height - at.y + 12}px`,
  };
  return (
    <div class="tip" style={style} aria-hidden="true">
      {children}
    </div>
  );
}
