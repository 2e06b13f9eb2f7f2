// Above the large picture: search for objects, draw around them, choose the plane and what colors mean.

import { useEffect, useRef } from "preact/hooks";
import { startJob } from "../core/jobs.js";
import { colorBy, searchObjects, showPlane } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { Mark } from "./parts.jsx";

const HOW =
  "An id, a word, a label, or a comparison such as width_mm > 3 or color: red; " +
  "Enter picks what is found, Shift and Enter adds";
const MADE = /** @type {Record<string, string>} */ ({ tsne: "t-SNE", umap: "UMAP" });

export function PictureTools() {
  const store = useStore();
  return (
    <div class="picture-tools" role="group" aria-label="Objects">
      <SearchField />
      <button
        aria-pressed={store.lasso.value}
        title="Lasso: draw around objects to pick them (also Shift and drag); Shift adds"
        onClick={() => {
          store.lasso.value = !store.lasso.value;
        }}
      >
        Lasso<kbd>L</kbd>
      </button>
      <Planes />
      <Colors />
    </div>
  );
}

/** Ids, words, labels, comparisons; Enter picks what is found, with Shift beside what is picked. */
function SearchField() {
  const store = useStore();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const asked = store.search.value;
  useEffect(() => {
    if (asked) field.current?.focus();
  }, [asked]);
  return (
    <input
      type="search"
      ref={field}
      class="search"
      placeholder="Find objects"
      aria-label="Find objects"
      title={HOW}
      maxLength={200}
      onKeyDown={(event) => {
        const text = event.currentTarget.value.trim();
        if (event.key === "Escape") event.currentTarget.blur();
        if (event.key !== "Enter" || !text) return;
        event.preventDefault();
        searchObjects(store, text, event.shiftKey);
      }}
    />
  );
}

/** The planes that there are, and those that can be made. */
function Planes() {
  const store = useStore();
  const { planes, makeable } = store.session.value;
  const names = planes.map((one) => one.name);
  const more = Object.entries(makeable ?? {}).filter(([method]) => !names.includes(MADE[method]));
  if (planes.length + more.length < 2) return null;
  return (
    <select
      aria-label="Plane"
      title="Where the objects stand"
      value={String(store.plane.value?.number ?? 0)}
      onChange={(event) => {
        const to = event.currentTarget.value;
        if (/^\d+$/.test(to)) return showPlane(store, Number(to));
        event.currentTarget.value = String(store.plane.value?.number ?? 0);
        startJob(store, { kind: "plane", method: to });
      }}
    >
      {planes.map((one, number) => (
        <option key={one.name} value={String(number)} title={one.note}>
          {one.name}
        </option>
      ))}
      {more.map(([method, why]) => (
        <option key={method} value={method} disabled={Boolean(why)} title={why}>
          {why ? `${MADE[method]} (not here)` : `make ${MADE[method]} …`}
        </option>
      ))}
    </select>
  );
}

/** By the selected clustering, or by labels that are known or were saved. */
function Colors() {
  const store = useStore();
  const { known, saved } = store.session.value;
  const names = [...known, ...(saved ?? [])];
  if (!names.length) return null;
  return (
    <select
      aria-label="Colors"
      title="What the colors of the large picture mean"
      value={String(store.colored.value?.number ?? -1)}
      onChange={(event) => colorBy(store, Number(event.currentTarget.value))}
    >
      <option value="-1">colors: clusters</option>
      {names.map((name, number) => (
        <option key={name} value={String(number)}>
          {name}
        </option>
      ))}
    </select>
  );
}

const MOST = 24;

/** What the colors of known labels mean, or those of clusters that have names. */
export function Legend() {
  const store = useStore();
  const colored = store.colored.value;
  const ref = colored ? null : store.selected.value;
  const shown = ref ? store.labels.get(ref) : null;
  const slots = shown?.names ? store.labels.slots(shown.ref) : null;
  const classes = colored?.classes ?? shown?.names;
  if (!classes || !(colored || slots)) return null;
  return (
    <ul class="color-legend" aria-label={`Colors of ${colored?.name ?? "the clusters"}`}>
      {classes.slice(0, MOST).map((name, at) => (
        <li key={name}>
          <Mark slot={slots ? slots[at] : at} /> {name}
        </li>
      ))}
      {classes.length > MOST ? <li>… {classes.length} in all</li> : null}
    </ul>
  );
}
