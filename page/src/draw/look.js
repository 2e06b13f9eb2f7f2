// One object, or the average of several: its pixels, or its curve with a band.

/** @typedef {import("../core/messages.js").Look} Look */

/**
 * @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2D} context @param {Look} look
 * @param {Float32Array} values row by row, the colors of a pixel together
 */
export function drawPixels(canvas, context, look, values) {
  const [height, width, colors] = look.shape;
  const small = new OffscreenCanvas(width, height);
  const inner = /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext("2d"));
  inner.putImageData(new ImageData(pixelBytes(look, values, colors), width, height), 0, 0);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.imageSmoothingEnabled = false;
  const scale = Math.min(canvas.width / width, canvas.height / height);
  const [w, h] = [width * scale, height * scale];
  context.drawImage(small, (canvas.width - w) / 2, (canvas.height - h) / 2, w, h);
}

/** Red, green, blue, alpha of every pixel. @param {Look} look @param {Float32Array} values @param {number} colors */
export function pixelBytes({ low, high }, values, colors) {
  const bytes = new Uint8ClampedArray((4 * values.length) / colors);
  const scale = 255 / (high - low || 1);
  for (let i = 0; i < bytes.length / 4; i++) {
    for (let c = 0; c < 3; c++) bytes[4 * i + c] = (values[i * colors + (colors === 3 ? c : 0)] - low) * scale;
    bytes[4 * i + 3] = 255;
  }
  return bytes;
}

/**
 * @param {CanvasRenderingContext2D} context @param {import("./canvas.jsx").Theme} theme
 * @param {import("./canvas.jsx").Size} size @param {Look} look @param {Float32Array} values
 * @param {{low?: Float32Array, high?: Float32Array, color?: string}} how
 */
export function drawCurve(context, theme, size, look, values, { low, high, color }) {
  const x = (/** @type {number} */ at) => 1 + ((size.width - 2) * at) / (values.length - 1);
  const y = (/** @type {number} */ value) =>
    size.height - 2 - ((size.height - 4) * (value - look.low)) / (look.high - look.low || 1);
  if (low && high) {
    context.beginPath();
    for (let at = 0; at < low.length; at++) context.lineTo(x(at), y(low[at]));
    for (let at = high.length - 1; at >= 0; at--) context.lineTo(x(at), y(high[at]));
    context.fillStyle = `${theme.soft}44`;
    context.fill();
  }
  context.beginPath();
  let isOn = false;
  values.forEach((value, at) => {
    if (!Number.isFinite(value)) isOn = false;
    else if (isOn) context.lineTo(x(at), y(value));
    else {
      context.moveTo(x(at), y(value));
      isOn = true;
    }
  });
  context.strokeStyle = color ?? theme.ink;
  context.lineWidth = 1.3;
  context.stroke();
}
