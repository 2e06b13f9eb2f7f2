// Answers to questions that are more than a path: with a body, or of arrays. The last stays until the next is there.
import { useEffect, useRef, useState } from "preact/hooks";
import { decode } from "./codec.js";
import { useStore } from "./store.js";
import { Refusal } from "./transport.js";

/** @template T @typedef {import("./answers.js").Answer<T>} Answer */

/**
 * Ask until it is taken back: the server then gives it up too, and nothing more is told of it.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {(answer: T) => void} done
 * @param {(error: unknown) => void} failed
 * @returns {() => void} takes it back
 */
export function askUntil(ask, done, failed) {
  const flight = new AbortController();
  ask(flight.signal).then(
    (answer) => flight.signal.aborted || done(answer),
    (/** @type {unknown} */ error) => flight.signal.aborted || failed(error),
  );
  return () => flight.abort();
}

/**
 * @template T the message
 * @param {string | null} key tells questions apart; null asks nothing
 * @param {(
 *   transport: import("./transport.js").Transport, signal: AbortSignal,
 * ) => Promise<import("./transport.js").Answer>} ask
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
  const flight = useRef(/** @type {{key: string, stop: () => void} | null} */ (null));
  useEffect(() => {
    if (!full || (got.key === full && !got.error) || flight.current?.key === full) return;
    const stop = askUntil(
      (signal) => ask(store.transport, signal),
      (answer) => {
        flight.current = null;
        const value = /** @type {any} */ (answer.json ?? decode(answer.buffer));
        setGot({ key: full, value, error: "" });
      },
      (error) => {
        flight.current = null;
        if (error instanceof Refusal && error.status >= 400 && error.status !== 401)
          setGot({ key: full, value: null, error: error.message });
        else store.fail(error);
      },
    );
    flight.current = { key: full, stop };
  }, [full, status]);
  useEffect(
    () => () => {
      flight.current?.stop();
      flight.current = null;
    },
    [full],
  );
  if (!full) return { value: null, error: "", fresh: true };
  return { value: got.value, error: got.key === full ? got.error : "", fresh: got.key === full };
}
