// The whole page: header, panels, what to do about keys, and a line for messages.
import { html } from "htm/preact";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { keyHandler } from "./keys.js";
import { Header } from "./header.js";
import { HelpDialog } from "./help.js";
import { LowerPanels } from "./lower.js";
import { MapView } from "./map_view.js";
import { ScoresView } from "./scores_view.js";
import { Store, StoreProvider, useStore } from "./state.js";
import { TilesView } from "./tiles_view.js";
import { TrayView } from "./tray_view.js";
import { TreeView } from "./tree_view.js";

/**
 * @param {HTMLElement} element @param {import("./transport.js").Transport} transport
 * @param {{address?: boolean, model?: any}} [options]
 * @returns {() => void} takes the page down
 */
export function mount(element, transport, options = {}) {
  const store = new Store(transport, options);
  element.textContent = "";
  render(html`<${StoreProvider} value=${store}><${Page} /><//>`, element);
  store.open();
  return () => {
    store.close();
    render(null, element);
  };
}

function Page() {
  const store = useStore(), status = store.status.value, root = useRef(null);
  useEffect(() => {
    const handle = keyHandler(store), host = store.address ? window : root.current;
    host?.addEventListener("keydown", handle);
    return () => host?.removeEventListener("keydown", handle);
  }, []);
  useEffect(() => {
    performance.mark(`consilience-${status.kind}`);
  }, [status.kind]);
  const theme = store.prefs.value.theme;
  return html`<div class="consilience" ref=${root} data-theme=${theme} tabindex=${store.address ? undefined : 0}>
    ${status.kind === "loading" ? null : status.kind === "ready" ? null : html`<p class="banner" role="alert">${status.message}</p>`}
    ${store.session.value ? html`
      <${Header} />
      <main>
        <${TreeView} />
        <${ScoresView} />
        <${MapView} />
        <${TilesView} />
        <${LowerPanels} />
        <${TrayView} />
      </main>
      <${HelpDialog} />` : html`<p class="loading">${status.kind === "loading" ? status.message : ""}</p>`}
    <p class="said" role="status" aria-live="polite">${store.message.value}</p>
  </div>`;
}
