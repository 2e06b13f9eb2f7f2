// The whole page: header, panels, what to do about keys, and a line for messages.
import { html } from "htm/preact";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Header } from "./header.js";
import { HelpDialog } from "./help.js";
import { followJobs } from "./jobs.js";
import { keyHandler } from "./keys.js";
import { LowerPanels } from "./lower.js";
import { MapView } from "./map_view.js";
import { JobBar, MoreDialog } from "./more_dialog.js";
import { ScoresView } from "./scores_view.js";
import { Store, StoreProvider, useStore } from "./state.js";
import { TilesView } from "./tiles_view.js";
import { TrayView } from "./tray_view.js";
import { TreeView } from "./tree_view.js";
import { linkModel } from "./widget_link.js";

/**
 * @param {HTMLElement} element @param {import("./transport.js").Transport} transport
 * @param {{address?: boolean, model?: any}} [options]
 * @returns {() => void} takes the page down
 */
export function mount(element, transport, options = {}) {
  const store = new Store(transport, options);
  element.textContent = "";
  render(html`<${StoreProvider} value=${store}><${Page} /><//>`, element);
  const unlink = options.model ? linkModel(store, options.model) : () => {};
  store.open();
  return () => {
    unlink();
    store.close();
    render(null, element);
  };
}

function Page() {
  const store = useStore(), status = store.status.value, root = useRef(null), session = store.session.value;
  useEffect(() => followJobs(store), []);
  useEffect(() => {
    if (!store.address) return;
    const read = () => store.readAddress();
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);
  useEffect(() => {
    const handle = keyHandler(store), host = store.address ? window : root.current;
    host?.addEventListener("keydown", handle);
    return () => host?.removeEventListener("keydown", handle);
  }, []);
  useEffect(() => {
    performance.mark(`consilience-${status.kind}`);
  }, [status.kind]);
  useEffect(() => {
    if (store.address && session) document.title = `${session.name} · consilience`;
  }, [session?.name]);
  return html`<div class="consilience" ref=${root} data-theme=${store.prefs.value.theme} tabindex=${store.address ? undefined : 0}>
    <div class="stuck">
      ${status.kind === "lost" || status.kind === "refused" ? html`<p class="banner" role="alert">${status.message}</p>` : null}
      ${session ? html`<${Header} /><${JobBar} />` : null}
    </div>
    ${session ? html`
      <${Refused} />
      <main key=${store.origin.value}>
        <${TreeView} />
        <${ScoresView} />
        <${MapView} />
        <${TilesView} />
        <${LowerPanels} />
        <${TrayView} />
      </main>
      <${HelpDialog} />
      <${MoreDialog} />` : html`<p class="loading">${status.kind === "loading" ? status.message : ""}</p>`}
    <${Said} />
  </div>`;
}

/** Parts of the run that could not be read. */
function Refused() {
  const refused = useStore().session.value.refused ?? [];
  if (!refused.length) return null;
  return html`<details class="banner mild"><summary>${refused.length === 1 ? "A part" : `${refused.length} parts`} of this run could not be read and ${refused.length === 1 ? "is" : "are"} left out</summary>
    <ul>${refused.map((/** @type {string} */ one) => html`<li>${one}</li>`)}</ul></details>`;
}

const SHOWN = 8000; // milliseconds that a message stays

/** The last message, read out and shown for a while. */
function Said() {
  const store = useStore(), text = store.message.value;
  useEffect(() => {
    if (!text) return;
    const timer = setTimeout(() => { store.message.value = ""; }, SHOWN);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<div class="said"><span role="status" aria-live="polite">${text}</span>
    ${text ? html`<button class="quiet icon" aria-label="Hide the message" onClick=${() => { store.message.value = ""; }}>✕</button>` : null}</div>`;
}
