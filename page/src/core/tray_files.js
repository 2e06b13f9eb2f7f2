// The tray's files: labels of the clusterings in it, to take away.
import { describe } from "./commands.js";
import { plural } from "./format.js";

/** @typedef {import("./store.js").Store} Store */

/** What of the tray can be shown and exported. @param {Store} store */
export const availableIn = (store) => store.view.value.tray.filter((kept) => kept.of === store.origin.value);

/** Download the tray's labels. @param {Store} store @param {string} format */
export async function exportTray(store, format) {
  const { tray } = store.view.value;
  const here = availableIn(store);
  const left = tray.length - here.length;
  if (!here.length) {
    store.message.value = left
      ? "Nothing in the tray is available here: add the selected clustering first (S)."
      : "The tray is empty: add the selected clustering first (S).";
    return;
  }
  const items = here.map(({ ref, name }) => ({ ref, name: name || describe(store, ref) }));
  const saved = (store.session.value.saved ?? []).length > 0;
  const asked = { format, items, assessed: store.prefs.value.assessed, saved };
  const rest = left ? `; ${left} of the tray ${left === 1 ? "is" : "are"} unavailable and left out` : "";
  const said = `Exported ${plural(items.length, "clustering")}${rest}.`;
  const file = `consilience.${format === "python" ? "py" : format}`;
  await download(store, () => store.transport.post("/api/export", asked), file, said);
}

/**
 * Save what the server answers as a file.
 * @param {Store} store @param {() => Promise<import("./transport.js").Answer>} ask
 * @param {string} file its name where the answer has none @param {string} said once it is saved
 */
export const download = (store, ask, file, said) =>
  store.attempt(async () => {
    const { buffer, type, name } = await ask();
    save(new Blob([buffer], { type }), name ?? file);
    store.message.value = said;
  });

/** @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
