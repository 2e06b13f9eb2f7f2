// Tabs by the book: arrows move between them, only the chosen one is in the tab order.
import { useRef } from "preact/hooks";

/**
 * @param {{
 *   label: string, tabs: string[][], value: string, onPick: (id: string) => void, controls: string,
 * }} props tabs: [id, text, explanation]; `controls` is the id of what they change
 */
export function Tabs({ label, tabs, value, onPick, controls }) {
  const row = useRef(/** @type {HTMLDivElement | null} */ (null));
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const at = (tabs.findIndex(([id]) => id === value) + step + tabs.length) % tabs.length;
    onPick(tabs[at][0]);
    /** @type {HTMLElement | undefined} */ (row.current?.children[at])?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={row} onKeyDown={onKey}>
      {tabs.map(([id, text, title]) => (
        <button
          key={id}
          role="tab"
          id={`tab-${id}`}
          title={title}
          aria-selected={id === value}
          aria-controls={controls}
          tabindex={id === value ? 0 : -1}
          onClick={() => onPick(id)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
