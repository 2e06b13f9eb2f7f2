// Clusters edited by hand: every edit makes a new clustering, which takes the place of the one before; undo goes back.
import { nameOf } from "./commands.js";
import { encodeRows } from "./picked.js";
import { isEdited } from "./tree.js";

/** @typedef {import("./store.js").Store} Store */
/**
 * @typedef {{do: "rename", cluster: string, name: string} | {do: "merge", clusters: string[], name?: string}
 *   | {do: "move", rows: number[] | string, name: string} | {do: "split", cluster: string, by: string}} Edit
 */

/** What is told of an edited clustering. @param {Store} store @param {string | null} ref */
export const editedOf = (store, ref) => (store.session.value.edits ?? []).find((one) => one.ref === ref) ?? null;

/**
 * Do one edit of the clustering that is selected; what comes out is selected, and in the tray.
 * @param {Store} store @param {string} ref @param {Edit} edit @returns {Promise<boolean>} whether it was done
 */
export async function editClusters(store, ref, edit) {
  try {
    const origin = isEdited(ref) ? "" : nameOf(store, ref);
    const answer = await store.transport.post("/api/edit", { ref, origin, ...edit });
    const { edited } = /** @type {{edited: import("./messages.js").EditedItem}} */ (answer.json);
    const others = (store.session.value.edits ?? []).filter((one) => one.ref !== edited.ref);
    store.session.value = { ...store.session.value, edits: [...others, edited] };
    if (edited.ref !== ref) take(store, ref, edited);
    store.message.value = `Edited: ${edited.edits.at(-1)}. Z undoes it.`;
    return true;
  } catch (error) {
    store.fail(error);
    return false;
  }
}

/** @param {Store} store @param {string} ref @param {import("./messages.js").EditedItem} edited */
function take(store, ref, edited) {
  const { tray, pin, cmp } = store.view.value;
  const of = store.origin.value;
  const isIn = isEdited(ref) && tray.some((kept) => kept.ref === ref);
  const fresh = { ref: edited.ref, name: `${edited.origin} edited`.slice(0, 80), note: "", of };
  const kept = isIn ? tray.map((one) => (one.ref === ref ? { ...one, ref: edited.ref, of } : one)) : [...tray, fresh];
  const follow = (/** @type {string | null} */ one) => (isEdited(ref) && one === ref ? edited.ref : one);
  store.go({ sel: edited.ref, pin: follow(pin), cmp: follow(cmp), cluster: -1, tray: kept });
}

/** Put the picked objects into a cluster. @param {Store} store @param {string} ref @param {string} name */
export const movePicked = (store, ref, name) =>
  editClusters(store, ref, { do: "move", rows: encodeRows(store.picked.value), name });
