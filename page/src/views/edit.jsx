// Clusters renamed, merged and split by hand: what comes out is a clustering of its own, in the tray.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../core/answers.js";
import { describe, nameOf } from "../core/commands.js";
import { editClusters, editedOf, movePicked } from "../core/edits.js";
import { formatCount, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { isEdited } from "../core/tree.js";
import { Panel, Table } from "./panel.jsx";
import { Answered, Mark } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Detail} Detail */

const MOST = 200; // clusters that are listed
const LETTERS = 80; // of a name

/**
 * Edit what is selected now: what is listed may be of the edit before, and clusters are named.
 * @param {import("../core/store.js").Store} store @param {import("../core/edits.js").Edit} edit
 */
const editNow = (store, edit) => editClusters(store, store.selected.value ?? "", edit);

/** What the clusters of a clustering are called. @param {Detail} detail */
const namesOf = (detail) => detail.names ?? detail.sizes.map((_, c) => String(c));

export function EditView() {
  const store = useStore();
  const ref = store.selected.value;
  /** @type {import("../core/answers.js").Answer<Detail>} */
  const answer = useAnswer(ref ? `/api/detail/${ref}` : null);
  if (!ref) return <p class="empty">Select a clustering to edit its clusters.</p>;
  const table = () => (
    <Answered answer={answer}>
      {(detail) => (
        <Table
          caption="Clusters"
          heads={["name", "objects"]}
          rows={namesOf(detail).map((name, c) => [name, formatCount(detail.sizes[c])])}
        />
      )}
    </Answered>
  );
  return (
    <Panel id="edit" class="plain" title={`Edit clusters: ${describe(store, ref)}`} name="Edit" table={table}>
      <Answered answer={answer}>{(detail) => <Editor detail={detail} />}</Answered>
    </Panel>
  );
}

/** @param {{detail: Detail}} props */
function Editor({ detail }) {
  const [chosen, setChecked] = useState(/** @type {string[]} */ ([]));
  const names = namesOf(detail);
  const checked = chosen.filter((one) => names.includes(one));
  const toggle = (/** @type {string} */ name) =>
    setChecked(checked.includes(name) ? checked.filter((one) => one !== name) : [...checked, name]);
  return (
    <div class="editor">
      <section class="column">
        <h3>
          Clusters <small>check some to merge or split them, type to rename</small>
        </h3>
        <ul class="edit-clusters" aria-label="Clusters to edit">
          {names.slice(0, MOST).map((name, c) => (
            <Row
              key={c}
              detail={detail}
              cluster={c}
              name={name}
              isChecked={checked.includes(name)}
              onCheck={() => toggle(name)}
            />
          ))}
        </ul>
        {names.length > MOST ? <p class="note">The first {MOST} of them.</p> : null}
      </section>
      <section class="column">
        <h3>What to do</h3>
        <Merge checked={checked} />
        <Split detail={detail} checked={checked} />
        <Move detail={detail} names={names} />
      </section>
      <Edits reference={detail.ref} />
    </div>
  );
}

/**
 * @param {{detail: Detail, cluster: number, name: string, isChecked: boolean, onCheck: () => void}} props
 */
function Row({ detail, cluster, name, isChecked, onCheck }) {
  const store = useStore();
  const slots = store.labels.slots(detail.ref);
  const [text, setText] = useState(name);
  const sent = useRef(name);
  useEffect(() => {
    setText(name);
    sent.current = name;
  }, [name]);
  const rename = async () => {
    const wanted = text.trim();
    if (!wanted) return setText(name);
    if (wanted === sent.current) return;
    sent.current = wanted;
    if (await editNow(store, { do: "rename", cluster: name, name: wanted })) return;
    setText(name);
    sent.current = name;
  };
  return (
    <li>
      <input type="checkbox" aria-label={`Check cluster ${name}`} checked={isChecked} onChange={onCheck} />
      <Mark slot={slots?.[cluster]} />
      <input
        class="name"
        aria-label={`Name of cluster ${name}`}
        maxlength={LETTERS}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={rename}
        onKeyDown={(event) => {
          if (event.key === "Enter") rename();
          if (event.key === "Escape") setText(name);
        }}
      />
      <span class="count">{formatCount(detail.sizes[cluster])}</span>
    </li>
  );
}

/** @param {{checked: string[]}} props */
function Merge({ checked }) {
  const store = useStore();
  const [name, setName] = useState("");
  return (
    <p class="edit-line">
      <button
        disabled={checked.length < 2}
        title="Make one cluster of those that are checked"
        onClick={() => editNow(store, { do: "merge", clusters: checked, name: name.trim() })}
      >
        Merge {checked.length > 1 ? `${checked.length} clusters` : "checked clusters"}
      </button>
      <input
        aria-label="Name of the merged cluster"
        placeholder="name (optional)"
        maxlength={LETTERS}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
    </p>
  );
}

/** The clusterings that a cluster can be split as: groups, the pinned one, the tray's. */
/** @param {import("../core/store.js").Store} store @param {string} ref */
function splitters(store, ref) {
  const { pin, tray } = store.view.value;
  const kept = tray.filter((one) => one.of === store.origin.value);
  const all = [
    ...(pin ? [[pin, `pinned: ${describe(store, pin)}`]] : []),
    ...store.representatives.value.slice(0, 24).map((one) => [one, nameOf(store, one)]),
    ...kept.map((one) => [one.ref, one.name || describe(store, one.ref)]),
  ];
  const seen = new Set([ref]);
  return all.filter(([one]) => !isEdited(one) && !seen.has(one) && seen.add(one));
}

/**
 * In how many parts another clustering has a cluster; 0 as long as that is not known.
 * @param {import("../core/store.js").Store} store @param {string} ref @param {number} cluster @param {string} by
 */
function partsIn(store, ref, cluster, by) {
  const mine = store.labels.get(ref)?.labels;
  const others = cluster < 0 ? null : store.labels.get(by)?.labels;
  return mine && others ? new Set(others.filter((_, i) => mine[i] === cluster)).size : 0;
}

/** @param {{detail: Detail, checked: string[]}} props */
function Split({ detail, checked }) {
  const store = useStore();
  const place = checked.length === 1 ? namesOf(detail).indexOf(checked[0]) : -1;
  const choices = splitters(store, detail.ref)
    .map(([one, words]) => [one, words, partsIn(store, detail.ref, place, one)])
    .filter(([, , parts]) => parts !== 1);
  const [by, setBy] = useState("");
  const chosen = String(choices.some(([one]) => one === by) ? by : (choices[0]?.[0] ?? ""));
  return (
    <p class="edit-line">
      <button
        disabled={checked.length !== 1 || !chosen}
        title="Split the cluster that is checked into the parts in which another clustering has its objects"
        onClick={() => editNow(store, { do: "split", cluster: checked[0], by: chosen })}
      >
        Split {checked.length === 1 ? `“${checked[0].slice(0, 20)}”` : "one checked"}
      </button>
      <label>
        as{" "}
        <select
          aria-label="Split as this clustering does"
          value={chosen}
          onChange={(e) => setBy(e.currentTarget.value)}
        >
          {choices.map(([one, words, parts]) => (
            <option key={one} value={one}>
              {words}
              {parts ? `: ${parts} parts` : ""}
            </option>
          ))}
        </select>{" "}
        does
      </label>
    </p>
  );
}

/** @param {{detail: Detail, names: string[]}} props */
function Move({ detail, names }) {
  const store = useStore();
  const n = store.picked.value.length;
  const [to, setTo] = useState("");
  const name = to.trim();
  return (
    <p class="edit-line">
      <button
        disabled={!n || !name}
        title="Put the picked objects into a cluster; a name that no cluster has makes a new one"
        onClick={() => movePicked(store, store.selected.value ?? detail.ref, name)}
      >
        Put {n ? plural(n, "picked object") : "picked objects"}
      </button>
      <label>
        into{" "}
        <input
          aria-label="Cluster for the picked objects"
          placeholder="new or old cluster"
          list="edit-names"
          maxlength={LETTERS}
          value={to}
          onInput={(event) => setTo(event.currentTarget.value)}
        />
      </label>
      <datalist id="edit-names">
        {names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {n ? null : <small>Pick objects first: click points, draw around them (L), or search (/).</small>}
    </p>
  );
}

/** What was done so far. @param {{reference: string}} props */
function Edits({ reference }) {
  const store = useStore();
  const found = editedOf(store, reference);
  return (
    <section class="column">
      <h3>Edits</h3>
      {found ? (
        <>
          <p class="note">From {found.origin}; kept in the tray, exported by its names.</p>
          <ol class="edits">
            {found.edits.map((words, at) => (
              <li key={`${at} ${words}`}>{words}</li>
            ))}
          </ol>
          <button
            class="quiet"
            title="Undo (Z)"
            disabled={!store.history.past.value.length}
            onClick={() => store.undo()}
          >
            Undo the last step
          </button>
        </>
      ) : (
        <p class="note">
          None yet. The first makes a copy in the tray, “edited from {nameOf(store, reference)}”; the clustering itself
          stays as it is.
        </p>
      )}
    </section>
  );
}
