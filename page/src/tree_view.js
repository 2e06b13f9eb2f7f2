import { html } from "htm/preact";
import { Panel } from "./panel.js";

export function TreeView() {
  return html`<${Panel} id="tree" title="Tree" table=${() => null}>…<//>`;
}
