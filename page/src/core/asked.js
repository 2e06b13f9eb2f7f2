// Answers to questions that are more than a path: with a body, or of arrays. The last stays until the next is there.
import { useEffect, useState } from "preact/hooks";
import { decode } from "./codec.js";
import { useStore } from "./store.js";
import { Refusal } from "./transport.js";

/** @template T @typedef {import("./answers.js").Answer<T>} Answer */

/**
 * @template T the message
 * @param {string | null} key tells questions apart; null asks nothing
 * @param {(transport: import("./transport.js").Transport) => Promise<import("./transport.js").Answer>} ask
 * @returns {Answer<T>}
 */
export function useAsked(key, ask) {
  const store = useStore();
  const full = key && `${store.snapshot.value} ${store.edition.value} ${key}`;
  const status = store.status.value.kind;
  const [got, setGot] = useState({
    key: /** @type {string | null} */ (null),
    value: /** @type {T | null} */ (null),
    error: "",
  });
  useEffect(() => {
    if (!full || (got.key === full && !got.error)) return;
    let gone = false;
    ask(store.transport).then(
      (answer) => {
        const value = /** @type {any} */ (answer.json ?? decode(answer.buffer));
        if (!gone) setGot({ key: full, value, error: "" });
      },
      (/** @type {unknown} */ error) => {
        if (gone) return;
        if (error instanceof Refusal && error.status >= 400 && error.status !== 401)
          setGot({ key: full, value: null, error: error.message });
        else store.fail(error);
      },
    );
    return () => {
      gone = true;
    };
  }, [full, status]);
  if (!full) return { value: null, error: "", fresh: true };
  return { value: got.value, error: got.key === full ? got.error : "", fresh: got.key === full };
}
