// Into how many groups the clusterings are cut, and what stands for each.

import { useMemo } from "preact/hooks";
import { cutInto, showAs } from "../core/commands.js";
import { formatCount, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { parseRef } from "../core/tree.js";
import { Segmented } from "./parts.jsx";

const SLIDER = 100; // the slider's far end; the number beside it goes up to all clusterings

export function Cut() {
  const store = useStore();
  const { cut, split, join, cutM } = store.view.value;
  const tree = store.tree.value;
  const { candidates, note } = store.session.value.cut;
  const m = tree.m;
  const all = tree.size[store.top.value];
  const distinct = useMemo(() => tree.distinct(store.top.value), [tree, store.top.value]);
  const most = Math.min(distinct, Math.max(SLIDER, cut));
  const groups = store.groups.value.length;
  const byHand =
    cutM === m
      ? [
          [split, "split"],
          [join, "joined"],
        ]
          .filter(([nodes]) => nodes.length)
          .map(([nodes, word]) => `${nodes.length} ${word}`)
          .join(", ")
      : "";
  return (
    <div class="field cut">
      <label for="cut-slider" title={note}>
        Groups
      </label>
      <input
        id="cut-slider"
        type="range"
        min="1"
        max={most}
        value={cut}
        aria-valuetext={plural(groups, "group")}
        onInput={(e) => cutInto(store, Number(e.currentTarget.value), true)}
        onChange={() => store.settle()}
      />
      <input
        class="number"
        type="number"
        aria-label="Number of groups"
        min="1"
        max={distinct}
        title={
          distinct < all
            ? `${formatCount(distinct)} of ${plural(all, "clustering")} differ: no more groups than that`
            : undefined
        }
        value={cut}
        onChange={(e) => {
          const field = e.currentTarget;
          if (field.value) cutInto(store, Number(field.value));
          field.value = String(store.view.value.cut); // also where it was what it is
        }}
      />
      {byHand ? (
        <button
          class="chip"
          title="Groups after some were split or joined by hand: click to drop that"
          aria-label={`${groups} groups, ${byHand} by hand: drop that`}
          onClick={() => store.go({ split: [], join: [] })}
        >
          {groups}: {byHand} ✕
        </button>
      ) : null}
      {candidates.length && all === m ? (
        <span class="jumps" role="group" aria-label="Numbers of groups that stand out" title={note}>
          {[...candidates]
            .sort((a, b) => a - b)
            .map((one) => (
              <button
                key={one}
                class="chip"
                aria-pressed={one === cut}
                aria-label={`Cut into ${one} groups`}
                onClick={() => cutInto(store, one)}
              >
                {one}
              </button>
            ))}
        </span>
      ) : null}
    </div>
  );
}

export function Representatives() {
  const store = useStore();
  const { rep } = store.view.value;
  const isMedoid = rep === "m" && !parseRef(store.selected.value ?? "")?.k; // the stable consensus is none
  return (
    <Segmented
      label="Show groups by"
      value={isMedoid || rep === "c" ? rep : ""}
      onPick={(kind) => showAs(store, kind)}
      options={[
        ["m", "Medoid", "Medoid: the most central clustering of the group (M)"],
        [
          "c",
          "Consensus",
          "Consensus: one clustering that the whole group votes for, with a confidence for every object (C)",
        ],
      ]}
    />
  );
}
