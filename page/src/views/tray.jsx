// The tray: clusterings to take away, with names and notes, and the files they leave as.
import { useRef } from "preact/hooks";
import { describe, isKept, sentence } from "../core/commands.js";
import { writeReport } from "../core/report.js";
import { openSession, saveSession } from "../core/session_file.js";
import { useStore } from "../core/store.js";
import { availableIn, exportTray } from "../core/tray_files.js";
import { whyUnavailable } from "../core/view.js";
import { Panel, Table } from "./panel.jsx";

/** @typedef {import("../core/store.js").Store} Store */
/** @typedef {import("../core/view.js").Kept} Kept */

const FORMATS = [
  ["csv", "CSV", "A table of labels: your ids, then a column for each clustering (E)"],
  ["parquet", "Parquet", "The same table as a Parquet file"],
  ["h5ad", "h5ad", "The same table as the obs of an AnnData"],
  ["json", "JSON", "The same table with where each clustering comes from and how it was edited"],
  ["python", "Python", "A few lines of Python that load the run and make the same labels"],
];

export function TrayView() {
  const store = useStore();
  const { tray } = store.view.value;
  const { assessed } = store.prefs.value;
  const tools = (
    <>
      <label
        class="choice"
        title="Export the confidence and support of every object beside its label, where there is a consensus"
      >
        <input type="checkbox" checked={assessed} onChange={() => store.prefer({ assessed: !assessed })} /> confidence
        and support
      </label>
      <span class="join">
        Export{" "}
        {FORMATS.filter(([format]) => format !== "h5ad" || store.session.value.can.h5ad).map(
          ([format, text, title]) => (
            <button
              key={format}
              title={title}
              disabled={!availableIn(store).length}
              onClick={() => exportTray(store, format)}
            >
              {text}
            </button>
          ),
        )}
      </span>
      <button
        title="Write the report of this view: its groups, the opened branch, the selected clustering by its names"
        disabled={store.job.value?.state === "running"}
        onClick={() => writeReport(store)}
      >
        Report of this view
      </button>
      <SessionTools />
    </>
  );
  const table = () => (
    <Table
      caption="Clusterings in the tray"
      heads={["name", "what", "note", "take out"]}
      rows={tray.map((kept, at) => [
        kept.name,
        <What kept={kept} />,
        kept.note,
        <button class="link" onClick={() => remove(store, at)}>
          remove
        </button>,
      ])}
      picked={tray.findIndex((kept) => isKept(store, kept, store.view.value.sel))}
      onPick={(at) => show(store, tray[at])}
    />
  );
  return (
    <Panel id="tray" title="Tray" tools={tools} table={table}>
      {tray.length ? (
        <ol class="tray">
          {tray.map((kept, at) => (
            <Item key={`${kept.ref} ${kept.of}`} kept={kept} at={at} />
          ))}
        </ol>
      ) : (
        <p class="empty">
          Nothing chosen yet. Select a clustering and press <kbd>S</kbd>, or “Keep” under the picture, to keep it here
          and export its labels.
        </p>
      )}
    </Panel>
  );
}

/** Tray, names, notes, labels, edits and view as a file that one can send. */
function SessionTools() {
  const store = useStore();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  return (
    <span class="join">
      Session{" "}
      <button
        title="Tray, names, notes, labels, edits and this view as a file: who has the same run can open it"
        onClick={() => saveSession(store)}
      >
        Save session
      </button>
      <button
        title="Open a session that somebody saved; or drop the file onto the page"
        onClick={() => field.current?.click()}
      >
        Open session
      </button>
      <input
        type="file"
        ref={field}
        class="hidden"
        tabindex={-1}
        aria-label="Session file"
        accept=".json,application/json"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file) openSession(store, file);
          event.currentTarget.value = "";
        }}
      />
    </span>
  );
}

/** Which clustering it is, or why it cannot be shown. @param {{kept: Kept}} props */
function What({ kept }) {
  const store = useStore();
  const why = whyUnavailable(kept, store.origin.value);
  return (
    <span class="what" title={why || undefined}>
      {why ? (
        <>
          Unavailable <small>{kept.ref}</small>
        </>
      ) : (
        sentence(describe(store, kept.ref))
      )}
    </span>
  );
}

/** Select what is kept, if it is there. @param {Store} store @param {Kept} kept */
function show(store, kept) {
  const why = whyUnavailable(kept, store.origin.value);
  if (why) store.message.value = `${why}.`;
  else store.go({ sel: kept.ref });
}

/** @param {{kept: Kept, at: number}} props */
function Item({ kept, at }) {
  const store = useStore();
  const { tray, sel } = store.view.value;
  const why = whyUnavailable(kept, store.origin.value);
  return (
    <li class={why ? "unavailable" : isKept(store, kept, sel) ? "picked" : ""}>
      <input
        class="name"
        aria-label="Name"
        maxlength={80}
        value={kept.name}
        placeholder="name"
        onInput={(e) => edit(store, at, { name: e.currentTarget.value })}
        onBlur={() => store.settle()}
      />
      <What kept={kept} />
      <input
        class="remark"
        aria-label={`Note on ${kept.name}`}
        maxlength={2000}
        value={kept.note}
        placeholder="note"
        onInput={(e) => edit(store, at, { note: e.currentTarget.value })}
        onBlur={() => store.settle()}
      />
      <span class="join">
        <button
          class="quiet"
          disabled={Boolean(why)}
          title={why || undefined}
          onClick={() => show(store, kept)}
          aria-label={`Show ${kept.name}`}
        >
          Show
        </button>
        <button
          class="quiet icon"
          disabled={at === 0}
          aria-label={`Move ${kept.name} up`}
          title="Move up"
          onClick={() => move(store, at, -1)}
        >
          ↑
        </button>
        <button
          class="quiet icon"
          disabled={at === tray.length - 1}
          aria-label={`Move ${kept.name} down`}
          title="Move down"
          onClick={() => move(store, at, 1)}
        >
          ↓
        </button>
        <button class="quiet icon" aria-label={`Remove ${kept.name}`} title="Remove" onClick={() => remove(store, at)}>
          ✕
        </button>
      </span>
    </li>
  );
}

/** @param {Store} store @param {number} at @param {Partial<Kept>} change */
const edit = (store, at, change) =>
  store.go({ tray: store.view.value.tray.map((kept, i) => (i === at ? { ...kept, ...change } : kept)) }, true);

/** @param {Store} store @param {number} at */
const remove = (store, at) => store.go({ tray: store.view.value.tray.filter((_kept, i) => i !== at) });

/** @param {Store} store @param {number} at @param {number} by */
function move(store, at, by) {
  const tray = [...store.view.value.tray];
  [tray[at], tray[at + by]] = [tray[at + by], tray[at]];
  store.go({ tray });
}
