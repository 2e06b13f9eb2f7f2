// The binary container of the server: a JSON header and typed arrays behind it, nothing copied.

/** @typedef {Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array} Typed */

const TYPES = {
  float32: Float32Array,
  int32: Int32Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
};

/**
 * @param {ArrayBuffer} buffer
 * @returns {{header: any, arrays: Record<string, Typed>, shapes: Record<string, number[]>}}
 */
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Record<string, Typed>} */ const arrays = {};
  /** @type {Record<string, number[]>} */ const shapes = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    const type = TYPES[/** @type {keyof typeof TYPES} */ (dtype)];
    const size = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    arrays[name] = new type(buffer, 4 + length + offset, size);
    shapes[name] = shape;
  }
  return { header, arrays, shapes };
}
