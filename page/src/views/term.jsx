// A word with its meaning as a tooltip; the help lists them all.
import { explain } from "../core/glossary.js";

/** @param {{word: string, children?: import("preact").ComponentChildren}} props */
export function Term({ word, children }) {
  const meaning = explain(word);
  return meaning ? (
    <span class="term" title={meaning}>
      {children ?? word}
    </span>
  ) : (
    (children ?? word)
  );
}
