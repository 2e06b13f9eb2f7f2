// The tray: clusterings to take away, with names and notes, and the files they leave as.
import { html } from "htm/preact";
import { describe, isKept, sentence } from "./commands.js";
import { Panel, Table } from "./panel.js";
import { plural } from "./parts.js";
import { useStore } from "./state.js";
import { whyUnavailable } from "./view.js";

/** @typedef {import("./state.js").Store} Store */
/** @typedef {import("./view.js").Kept} Kept */

const FORMATS = [
  ["csv", "CSV", "A table of labels: your ids, then a column for each clustering (E)"],
  ["parquet", "Parquet", "The same table as a Parquet file"],
  ["python", "Python", "A few lines of Python that load the run and make the same labels"],
];

/** What of the tray can be shown and exported. @param {Store} store */
const availableIn = (store) => store.view.value.tray.filter((kept) => kept.of === store.origin.value);

/** Download the tray's labels. @param {Store} store @param {string} format */
export async function exportTray(store, format) {
  const { tray } = store.view.value, here = availableIn(store), left = tray.length - here.length;
  if (!here.length) {
    store.message.value = left ? "Nothing in the tray is available here: add the selected clustering first (S)." : "The tray is empty: add the selected clustering first (S).";
    return;
  }
  try {
    const items = here.map(({ ref, name }) => ({ ref, name: name || describe(store, ref) }));
    const { buffer, type, name } = await store.transport.post("/api/export", { format, items, confidence: store.prefs.value.confidence !== false });
    save(new Blob([buffer], { type }), name ?? `consilience.${format === "python" ? "py" : format}`);
    store.message.value = `Exported ${plural(items.length, "clustering")}${left ? `; ${left} of the tray ${left === 1 ? "is" : "are"} unavailable and left out` : ""}.`;
  } catch (error) {
    store.fail(error);
  }
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function TrayView() {
  const store = useStore(), { tray } = store.view.value;
  const sure = store.prefs.value.confidence !== false;
  const tools = html`
    <label class="choice" title="Export the confidence of every object beside its label, where there is one (consensuses)">
      <input type="checkbox" checked=${sure} onChange=${() => store.prefer({ confidence: !sure })} /> confidence columns</label>
    <span class="join">Export ${FORMATS.map(([format, text, title]) => html`
      <button key=${format} title=${title} disabled=${!availableIn(store).length} onClick=${() => exportTray(store, format)}>${text}</button>`)}</span>`;
  const table = () => html`<${Table} caption="Clusterings in the tray" heads=${["name", "what", "note", ""]}
    rows=${tray.map((kept, at) => [kept.name, html`<${What} kept=${kept} />`, kept.note,
      html`<button class="link" onClick=${() => remove(store, at)}>remove</button>`])}
    picked=${tray.findIndex((kept) => isKept(store, kept, store.view.value.sel))} onPick=${(/** @type {number} */ at) => show(store, tray[at])} />`;
  return html`<${Panel} id="tray" title="Tray" tools=${tools} table=${table}>
    ${tray.length ? html`<ol class="tray">${tray.map((kept, at) => html`<${Item} key=${`${kept.ref} ${kept.of}`} kept=${kept} at=${at} />`)}</ol>`
      : html`<p class="empty">Nothing chosen yet. Select a clustering and press <kbd>S</kbd>, or “Keep” beside the tiles, to keep it here and export its labels.</p>`}
  <//>`;
}

/** Which clustering it is, or why it cannot be shown. @param {{kept: Kept}} props */
function What({ kept }) {
  const store = useStore(), why = whyUnavailable(kept, store.origin.value);
  return html`<span class="what" title=${why || undefined}>${why ? html`Unavailable <small>${kept.ref}</small>` : sentence(describe(store, kept.ref))}</span>`;
}

/** Select what is kept, if it is there. @param {Store} store @param {Kept} kept */
function show(store, kept) {
  const why = whyUnavailable(kept, store.origin.value);
  if (why) store.message.value = `${why}.`;
  else store.go({ sel: kept.ref });
}

/** @param {{kept: Kept, at: number}} props */
function Item({ kept, at }) {
  const store = useStore(), { tray, sel } = store.view.value, why = whyUnavailable(kept, store.origin.value);
  return html`<li class=${why ? "unavailable" : isKept(store, kept, sel) ? "picked" : ""}>
    <input class="name" aria-label="Name" maxlength="80" value=${kept.name} placeholder="name"
      onInput=${(/** @type {any} */ e) => edit(store, at, { name: e.target.value })} onBlur=${() => store.settle()} />
    <${What} kept=${kept} />
    <input class="remark" aria-label=${`Note on ${kept.name}`} maxlength="2000" value=${kept.note} placeholder="note"
      onInput=${(/** @type {any} */ e) => edit(store, at, { note: e.target.value })} onBlur=${() => store.settle()} />
    <span class="join">
      <button class="quiet" disabled=${Boolean(why)} title=${why || undefined} onClick=${() => show(store, kept)} aria-label=${`Show ${kept.name}`}>Show</button>
      <button class="quiet icon" disabled=${at === 0} aria-label=${`Move ${kept.name} up`} title="Move up" onClick=${() => move(store, at, -1)}>↑</button>
      <button class="quiet icon" disabled=${at === tray.length - 1} aria-label=${`Move ${kept.name} down`} title="Move down" onClick=${() => move(store, at, 1)}>↓</button>
      <button class="quiet icon" aria-label=${`Remove ${kept.name}`} title="Remove" onClick=${() => remove(store, at)}>✕</button>
    </span>
  </li>`;
}

/** @param {Store} store @param {number} at @param {Partial<Kept>} change */
const edit = (store, at, change) =>
  store.go({ tray: store.view.value.tray.map((kept, i) => (i === at ? { ...kept, ...change } : kept)) }, true);

/** @param {Store} store @param {number} at */
const remove = (store, at) => store.go({ tray: store.view.value.tray.filter((_kept, i) => i !== at) });

/** @param {Store} store @param {number} at @param {number} by */
function move(store, at, by) {
  const tray = [...store.view.value.tray];
  [tray[at], tray[at + by]] = [tray[at + by], tray[at]];
  store.go({ tray });
}
