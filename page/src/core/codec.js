// The binary container of the server: a JSON header and typed arrays behind it, nothing copied.

const TYPES = {
  float32: Float32Array,
  int32: Int32Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
};

/** @typedef {import("./messages.js").TypedArray} TypedArray */
/** @typedef {{dtype: keyof typeof TYPES, shape: number[], offset: number}} Place of an array, as the header has it */

/**
 * A message; callers know which one they asked for.
 * @param {ArrayBuffer} buffer
 * @returns {{header: unknown, arrays: Record<string, TypedArray>, shapes: Record<string, number[]>}}
 */
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Record<string, TypedArray>} */ const arrays = {};
  /** @type {Record<string, number[]>} */ const shapes = {};
  /** @type {Record<string, Place>} */ const places = header.arrays;
  for (const [name, { dtype, shape, offset }] of Object.entries(places)) {
    const type = TYPES[dtype];
    const size = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new type(buffer, 4 + length + offset, size);
    shapes[name] = shape;
  }
  return { header, arrays, shapes };
}
