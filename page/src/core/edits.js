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

/** What edits that are still on their way made of refs and of names of clusters, by store. */
/** @type {WeakMap<Store, {waiting: number, refs: Map<string, string>, names: Map<string, string>}>} */
const ways = new WeakMap();

/**
 * Do one edit of the clustering that is selected; what comes out is selected, and in the tray. Edits in quick
 * succession wait for each other: each is of what came out of those before.
 * @param {Store} store @param {string} ref @param {Edit} edit @returns {Promise<boolean>} whether it was done
 */
export function editClusters(store, ref, edit) {
  const way = ways.get(store) ?? { waiting: 0, refs: new Map(), names: new Map() };
  ways.set(store, way);
  way.waiting++;
  store.editing = store.editing.then(async () => {
    const isDone = await editOne(store, way.refs.get(ref) ?? ref, renamed(edit, way.names), (now) => {
      for (const [from, to] of way.refs) if (to === (way.refs.get(ref) ?? ref)) way.refs.set(from, now);
      way.refs.set(ref, now);
      if (edit.do === "rename") way.names.set(edit.cluster, edit.name);
    });
    if (!--way.waiting) ways.delete(store);
    return isDone;
  });
  return store.editing;
}

/**
 * An edit by the names that clusters have now.
 * @param {Edit} edit @param {Map<string, string>} names @returns {Edit}
 */
function renamed(edit, names) {
  const now = (/** @type {string} */ name) => names.get(name) ?? name;
  if (edit.do === "merge") return { ...edit, clusters: edit.clusters.map(now) };
  return edit.do === "move" ? edit : { ...edit, cluster: now(edit.cluster) };
}

/**
 * @param {Store} store @param {string} ref @param {Edit} edit
 * @param {(now: string) => void} done told the ref of what came out
 */
const editOne = (store, ref, edit, done) =>
  store.attempt(async () => {
    const origin = isEdited(ref) ? "" : nameOf(store, ref);
    const answer = await store.transport.post("/api/edit", { ref, origin, ...edit });
    const { edited } = /** @type {{edited: import("./messages.js").EditedItem}} */ (answer.json);
    const others = (store.session.value.edits ?? []).filter((one) => one.ref !== edited.ref);
    store.session.value = { ...store.session.value, edits: [...others, edited] };
    const isKept = edited.ref === ref || take(store, ref, edited);
    done(edited.ref);
    const full = isKept ? "" : " The tray is full: take one out and add this one (S), or it is not kept.";
    store.message.value = `Edited: ${edited.edits.at(-1)}. Z undoes it.${full}`;
  });

/**
 * Show what came out, in the tray where it has room.
 * @param {Store} store @param {string} ref @param {import("./messages.js").EditedItem} edited
 */
function take(store, ref, edited) {
  const { tray, pin, cmp } = store.view.value;
  const of = store.origin.value;
  const isIn = isEdited(ref) && tray.some((kept) => kept.ref === ref);
  const fresh = { ref: edited.ref, name: `${edited.origin} edited`.slice(0, 80), note: "", of };
  const hasRoom = isIn || tray.length < store.session.value.limits.items;
  const added = hasRoom ? [...tray, fresh] : tray;
  const kept = isIn ? tray.map((one) => (one.ref === ref ? { ...one, ref: edited.ref, of } : one)) : added;
  const follow = (/** @type {string | null} */ one) => (isEdited(ref) && one === ref ? edited.ref : one);
  store.go({ sel: edited.ref, pin: follow(pin), cmp: follow(cmp), cluster: -1, tray: kept });
  return hasRoom;
}

/** Put the picked objects into a cluster. @param {Store} store @param {string} ref @param {string} name */
export const movePicked = (store, ref, name) =>
  editClusters(store, ref, { do: "move", rows: encodeRows(store.picked.value), name });
