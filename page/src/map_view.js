import { html } from "htm/preact";
import { Panel } from "./panel.js";

export function MapView() {
  return html`<${Panel} id="map" title="Map" table=${() => null}>…<//>`;
}
