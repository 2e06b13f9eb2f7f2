// Scores of the clusterings against each other: brush them, find the best, ask whether it is luck.
import { html } from "htm/preact";
import { NullLine } from "./null_line.js";
import { Panel } from "./panel.js";
import { many } from "./parts.js";
import { ScoresPicture } from "./scores_picture.js";
import { ScoresTable } from "./scores_table.js";
import { useStore } from "./state.js";

export function ScoresView() {
  const store = useStore(), { x, y, brush } = store.view.value, { scores } = store.session.value;
  /** @param {"x" | "y"} axis @param {string} value */
  const choose = (axis, value) => html`<label class="axis-choice">${axis}
    <select aria-label=${`Score on the ${axis} axis`} value=${value} onChange=${(/** @type {any} */ event) => store.go({ [axis]: event.target.value, brush: null })}>
      ${scores.map((/** @type {any} */ one) => html`<option value=${one.name} selected=${one.name === value}>${one.name}</option>`)}
    </select></label>`;
  const count = store.brushed.value?.length ?? 0;
  const tools = html`${choose("y", y)}${choose("x", x)}`;
  const note = html`<span class="scores-note">${brush ? html`<button class="chip" aria-pressed="true" title="Let go of the brushed clusterings (Escape)" onClick=${() => store.go({ brush: null })}>${many(count)} brushed ✕</button>` : null}<${NullLine} /></span>`;
  return html`<${Panel} id="scores" title="Scores" tools=${tools} note=${note} table=${() => html`<${ScoresTable} />`}>
    ${scores.length ? html`<${ScoresPicture} />` : html`<p class="empty">No score is known of these clusterings.</p>`}
  <//>`;
}
