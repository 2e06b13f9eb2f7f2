// Small parts that several panels share.

import { formatCount } from "../core/format.js";
import { useDark } from "../draw/canvas.jsx";
import { colorOf, MARK_TEXT, markOf } from "../draw/palette.js";
import { Term } from "./term.jsx";

/** @typedef {import("preact").ComponentChild} Child */

/** The color and mark of a cluster. @param {{slot: number | undefined}} props */
export function Mark({ slot }) {
  const dark = useDark();
  const isKnown = slot !== undefined;
  return (
    <span class="mark" aria-hidden="true" style={{ color: isKnown ? colorOf(slot, dark) : "" }}>
      {isKnown ? MARK_TEXT[markOf(slot)] : "·"}
    </span>
  );
}

/**
 * One of several, as buttons in a row.
 * @param {{label: string, options: string[][], value: string, onPick: (value: string) => void}} props
 *   options: [value, text, title]
 */
export function Segmented({ label, options, value, onPick }) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map(([one, text, title]) => (
        <button key={one} aria-pressed={one === value} title={title} onClick={() => onPick(one)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/**
 * A waiting, failed or empty answer in words; what it holds otherwise.
 * @template T the message
 * @param {{answer: import("../core/answers.js").Answer<T>, children: (value: T) => Child}} props
 */
export function Answered({ answer, children }) {
  if (answer.error)
    return (
      <p class="empty" role="alert">
        {answer.error}
      </p>
    );
  if (!answer.value) return <p class="empty">asking …</p>;
  return (
    <div class="answered" aria-busy={!answer.fresh}>
      {children(answer.value)}
    </div>
  );
}

/** Facts in two columns. @param {{facts: (string | undefined)[][]}} props name, value, explanation */
export function Facts({ facts }) {
  return (
    <dl class="facts">
      {facts.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{title ? name : <Term word={name ?? ""} />}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * Counts with a background that grows with their share of the largest.
 * @param {{caption: Child, rows: Child[], columns: Child[], counts: number[][], corner?: string}} props
 */
export function HeatTable({ caption, rows, columns, counts, corner = "" }) {
  const most = Math.max(1, ...counts.flat());
  return (
    <div class="scroll" tabindex={0}>
      <table class="heat">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {columns.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {counts.map((line, at) => (
            <tr>
              <th scope="row">{rows[at]}</th>
              {line.map((count) => (
                <td class={count ? "" : "none"} style={{ "--share": `${Math.round((46 * count) / most)}%` }}>
                  {formatCount(count)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
