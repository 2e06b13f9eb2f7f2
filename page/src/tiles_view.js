import { html } from "htm/preact";
import { Panel } from "./panel.js";

export function TilesView() {
  return html`<${Panel} id="tiles" title="Tiles" table=${() => null}>…<//>`;
}
