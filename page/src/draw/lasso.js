// Which objects lie inside a line drawn by hand, and the marks around those that are picked.
import { placesOf } from "./points.js";

/** @typedef {{x: number, y: number}} Spot in CSS pixels */

/**
 * Whether a point lies inside a polygon, by the number of edges to its right.
 * @param {Spot[]} line @param {number} x @param {number} y
 */
export function isInside(line, x, y) {
  let inside = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const a = line[i];
    const b = line[j];
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

/**
 * The objects inside a line drawn on the plane.
 * @param {Spot[]} line @param {Float32Array} xy @param {import("./canvas.jsx").Size} size
 * @param {import("./window.js").Window} window
 */
export function rowsInside(line, xy, size, window) {
  const place = placesOf(xy.length / 2, size, window);
  const xs = line.map((one) => one.x);
  const ys = line.map((one) => one.y);
  const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const found = [];
  for (let i = 0; i < xy.length / 2; i++) {
    const x = place.x(xy[2 * i]);
    const y = place.y(xy[2 * i + 1]);
    if (x >= box[0] && x <= box[1] && y >= box[2] && y <= box[3] && isInside(line, x, y)) found.push(i);
  }
  return Uint32Array.from(found);
}

/**
 * The objects in the part of the plane that is in sight.
 * @param {Float32Array} xy @param {import("./window.js").Window} window
 */
export function rowsInSight(xy, { x, y, k }) {
  const found = [];
  for (let i = 0; i < xy.length / 2; i++) {
    const [px, py] = [xy[2 * i], xy[2 * i + 1]];
    if (px >= x && px <= x + 1 / k && py >= y && py <= y + 1 / k) found.push(i);
  }
  return Uint32Array.from(found);
}

/** @param {CanvasRenderingContext2D} context @param {import("./canvas.jsx").Theme} theme @param {Spot[]} line */
export function drawLasso(context, theme, line) {
  if (line.length < 2) return;
  context.beginPath();
  for (const { x, y } of line) context.lineTo(x, y);
  context.closePath();
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  context.setLineDash([5, 3]);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = `${theme.accent}22`;
  context.fill();
}

const RINGED = [300, 40]; // objects that get a ring each: in the large picture, and in tiles

/**
 * A ring around every picked object, where they are few enough to tell apart.
 * @param {CanvasRenderingContext2D} context @param {import("./canvas.jsx").Theme} theme
 * @param {import("./canvas.jsx").Size} size @param {Float32Array} xy @param {Uint32Array} rows
 * @param {import("./window.js").Window | undefined} window @param {number} radius
 */
export function drawRings(context, theme, size, xy, rows, window, radius) {
  if (rows.length > RINGED[radius > 5 ? 0 : 1]) return;
  const place = placesOf(xy.length / 2, size, window);
  context.strokeStyle = theme.ink;
  context.lineWidth = radius > 5 ? 1.6 : 1.2;
  for (const row of rows) {
    context.beginPath();
    context.arc(place.x(xy[2 * row]), place.y(xy[2 * row + 1]), radius, 0, 2 * Math.PI);
    context.stroke();
  }
}
