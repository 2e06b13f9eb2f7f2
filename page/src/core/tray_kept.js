// The tray and the view go to the run whenever they change, so that they are there at the next start.
import { effect } from "@preact/signals";
import { writeHash } from "./view.js";

const PAUSE = 400; // milliseconds that a name or note has to rest
const REST = 1500; // and a view

/** @typedef {import("./store.js").Store} Store */

/** What is kept of a store. @param {Store} store */
function toKeep(store) {
  const view = store.view.value;
  return {
    tray: view.tray,
    view: {
      address: writeHash({ ...view, tray: [], brush: null }),
      plane: store.plane.value?.name ?? "",
      colors: store.colored.value?.name ?? "",
    },
  };
}

/** Let the server know at once. @param {Store} store */
export const keepNow = (store) => store.transport.post("/api/tray", toKeep(store));

/** @param {Store} store @returns {() => void} stops */
export function keepTray(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let timer;
  let kept = "";
  let tray = "";
  const stop = effect(() => {
    const session = store.session.value;
    if (!session?.lasts) return;
    const now = toKeep(store);
    const text = JSON.stringify(now);
    const trayText = JSON.stringify(now.tray);
    if (!kept) {
      kept = text; // as it was opened: nothing is written before there is something to keep
      tray = JSON.stringify(session.tray ?? []);
    }
    clearTimeout(timer);
    if (text === kept && trayText === tray) return;
    timer = setTimeout(
      async () => {
        try {
          await store.transport.post("/api/tray", now);
          kept = text;
          tray = trayText;
        } catch (error) {
          store.fail(error);
        }
      },
      trayText === tray ? REST : PAUSE,
    );
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
