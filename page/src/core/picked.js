// Objects that people picked: by a click, a lasso, a search or a row of a table; lit wherever objects are drawn.
import { decode } from "./codec.js";
import { plural } from "./format.js";

/** @typedef {import("./store.js").Store} Store */

const LISTED = 4000; // more are sent as bits

export const NONE = new Uint32Array(0);
export const NOT_PICKED = "No object is picked.";

/** Sorted, each once. @param {Iterable<number>} rows */
export const asRows = (rows) => Uint32Array.from(new Set(rows)).sort();

/** Objects as the server takes them: their numbers, or base64 of their bits. @param {Uint32Array} rows */
export function encodeRows(rows) {
  if (rows.length <= LISTED) return Array.from(rows);
  const bytes = new Uint8Array((rows[rows.length - 1] >> 3) + 1);
  for (const row of rows) bytes[row >> 3] |= 1 << (row & 7);
  let text = "";
  for (let at = 0; at < bytes.length; at += 8190) text += String.fromCharCode(...bytes.subarray(at, at + 8190));
  return btoa(text);
}

/** What is picked, whole, as a part of the key of a question: no two picks share it. @param {Uint32Array} rows */
export const keyOf = (rows) => String(encodeRows(rows));

/** A 1 for every picked object; null if none is. @param {Uint32Array} rows @param {number} n */
export function maskOfRows(rows, n) {
  if (!rows.length) return null;
  const mask = new Uint8Array(n);
  for (const row of rows) mask[row] = 1;
  return mask;
}

/**
 * Pick objects, in place of those before or beside them; what is picked already and alone is let go.
 * @param {Store} store @param {Iterable<number>} rows @param {{add?: boolean, what?: string}} [how]
 */
export function pick(store, rows, { add = false, what = "" } = {}) {
  const before = store.picked.value;
  store.history.push(store.step(), false);
  const given = asRows(rows);
  if (add && given.length === 1 && before.includes(given[0]))
    store.picked.value = before.filter((row) => row !== given[0]);
  else store.picked.value = add ? asRows([...before, ...given]) : given;
  const n = store.picked.value.length;
  store.message.value = n ? `${plural(n, "object")} picked${what ? `: ${what}` : "."}` : NOT_PICKED;
}

/** @param {Store} store */
export function letPickedGo(store) {
  if (store.picked.value.length) store.history.push(store.step(), false);
  store.picked.value = NONE;
  store.message.value = NOT_PICKED;
}

/** Take what is picked for the other side of a comparison. @param {Store} store */
export function setAside(store) {
  store.history.push(store.step(), false);
  store.against.value = store.picked.value;
  store.picked.value = NONE;
  store.message.value = `${plural(store.against.value.length, "object")} set aside: pick others to compare with them.`;
}

/** @type {WeakMap<Store, AbortController>} */
const searches = new WeakMap();

/** Search for objects and pick what is found. @param {Store} store @param {string} text @param {boolean} [add] */
export async function searchObjects(store, text, add = false) {
  const flight = new AbortController();
  searches.get(store)?.abort();
  searches.set(store, flight);
  try {
    const answer = await store.transport.get(`/api/search?text=${encodeURIComponent(text)}`, flight.signal);
    if (flight.signal.aborted) return;
    const { header, arrays } = /** @type {import("./messages.js").Search} */ (
      /** @type {unknown} */ (decode(answer.buffer))
    );
    if (!header.total) {
      const stays = store.picked.value.length ? " What was picked before stays picked." : "";
      store.message.value = `Nothing is found for “${text}”${header.hint ? `: ${header.hint}` : "."}${stays}`;
      return;
    }
    pick(store, arrays.rows, { add, what: `found in ${header.where.join(", ")}` });
  } catch (error) {
    if (!flight.signal.aborted) store.fail(error);
  }
}

/** Show the objects in another of the planes. @param {Store} store @param {number} number */
export const showPlane = (store, number) =>
  store.attempt(async () => {
    const answer = await store.transport.get(`/api/plane/${number}`);
    const { header, arrays } = /** @type {import("./messages.js").PlaneMessage} */ (
      /** @type {unknown} */ (decode(answer.buffer))
    );
    store.plane.value = { number, name: header.name, note: header.note, xy: arrays.xy };
    store.message.value = `The objects stand by ${header.note}.`;
  });

/**
 * Color the large picture by a known or saved label, −1 by the selected clustering.
 * @param {Store} store @param {number} number
 */
export async function colorBy(store, number) {
  if (number < 0) {
    store.colored.value = null;
    return;
  }
  await store.attempt(async () => {
    const answer = await store.transport.get(`/api/known/${number}`);
    const { header, arrays } = /** @type {import("./messages.js").KnownMessage} */ (
      /** @type {unknown} */ (decode(answer.buffer))
    );
    store.colored.value = { number, ...header, codes: arrays.codes };
    store.message.value = `The picture is colored by ${header.name}.`;
  });
}

/** @param {Store} store @param {string} name @param {string} value @returns {Promise<boolean>} whether it was saved */
export const saveLabel = (store, name, value) =>
  store.attempt(async () => {
    const rows = encodeRows(store.picked.value);
    const answer = await store.transport.post("/api/known", { name, value, rows });
    takeSaved(store, answer.json);
    const objects = plural(store.picked.value.length, "object");
    store.message.value = `${objects} saved as ${name}: ${value}. Undo leaves saved labels as they are.`;
  });

/** @param {Store} store @param {string} name */
export const dropLabel = (store, name) =>
  store.attempt(async () => {
    const answer = await store.transport.delete("/api/known", { name });
    takeSaved(store, answer.json);
    store.message.value = `The label ${name} is dropped, which undo does not take back.`;
  });

/** @param {Store} store @param {unknown} json */
function takeSaved(store, json) {
  const { saved } = /** @type {{saved: string[]}} */ (json);
  store.session.value = { ...store.session.value, saved };
  store.edition.value++;
  const colored = store.colored.value;
  if (colored?.saved) {
    const number = saved.indexOf(colored.name);
    colorBy(store, number < 0 ? -1 : store.session.value.known.length + number);
  }
}
