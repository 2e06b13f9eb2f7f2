// The objects that are picked: how the clusterings treat them, what sets them apart, and their own name.

import { useState } from "preact/hooks";
import { useAsked } from "../core/asked.js";
import { clusteringName } from "../core/commands.js";
import { formatCount, formatNumber, formatPercent, plural } from "../core/format.js";
import { dropLabel, encodeRows, keyOf, letPickedGo, NONE, pick, saveLabel, setAside } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { nodeOf } from "../core/tree.js";
import { FeatureRows } from "./effect_sizes.jsx";
import { LooksOf } from "./looks.jsx";
import { Panel, Table } from "./panel.jsx";
import { Answered, Segmented } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Treatment} Treatment */
/** @typedef {import("../core/messages.js").Treater} Treater */
/** @typedef {import("../core/messages.js").Contrast} Contrast */

export function PickedView() {
  const store = useStore();
  const rows = store.picked.value;
  const [scope, setScope] = useState("all");
  const title = rows.length ? `${plural(rows.length, "picked object")}` : "Picked objects";
  const tools = rows.length ? (
    <>
      <button title="Let go of all (Escape)" onClick={() => letPickedGo(store)}>
        Clear
      </button>
      <button title="Take these as the other side, then pick others to compare" onClick={() => setAside(store)}>
        Set aside
      </button>
    </>
  ) : null;
  const body = () => (
    <div class="picked-objects">
      <Aside />
      {rows.length ? (
        <>
          <LooksOf rows={rows} />
          <SaveLabel />
          <Treated rows={rows} scope={scope} setScope={setScope} />
          <Against rows={rows} />
        </>
      ) : (
        <HowToPick />
      )}
      <Saved />
    </div>
  );
  return (
    <Panel id="picked" class="plain" title={title} name="Picked objects" tools={tools} table={body}>
      {body()}
    </Panel>
  );
}

function HowToPick() {
  const store = useStore();
  const ref = store.selected.value;
  const { cluster } = store.view.value;
  const shown = ref ? store.labels.get(ref) : null;
  return (
    <div class="empty">
      <p>
        Click a point of the picture to pick it (Shift and click adds), draw around some with the lasso, find them by
        id, word, label or number in the search field, or tick rows of the table of objects.
      </p>
      {cluster >= 0 && shown ? (
        <button
          onClick={() =>
            pick(
              store,
              Array.from(shown.labels.keys()).filter((row) => shown.labels[row] === cluster),
              { what: `cluster ${cluster}` },
            )
          }
        >
          Pick the objects of cluster {cluster}
        </button>
      ) : null}
    </div>
  );
}

/** Those set aside for a comparison. */
function Aside() {
  const store = useStore();
  const n = store.against.value.length;
  if (!n) return null;
  return (
    <p class="note">
      {plural(n, "object")} set aside.{" "}
      <button
        class="link"
        onClick={() => {
          store.against.value = NONE;
        }}
      >
        compare with all others again
      </button>
    </p>
  );
}

/** @param {{rows: Uint32Array, scope: string, setScope: (scope: string) => void}} props */
function Treated({ rows, scope, setScope }) {
  const store = useStore();
  const ref = store.selected.value;
  const tree = store.tree.value;
  const isBranch = ref ? nodeOf(tree, ref) >= tree.m : false;
  const of = scope === "branch" && isBranch ? ref : null;
  /** @type {import("../core/answers.js").Answer<Treatment>} */
  const answer = useAsked(`treat ${keyOf(rows)} ${of}`, (transport, signal) =>
    transport.post("/api/treat", { rows: encodeRows(rows), ...(of ? { ref: of } : {}) }, signal),
  );
  return (
    <section>
      <h3>
        How do the clusterings treat these?{" "}
        {isBranch ? (
          <Segmented
            label="Clusterings that are asked"
            value={scope}
            onPick={setScope}
            options={[
              ["all", "All", "All clusterings"],
              ["branch", "This branch", "The clusterings of the selected branch"],
            ]}
          />
        ) : null}
      </h3>
      <Answered answer={answer}>{({ header }) => <Treatments told={header} />}</Answered>
    </section>
  );
}

/** @param {{told: Treatment["header"]}} props */
function Treatments({ told }) {
  const store = useStore();
  const most = Math.max(1, ...told.histogram);
  return (
    <>
      {told.mean === null ? (
        <p>One object alone has no pairs: these are the objects that share its cluster most often.</p>
      ) : (
        <>
          <p class="treated">
            <b>
              {formatCount(told.n_together)} of {formatCount(told.n_known)}
            </b>{" "}
            clusterings keep all of them together ({formatPercent(told.n_together / Math.max(1, told.n_known))});{" "}
            {told.n_rows > 2
              ? `a pair of them is together in ${formatPercent(told.mean)} on average.`
              : `${formatCount(told.n_apart)} part them.`}
          </p>
          {told.n_rows > 2 ? (
            <>
              <div
                class="histogram"
                role="img"
                aria-label="Clusterings by the share of pairs that they keep together, from 0 to 1"
              >
                {told.histogram.map((count, at) => (
                  <span
                    key={at}
                    title={`${5 * at} to ${5 * at + 5} % of the pairs: ${plural(count, "clustering")}`}
                    style={{ height: `${(100 * count) / most}%` }}
                  ></span>
                ))}
              </div>
              <p class="scale">
                <span>all pairs parted</span>
                <span>clusterings</span>
                <span>all together</span>
              </p>
            </>
          ) : null}
        </>
      )}
      <div class="treaters">
        <Treaters caption="A cluster of just these, most nearly" rows={told.alike} sort="likeness" />
        {told.mean === null ? null : <Treaters caption="Keep them together" rows={told.together} sort="share" />}
        {told.mean === null ? null : <Treaters caption="Part them" rows={told.parting} sort="share" />}
        <Company
          caption="Most often with them"
          rows={told.company}
          onPick={(row) => pick(store, [row], { add: true })}
          what="add"
        />
        {told.loosest.length > 2 ? (
          <Company
            caption="Least with the others of them"
            rows={told.loosest}
            onPick={(row) => pick(store, [row], { add: true })}
            what="let go"
          />
        ) : null}
      </div>
    </>
  );
}

/** @param {{caption: string, rows: Treater[], sort: "share" | "likeness"}} props */
function Treaters({ caption, rows, sort }) {
  const store = useStore();
  return (
    <Table
      caption={caption}
      heads={["clustering", sort === "share" ? "of pairs" : "likeness", "in clusters"]}
      rows={rows
        .slice(0, 8)
        .map((one) => [
          clusteringName(store, one.leaf),
          sort === "share" ? formatPercent(one.share ?? 0) : formatNumber(one.likeness, 2),
          `${one.parts} of ${one.clusters}`,
        ])}
      onPick={(at) => store.go({ sel: `${rows[at].leaf}m` })}
    />
  );
}

/**
 * @param {{
 *   caption: string, rows: import("../core/messages.js").Companion[], onPick: (row: number) => void, what: string,
 * }} props
 */
function Company({ caption, rows, onPick, what }) {
  return (
    <Table
      caption={caption}
      heads={[`object (${what})`, "together in"]}
      rows={rows.slice(0, 8).map((one) => [one.id, formatPercent(one.share)])}
      onPick={(at) => onPick(rows[at].index)}
    />
  );
}

/** @param {{rows: Uint32Array}} props */
function Against({ rows }) {
  const store = useStore();
  const against = store.against.value.filter((row) => !store.pickedMask.value?.[row]);
  const isAll = rows.length === store.session.value.n_objects;
  /** @type {import("../core/answers.js").Answer<Contrast>} */
  const answer = useAsked(isAll ? null : `contrast ${keyOf(rows)} ${keyOf(against)}`, (transport, signal) =>
    transport.post(
      "/api/contrast",
      { rows: encodeRows(rows), ...(against.length ? { against: encodeRows(against) } : {}) },
      signal,
    ),
  );
  if (isAll) return null;
  return (
    <section>
      <h3>
        These against {against.length ? `the ${formatCount(against.length)} set aside` : "all others"}{" "}
        <small>effect size d, 95 % interval; filled these, the line those</small>
      </h3>
      <Answered answer={answer}>
        {(told) => (
          <>
            {told.features ? (
              <FeatureRows clusters={[{ cluster: 0, top: told.features }]} most={12} slots={null} names={null} plain />
            ) : (
              <p class="empty">There is no data table here, only labels.</p>
            )}
            <div class="known">
              {told.known.map((one) => (
                <Table
                  key={one.name}
                  caption={one.name}
                  heads={["class", "these", "those"]}
                  rows={one.classes.map((row) => [row.class, formatPercent(row.inside), formatPercent(row.outside)])}
                />
              ))}
            </div>
          </>
        )}
      </Answered>
    </section>
  );
}

/** Give the picked objects a name: a value of a label of one's own. */
function SaveLabel() {
  const store = useStore();
  const saved = store.session.value.saved ?? [];
  const [name, setName] = useState(saved[0] ?? "my label");
  const [value, setValue] = useState("");
  return (
    <form
      class="save-label"
      onSubmit={async (event) => {
        event.preventDefault();
        if (await saveLabel(store, name.trim(), value.trim() || "picked")) setValue("");
      }}
    >
      <label class="field">
        Save as label{" "}
        <input
          value={name}
          maxLength={80}
          required
          list="saved-labels"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <datalist id="saved-labels">
        {saved.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <label class="field">
        value{" "}
        <input
          value={value}
          maxLength={80}
          placeholder="picked"
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <button>Save</button>
    </form>
  );
}

/** Labels that were saved here. */
function Saved() {
  const store = useStore();
  const saved = store.session.value.saved ?? [];
  if (!saved.length) return null;
  return (
    <p class="note">
      Saved labels (color by them above the picture):{" "}
      {saved.map((name) => (
        <span key={name} class="saved">
          {name}{" "}
          <button
            class="quiet icon"
            aria-label={`Drop the label ${name}`}
            title="Drop it for good: undo does not bring saved labels back"
            onClick={() => dropLabel(store, name)}
          >
            ✕
          </button>
        </span>
      ))}
    </p>
  );
}
