// News between pages of one run: what one of them changed on the server, the others show without being touched.
import { hearTray } from "./tray_kept.js";
import { originOf } from "./view.js";

/** @typedef {import("./store.js").Store} Store */

/**
 * Tell other pages of this browser when clusterings, the tree or the tray changed here, and hear it from them; a page
 * that was out of sight asks when it is looked at again, since another browser may have changed them.
 * @param {Store} store @returns {() => void} hears no more
 */
export function followNews(store) {
  if (!store.address.isUsed) return () => {};
  const channel = new BroadcastChannel("consilience");
  let known = "";
  const stop = store.snapshot.subscribe((snapshot) => {
    if (known && snapshot && snapshot !== known && store.status.value.kind === "ready")
      channel.postMessage({ run: store.session.value?.run, revision: store.session.value?.revision });
    known = snapshot;
  });
  let tray = "";
  const stopTray = store.session.subscribe((session) => {
    const now = session?.tray_edition ?? "";
    if (tray && now !== tray && store.status.value.kind === "ready")
      channel.postMessage({ run: session.run, revision: session.revision, tray: now });
    tray = now;
  });
  channel.onmessage = ({ data }) => {
    const session = store.session.value;
    if (!session || data.run !== session.run) return;
    if (data.revision !== session.revision) renew(store);
    else if (data.tray && data.tray !== session.tray_edition) askAfter(store);
  };
  const look = () => {
    if (document.visibilityState === "visible" && store.session.value) askAfter(store);
  };
  document.addEventListener("visibilitychange", look);
  return () => {
    stop();
    stopTray();
    channel.close();
    document.removeEventListener("visibilitychange", look);
  };
}

/** @param {Store} store */
const askAfter = (store) =>
  store.attempt(async () => {
    const session = /** @type {import("./messages.js").Session} */ ((await store.transport.get("/api/session")).json);
    if (session.revision !== store.session.value.revision || originOf(session) !== store.origin.value)
      await renew(store);
    else if (session.tray_edition !== store.session.value.tray_edition) hearTray(store, session);
  });

/** @param {Store} store */
async function renew(store) {
  const before = store.tree.value.m;
  store.message.value = "";
  await store.open();
  if (store.message.value) return; // what can no longer be shown is said already
  const more = store.tree.value.m - before;
  if (more > 0) store.message.value = `${more} clusterings were added elsewhere: they are shown now.`;
  else if (more < 0) store.message.value = `${-more} clusterings were taken away elsewhere.`;
}
