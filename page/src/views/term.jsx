// A word with its meaning, told by pointer, finger and keyboard; the help lists them all.
import { useEffect, useRef, useState } from "preact/hooks";
import { scoreWords } from "../core/format.js";
import { explain } from "../core/glossary.js";

/** @param {{word: string, children?: import("preact").ComponentChildren}} props */
export function Term({ word, children }) {
  const meaning = explain(word);
  const shown = children ?? scoreWords(word);
  if (!meaning) return shown;
  return (
    <button type="button" class="term" data-meaning={meaning} aria-description={meaning}>
      {shown}
    </button>
  );
}

const WAIT = 350; // milliseconds until a word is told to those who stop at it
const TOLD = "[data-meaning], button[title]:not(.tile), select[title], input[title]";

/** @typedef {{text: string, left: number, top: number, over: boolean}} Told */

/** The meaning of the word under the pointer or the keyboard, beside it; a browser shows titles to pointers alone. */
export function Meanings() {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  useEffect(() => {
    const page = root.current?.closest(".consilience");
    if (!page) return;
    /** @type {ReturnType<typeof setTimeout> | undefined} */ let timer;
    const hide = () => {
      clearTimeout(timer);
      setTold(null);
    };
    /** @param {Element} on @param {number} wait */
    const tell = (on, wait) => {
      const text = on.getAttribute("data-meaning") ?? on.getAttribute("title") ?? "";
      clearTimeout(timer);
      timer = setTimeout(() => {
        const box = on.getBoundingClientRect();
        if (!text || !box.width) return;
        const over = box.bottom + 80 > window.innerHeight;
        const left = Math.max(8, Math.min(box.left, window.innerWidth - Math.min(320, window.innerWidth - 16) - 8));
        setTold({ text, left, top: over ? box.top - 4 : box.bottom + 4, over });
      }, wait);
    };
    /** @param {Event} event */
    const enter = (event) => {
      const word = event.target instanceof Element ? event.target.closest("[data-meaning]") : null;
      if (word) tell(word, WAIT);
    };
    /** @param {Event} event */
    const focus = (event) => {
      const on = event.target instanceof Element && event.target.matches(TOLD) ? event.target : null;
      hide();
      if (on && (on.matches("[data-meaning]") || on.matches(":focus-visible"))) tell(on, WAIT);
    };
    /** @param {Event} event */
    const leave = (event) => {
      if (event.target instanceof Element && event.target.closest("[data-meaning]")) hide();
    };
    /** @param {KeyboardEvent} event */
    const key = (event) => {
      if (event.key === "Escape") hide();
    };
    const heard = /** @type {[string, (event: any) => void][]} */ ([
      ["pointerover", enter],
      ["pointerout", leave],
      ["focusin", focus],
      ["focusout", hide],
      ["keydown", key],
      ["scroll", hide],
    ]);
    for (const [name, act] of heard) page.addEventListener(name, act, true);
    return () => {
      clearTimeout(timer);
      for (const [name, act] of heard) page.removeEventListener(name, act, true);
    };
  }, []);
  return (
    <div ref={root} class="meaning-place">
      {told ? (
        <p
          class={`meaning ${told.over ? "over" : ""}`}
          role="tooltip"
          style={{ left: `${told.left}px`, top: `${told.top}px` }}
        >
          {told.text}
        </p>
      ) : null}
    </div>
  );
}
