import { html } from "htm/preact";
import { Panel } from "./panel.js";

export function TrayView() {
  return html`<${Panel} id="tray" title="Tray" table=${() => null}>…<//>`;
}
