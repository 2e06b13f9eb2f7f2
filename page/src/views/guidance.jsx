// Three lines for those who are here for the first time; gone once they are read.
import { useStore } from "../core/store.js";
import { Term } from "./term.jsx";

export function Guidance() {
  const store = useStore();
  if (store.prefs.value.guided) return null;
  const groups = store.groups.value.length;
  return (
    <aside class="guidance" aria-label="How to begin">
      <ol>
        <li>
          Each tile is one of {groups} ways to group your data: a <Term word="group" /> of alike clusterings.
        </li>
        <li>Click a tile: this picture shows your objects in the colors of its clusters.</li>
        <li>
          Open a group to see the ways inside it; keep what serves you, and export its labels. Below, on this page: what
          a clustering is made of, why it differs, how to edit it.
        </li>
      </ol>
      <button class="primary" onClick={() => store.prefer({ guided: true })}>
        Got it
      </button>
    </aside>
  );
}
