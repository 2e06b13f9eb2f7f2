// JSON answers of the server that panels show, kept so that going back is immediate.
import { useEffect, useState } from "preact/hooks";
import { useStore } from "./store.js";
import { Refusal } from "./transport.js";

/** @typedef {{revision: number}} Message every one has it */
/** @template T @typedef {{value: T | null, fresh: boolean, error: string}} Answer */

const KEPT = 200; // answers
const PAUSE = 120; // milliseconds that a choice has to last before more is asked about it

const LONG = /^\/api\/detail\/.*c\d*$/; // how sure a consensus is takes longer than itself: first come the tiles

/** @typedef {{promise: Promise<Message>, waiting: number, isDone: boolean, stop: () => void}} Asked */
/** @type {WeakMap<import("./store.js").Store, Map<string, Asked>>} */
const known = new WeakMap();

/** @param {import("./store.js").Store} store */
function answersOf(store) {
  const mine = known.get(store) ?? new Map();
  known.set(store, mine);
  return mine;
}

/** @param {import("./store.js").Store} store @param {string} path */
const keyOf = (store, path) => `${store.snapshot.value} ${store.edition.value} ${path}`;

/** @param {import("./store.js").Store} store @param {string} path @returns {Asked} */
function send(store, path) {
  const flight = new AbortController();
  const snapshot = store.snapshot.value;
  const promise = store.transport.get(path, flight.signal).then((answer) => {
    const json = /** @type {Message} */ (answer.json);
    // another page added clusterings
    if (snapshot === store.snapshot.value && json.revision !== store.boot.value.header.revision) store.open();
    return json;
  });
  return { promise, waiting: 0, isDone: false, stop: () => flight.abort() };
}

/**
 * Ask, or wait with those who asked already. A question that all have left for a while is taken back.
 * @param {import("./store.js").Store} store @param {string} path
 * @returns {{promise: Promise<Message>, leave: () => void}}
 */
export function ask(store, path) {
  const mine = answersOf(store);
  const key = keyOf(store, path);
  const found = mine.get(key) ?? send(store, path);
  const forget = () => mine.get(key) === found && mine.delete(key);
  if (!mine.has(key)) {
    mine.set(key, found);
    found.promise.then(() => {
      found.isDone = true;
    }, forget);
    if (mine.size > KEPT) mine.delete(mine.keys().next().value ?? "");
  }
  found.waiting++;
  const leave = () => {
    found.waiting--;
    setTimeout(() => {
      if (found.waiting || found.isDone) return;
      forget();
      found.stop();
    }, PAUSE);
  };
  return { promise: found.promise, leave };
}

/**
 * An object of a clustering, asked for once the pointer rests; null until it is known.
 * @param {string} ref @param {number} object
 */
export function useObject(ref, object) {
  const store = useStore();
  const [known, setKnown] = useState(/** @type {import("./messages.js").ObjectRow | null} */ (null));
  useEffect(() => {
    let left = false;
    const timer = setTimeout(async () => {
      try {
        const answer = await store.transport.get(`/api/objects/${ref}?start=${object}&count=1&order=index`);
        if (!left) setKnown(/** @type {import("./messages.js").Objects} */ (answer.json).rows[0] ?? null);
      } catch (error) {
        if (!left) store.fail(error);
      }
    }, PAUSE);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [object, ref]);
  return known?.index === object ? known : null;
}

/**
 * The answer to a path (null: ask nothing). The last answer stays while the next is on its way: `fresh` tells them
 * apart; but not when clusterings came or went, since what it names may be gone.
 * @template T the message
 * @param {string | null} path
 * @returns {Answer<T>}
 */
export function useAnswer(path) {
  const store = useStore();
  const status = store.status.value.kind;
  const snapshot = store.snapshot.value;
  const key = path && keyOf(store, path);
  const isHeld = path !== null && LONG.test(path) && store.labels.isBusy.value;
  const [got, setGot] = useState({
    key: /** @type {string | null} */ (null),
    snapshot: "",
    value: /** @type {T | null} */ (null),
    error: "",
  });
  useEffect(() => {
    if (!path || !key || isHeld || (got.key === key && !got.error)) return;
    let gone = false;
    let leave = () => {};
    const go = () => {
      const asked = ask(store, path);
      leave = asked.leave;
      asked.promise.then(
        (/** @type {unknown} */ value) => gone || setGot({ key, snapshot, value: /** @type {T} */ (value), error: "" }),
        (/** @type {unknown} */ error) => {
          if (gone) return;
          if (error instanceof Refusal && error.status >= 400 && error.status !== 401)
            setGot({ key, snapshot, value: null, error: error.message });
          else store.fail(error);
        },
      );
    };
    const isQuick = got.key === null || answersOf(store).has(key);
    const timer = setTimeout(go, isQuick ? 0 : PAUSE);
    return () => {
      gone = true;
      clearTimeout(timer);
      leave();
    };
  }, [key, status, isHeld]);
  if (!path) return { value: null, error: "", fresh: true };
  return {
    value: got.snapshot === snapshot ? got.value : null,
    error: got.key === key ? got.error : "",
    fresh: got.key === key,
  };
}
