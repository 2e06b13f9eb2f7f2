/** @param {import("./state.js").Store} store @returns {(event: Event) => void} */
export function keyHandler(store) {
  return () => void store;
}
