import { html } from "htm/preact";
import { show } from "./panel.js";
import { leafWords } from "./points.js";
import { useStore } from "./state.js";

/** What is known of a clustering under the pointer. @param {{leaf: number}} props */
export function LeafTip({ leaf }) {
  const words = leafWords(useStore(), leaf);
  return html`<b>${words.title}</b><span>in group ${words.group}, ${words.clusters} clusters</span>
    ${words.values.map((/** @type {any} */ one) => html`<span>${one.name} ${show(one.value, 3)}</span>`)}`;
}
