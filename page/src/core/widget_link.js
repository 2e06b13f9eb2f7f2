// A notebook sees what is selected and kept here, and can select.
import { effect } from "@preact/signals";

/**
 * @typedef {{
 *   get: (name: string) => unknown, set: (name: string, value: unknown) => void, save_changes: () => void,
 *   send: (content: object) => void, on: (event: string, heard: Function) => void,
 *   off: (event: string, heard: Function) => void,
 * }} Model anywidget's, with the traits `tray`, `selected` and `height`
 */

/**
 * @param {import("./store.js").Store} store @param {Model} model @param {HTMLElement} host
 * @returns {() => void} ends the link
 */
export function linkModel(store, model, host) {
  const tray = /** @type {{ref: string, name?: string}[]} */ (model.get("tray") ?? []).map((kept) => ({
    ref: String(kept.ref),
    name: String(kept.name ?? kept.ref),
    note: "",
    of: "",
  }));
  store.view.value = { ...store.view.value, sel: /** @type {string} */ (model.get("selected")) || null, tray };
  const take = () => {
    const ref = /** @type {string} */ (model.get("selected"));
    if (ref && store.session.value && ref !== store.view.value.sel)
      store.go({ sel: store.checked({ ...store.view.value, sel: ref }).sel });
  };
  const size = () => {
    const height = Number(model.get("height")) || 0;
    if (height > 0) host.style.setProperty("--height", `${height}px`);
    else host.style.removeProperty("--height");
  };
  size();
  model.on("change:selected", take);
  model.on("change:height", size);
  const stop = effect(() => {
    const { tray: kept, sel } = store.view.value;
    if (!store.session.value) return;
    model.set(
      "tray",
      kept.filter(({ of }) => of === store.origin.value).map(({ ref, name }) => ({ ref, name })),
    );
    model.set("selected", sel ?? "");
    model.save_changes();
  });
  return () => {
    stop();
    model.off("change:selected", take);
    model.off("change:height", size);
  };
}
