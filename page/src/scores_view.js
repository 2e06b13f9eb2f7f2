import { html } from "htm/preact";
import { Panel } from "./panel.js";

export function ScoresView() {
  return html`<${Panel} id="scores" title="Scores" table=${() => null}>…<//>`;
}
