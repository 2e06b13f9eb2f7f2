// A session as a file that one can send: saved here, opened by somebody with the same run.
import { colorBy, showPlane } from "./picked.js";
import { download } from "./tray_files.js";
import { readHash } from "./view.js";

/** @typedef {import("./store.js").Store} Store */

/** @param {Store} store */
export function saveSession(store) {
  const said = "Saved: who has the same run opens this file on the page, or with --session.";
  const ask = () => store.keeping.now().then(() => store.transport.get("/api/kept"));
  return download(store, ask, "consilience_session.json", said);
}

/** Tray, names, notes, labels, edits and view as a file has them; undo goes back to the view before. */
/** @param {Store} store @param {File} file */
export async function openSession(store, file) {
  let content = null;
  try {
    content = JSON.parse(await file.text());
  } catch {
    // said below
  }
  if (!content || typeof content !== "object") {
    store.message.value = `${file.name} is not a session that the explorer saved.`;
    return;
  }
  await store.attempt(async () => {
    const answer = await store.transport.post("/api/kept", content);
    const { tray, view } = /** @type {{tray: import("./view.js").Kept[], view: import("./messages.js").KeptView}} */ (
      answer.json
    );
    store.keeping.own(true);
    await store.open().finally(() => store.keeping.own(false));
    const asked = { ...(readHash(view?.address ?? "") ?? store.view.value), tray };
    store.go(store.checked(asked));
    store.edition.value++;
    await showLook(store, view);
    store.message.value = `${file.name} is opened: its tray, labels and view.`;
  });
}

/**
 * The plane and the colors that a kept view names.
 * @param {Store} store @param {import("./messages.js").KeptView} view
 */
export async function showLook(store, view) {
  const { planes, known, saved } = store.session.value;
  const plane = planes.findIndex((one) => one.name === view?.plane);
  const label = [...known, ...saved].indexOf(view?.colors ?? "");
  if (plane > 0 && plane !== store.plane.value?.number) await showPlane(store, plane);
  if (label >= 0 && label !== store.colored.value?.number) await colorBy(store, label);
}

/**
 * A file that is dropped onto the page is opened as a session.
 * @param {Store} store @param {HTMLElement | null} element @returns {() => void} stops
 */
export function takeDropped(store, element) {
  const over = (/** @type {DragEvent} */ event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  };
  const drop = (/** @type {DragEvent} */ event) => {
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    openSession(store, file);
  };
  element?.addEventListener("dragover", over);
  element?.addEventListener("drop", drop);
  return () => {
    element?.removeEventListener("dragover", over);
    element?.removeEventListener("drop", drop);
  };
}
