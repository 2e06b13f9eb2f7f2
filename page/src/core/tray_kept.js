// The tray goes to the run whenever it changes, so that it is there at the next start.
import { effect } from "@preact/signals";

const PAUSE = 400; // milliseconds that a name or note has to rest

/** @param {import("./store.js").Store} store @returns {() => void} stops */
export function keepTray(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let timer;
  let kept = "";
  const stop = effect(() => {
    const { tray } = store.view.value;
    const session = store.session.value;
    if (!session?.lasts) return;
    const text = JSON.stringify(tray);
    kept ||= JSON.stringify(session.tray ?? []);
    clearTimeout(timer);
    if (text === kept) return;
    timer = setTimeout(async () => {
      try {
        await store.transport.post("/api/tray", { tray });
        kept = text;
      } catch (error) {
        store.fail(error);
      }
    }, PAUSE);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
