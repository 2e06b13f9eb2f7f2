// Small parts that several panels share.
import { html } from "htm/preact";
import { MARK_TEXT, colorOf, markOf } from "./palette.js";

/** The color and mark of a cluster. @param {{slot: number | undefined}} props */
export function Mark({ slot }) {
  if (slot === undefined) return html`<span class="mark" aria-hidden="true">·</span>`;
  return html`<span class="mark" aria-hidden="true" style=${{ color: colorOf(slot) }}>${MARK_TEXT[markOf(slot)]}</span>`;
}

/** One of several, as buttons in a row. @param {{label: string, options: any[][], value: any, onPick: (value: any) => void}} props options: [value, text, title] */
export function Segmented({ label, options, value, onPick }) {
  return html`<div class="segmented" role="group" aria-label=${label}>${options.map(([one, text, title]) => html`
    <button key=${one} aria-pressed=${one === value} title=${title} onClick=${() => onPick(one)}>${text}</button>`)}</div>`;
}

/** A waiting, failed or empty answer in words; what it holds otherwise. @param {{answer: {value: any, fresh: boolean, error: string}, children: any}} props */
export function Answered({ answer, children }) {
  if (answer.error) return html`<p class="empty" role="alert">${answer.error}</p>`;
  if (!answer.value) return html`<p class="empty">asking …</p>`;
  return html`<div class="answered" aria-busy=${!answer.fresh}>${children}</div>`;
}

/** Facts in two columns. @param {{facts: [string, any, string?][]}} props name, value, explanation */
export function Facts({ facts }) {
  return html`<dl class="facts">${facts.map(([name, value, title]) => html`<div key=${name} title=${title}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/**
 * Counts with a background that grows with their share of the largest.
 * @param {{caption: string, rows: any[], columns: any[], counts: number[][], corner?: string}} props
 */
export function HeatTable({ caption, rows, columns, counts, corner = "" }) {
  const most = Math.max(1, ...counts.flat());
  return html`<div class="scroll" tabindex="0"><table class="heat">
    <caption>${caption}</caption>
    <thead><tr><th scope="col">${corner}</th>${columns.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${counts.map((line, at) => html`<tr><th scope="row">${rows[at]}</th>${line.map((count) => html`
      <td class=${count ? "" : "none"} style=${{ "--share": `${Math.round((60 * count) / most)}%` }}>${many(count)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {number} n */
export const many = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ","); // toLocaleString takes a millisecond each

/** @param {number} n @param {string} one @param {string} [several] */
export const plural = (n, one, several = `${one}s`) => `${many(n)} ${n === 1 ? one : several}`;

/** @param {number} share */
export const percent = (share) => `${share >= 0.1 || share === 0 ? Math.round(100 * share) : Number((100 * share).toPrecision(2))}\u00a0%`;
