// A modal window: the browser's own, so that Escape, focus and reading order are right.
import { useEffect, useRef } from "preact/hooks";

/** @param {{title: string, open: boolean, onClose: () => void, children: import("preact").ComponentChildren}} props */
export function Dialog({ title, open, onClose, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (open && !box.current?.open) box.current?.showModal();
    if (!open) box.current?.close();
  }, [open]);
  return (
    <dialog ref={box} aria-label={title} onClose={onClose}>
      {open ? (
        <>
          <header>
            <h2>{title}</h2>
            <button class="quiet icon" aria-label="Close" onClick={onClose}>
              ✕
            </button>
          </header>
          {children}
        </>
      ) : null}
    </dialog>
  );
}
