// The tray and the view go to the server whenever they change, and to the run: they are there at the next start.
import { effect } from "@preact/signals";
import { Refusal } from "./transport.js";
import { writeHash } from "./view.js";

const PAUSE = 400; // milliseconds that a name or note has to rest
const REST = 1500; // and a view

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./view.js").Kept} Kept */
/** @typedef {import("./messages.js").Session} Session */

/** What is kept of a view beside the tray. @param {Store} store */
const lookOf = (store) => ({
  address: writeHash({ ...store.view.value, tray: [], brush: null }),
  plane: store.plane.value?.name ?? "",
  colors: store.colored.value?.name ?? "",
});

/** @param {Kept} kept */
const keyOf = (kept) => `${kept.ref} ${kept.of}`;

/**
 * A tray that was changed here and elsewhere since both had `base`: what either put in is in it, what either took out
 * is not, and names and notes that were changed here stay.
 * @param {Kept[]} base @param {Kept[]} mine @param {Kept[]} theirs @returns {Kept[]}
 */
export function mergeTrays(base, mine, theirs) {
  const [inBase, inMine, inTheirs] = [base, mine, theirs].map((tray) => new Map(tray.map((one) => [keyOf(one), one])));
  const isChanged = (/** @type {string} */ key) => JSON.stringify(inMine.get(key)) !== JSON.stringify(inBase.get(key));
  return [
    ...theirs
      .filter((one) => inMine.has(keyOf(one)) || !inBase.has(keyOf(one)))
      .map((one) =>
        inMine.has(keyOf(one)) && isChanged(keyOf(one)) ? /** @type {Kept} */ (inMine.get(keyOf(one))) : one,
      ),
    ...mine.filter((one) => !inBase.has(keyOf(one)) && !inTheirs.has(keyOf(one))),
  ];
}

/** Which server an edition is of, and how many changes it had. @param {string} edition @returns {[string, number]} */
const partsOf = (edition) => [edition.split(".")[0], Number(edition.split(".")[1] ?? 0)];

/**
 * Know the tray and the edits that others made, as a newer answer tells them.
 * @param {Store} store @param {Session} fresh
 */
export function hearTray(store, { tray, tray_edition, edits, saved }) {
  store.session.value = { ...store.session.value, tray, tray_edition, edits, saved };
}

/**
 * Lets the server know at once; says whether the next change there is this page's own; stops.
 * @param {Store} store @returns {{now: () => Promise<void>, own: (is: boolean) => void, stop: () => void}}
 */
export function keepTray(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let timer;
  /** @type {string | null} */ let edition = null; // of the tray `base`, which the server and this page had
  /** @type {Kept[]} */ let base = [];
  let heard = ""; // the edition of the session that was looked at last
  let look = "";
  let note = "";
  let isOwn = false; // a session that was opened here: undo goes back to the tray before it
  /** @type {Promise<void>} */ let sending = Promise.resolve();

  /** @param {Session} session */
  function hear(session) {
    heard = session.tray_edition ?? "";
    if (edition === null) return;
    const [born, changes] = partsOf(edition);
    const [bornNow, changesNow] = partsOf(heard);
    if (born === bornNow && changesNow <= changes) return;
    if (isOwn) {
      [base, edition] = [session.tray ?? [], heard];
      return;
    }
    const shared = born === bornNow ? base : []; // one that was started again took nothing away
    const theirs = session.tray ?? [];
    const now = store.view.value;
    const tray = mergeTrays(shared, now.tray, theirs);
    if (JSON.stringify(tray) !== JSON.stringify(now.tray)) {
      // undoing a step of this page does not undo theirs
      for (const step of [...store.history.past.value, ...store.history.future.value])
        step.view = { ...step.view, tray: mergeTrays(shared, step.view.tray, theirs) };
      store.view.value = store.checked({ ...now, tray });
      store.address.write(() => store.view.value);
    }
    [base, edition] = [theirs, heard];
  }

  async function send() {
    const tray = store.view.value.tray;
    const view = lookOf(store);
    const isTray = JSON.stringify(tray) !== JSON.stringify(base);
    const isLook = JSON.stringify(view) !== look;
    if (!isTray && !isLook) return;
    const body = { ...(isTray ? { tray, ...(edition ? { edition } : {}) } : {}), ...(isLook ? { view } : {}) };
    try {
      const answer = await store.transport.post("/api/tray", body);
      const told = /** @type {{edition?: string, note?: string} | null} */ (answer.json);
      look = JSON.stringify(view);
      if (isTray) {
        base = tray;
        edition = heard = told?.edition ?? edition ?? "";
        store.session.value = { ...store.session.value, tray, tray_edition: edition };
      }
      if (told?.note && told.note !== note) store.message.value = told.note;
      note = told?.note ?? "";
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 409)) return store.fail(error);
      await ask();
    }
  }

  /** The tray was changed elsewhere: what comes of both is sent when it is there. */
  async function ask() {
    try {
      hearTray(store, /** @type {Session} */ ((await store.transport.get("/api/session")).json));
    } catch (error) {
      store.fail(error);
    }
  }

  /** One after the other: each tells of the edition that came of the one before. */
  const now = () => {
    clearTimeout(timer);
    sending = sending.then(send);
    return sending;
  };

  const stop = effect(() => {
    const session = store.session.value;
    if (!session) return;
    if (edition === null) {
      [base, edition, heard] = [session.tray ?? [], session.tray_edition ?? "", session.tray_edition ?? ""];
      look = JSON.stringify(lookOf(store)); // as it was opened: nothing is written before there is something to keep
    } else if ((session.tray_edition ?? "") !== heard) hear(session);
    const isTray = JSON.stringify(store.view.value.tray) !== JSON.stringify(base);
    // where nothing lasts the tray alone is told: what is in it is not let go there
    const isLook = Boolean(session.lasts) && JSON.stringify(lookOf(store)) !== look;
    clearTimeout(timer);
    if (isTray || isLook) timer = setTimeout(now, isTray ? PAUSE : REST);
  });
  return {
    now,
    own: (is) => {
      isOwn = is;
    },
    stop: () => {
      clearTimeout(timer);
      stop();
    },
  };
}
