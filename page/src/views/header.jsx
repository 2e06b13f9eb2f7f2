// The line above everything: what is looked at, into how many groups, and the page's own switches.

import { cutInto, showAs } from "../core/commands.js";
import { plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { Segmented } from "./parts.jsx";

const SLIDER = 100; // the slider's far end; the number beside it goes up to all clusterings

export function Header() {
  const store = useStore();
  const { name, n_objects: n, source, measure, linkage } = store.session.value;
  const { m } = store.tree.value;
  return (
    <header class="top">
      <div class="title" title={`${source} · ${measure}, ${linkage} linkage`}>
        <h1>{name}</h1>
        <p>
          {plural(m, "clustering")} of {plural(n, "object")}
        </p>
      </div>
      <Cut />
      <Look />
      <Switches />
    </header>
  );
}

function Cut() {
  const store = useStore();
  const { cut, split, join, cutM } = store.view.value;
  const tree = store.tree.value;
  const { candidates, note } = store.session.value.cut;
  const m = tree.m;
  const most = Math.min(m, Math.max(SLIDER, cut));
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
        max={m}
        value={cut}
        onChange={(e) => e.currentTarget.value && cutInto(store, Number(e.currentTarget.value))}
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
      {candidates.length ? (
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

function Look() {
  const store = useStore();
  const { color, rep } = store.view.value;
  return (
    <>
      <div class="field">
        <label for="color-by">Color tree by</label>
        <select id="color-by" value={color} onChange={(e) => store.go({ color: e.currentTarget.value })}>
          <option value="group">group</option>
          {store.session.value.scores.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
            </option>
          ))}
        </select>
      </div>
      <Segmented
        label="Show groups by"
        value={rep}
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
    </>
  );
}

function Switches() {
  const store = useStore();
  const theme = store.prefs.value.theme;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      store.message.value =
        "The address of this view is copied. It holds no token: it opens in this browser while the server runs.";
    } catch {
      store.message.value = "The browser does not allow copying: take the address from its address bar.";
    }
  };
  return (
    <div class="switches">
      <button
        class="quiet icon"
        title="Undo (Z)"
        aria-label="Undo"
        disabled={!store.history.past.value.length}
        onClick={() => store.undo()}
      >
        <Arrow />
      </button>
      <button
        class="quiet icon"
        title="Redo (Shift+Z)"
        aria-label="Redo"
        disabled={!store.history.future.value.length}
        onClick={() => store.redo()}
      >
        <Arrow flip />
      </button>
      <select
        class="quiet"
        aria-label="Theme"
        title="Theme"
        value={theme}
        onChange={(e) => store.prefer({ theme: e.currentTarget.value })}
      >
        <option value="auto">auto</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
      {store.address.isUsed ? (
        <button class="quiet" title="Copy the address of this view" onClick={copy}>
          Copy link
        </button>
      ) : null}
      <button
        class="quiet icon"
        title="Help (?)"
        aria-label="Help"
        onClick={() => {
          store.help.value = true;
        }}
      >
        ?
      </button>
    </div>
  );
}

/** @param {{flip?: boolean}} props */
function Arrow({ flip = false }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" class={flip ? "flip" : ""}>
      <path
        d="M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
