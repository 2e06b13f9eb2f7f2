// What the panels show and which keys there are.

import { GLOSSARY } from "../core/glossary.js";
import { useStore } from "../core/store.js";
import { Dialog } from "./dialog.jsx";

const PANELS = [
  [
    "Tree",
    "All clusterings, similar ones on near branches. Drag the line or the slider to cut it into groups; " +
      "split or join single groups where one level does not fit.",
  ],
  ["Scores", "Clusterings by two scores. Drag to mark some; the band: the best of as many random groups."],
  ["Map", "Clusterings as points, similar ones close; how far to trust the distances is written on it."],
  [
    "Stripes",
    "Clusterings as rows, objects as columns, in the colors of their consensus. Click a row, drag over objects.",
  ],
  [
    "Tiles",
    "The data, colored by each group's clustering. " +
      "A color means the same objects as in the pinned clustering as far as that goes.",
  ],
  ["Detail", "The selected clustering: its clusters, what sets each apart, how sure it is."],
  ["Why", "What sets the selected branch apart from all other clusterings, in words and numbers."],
  ["Objects", "The objects: click a head to sort, tick rows to pick them, filter by words."],
  ["Picked", "Objects that you picked: which clusterings keep them together, what sets them apart."],
  ["Compare", "The selected clustering beside the pinned one: which clusters and objects move."],
  [
    "Flow",
    "Clusterings of tiles or tray side by side, or the consensus in more clusters. Click what you want to pick.",
  ],
  [
    "Stable components",
    "Objects that no clustering of the selected branch separates, and floaters, which no majority puts anywhere.",
  ],
  ["Agreement", "For agreement runs: how stability grew from step to step."],
  ["Tray", "Clusterings to take away: name them, add notes, export their labels."],
];

export const KEYS = [
  ["← → ↑ ↓", "walk the tree, from the tree or a tile"],
  ["1 … 9", "select a tile and go there"],
  ["M / C", "show groups by medoid / consensus"],
  ["P", "pin the selected clustering: its colors rule"],
  ["X", "compare the selected clustering with the pinned one"],
  ["R", "make more like the selected clustering"],
  ["S", "add the selected clustering to the tray"],
  ["E", "export the tray as CSV"],
  ["O / B", "open the selected branch / go back"],
  ["+ / −", "one group more / fewer"],
  ["[ / ]", "split the selected group / join it with its neighbor"],
  ["Z, Ctrl+Z", "undo"],
  ["Shift+Z, Ctrl+Shift+Z", "redo"],
  ["/", "find objects; Enter picks them"],
  ["L", "lasso: draw around objects"],
  ["T", "every view as a table, and back"],
  ["Escape", "put away, one after the other: lasso, picked objects, brush, cluster, comparison"],
  ["?", "this help"],
];

const WORDS = Object.entries(GLOSSARY);

export function HelpDialog() {
  const store = useStore();
  const list = (/** @type {string[][]} */ pairs) =>
    pairs.map(([name, text]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </div>
    ));
  return (
    <Dialog
      title="How this page works"
      open={store.help.value}
      onClose={() => {
        store.help.value = false;
      }}
    >
      <div class="help">
        <section>
          <h3>Panels</h3>
          <dl>{list(PANELS)}</dl>
        </section>
        <section>
          <h3>Keys</h3>
          <label class="choice">
            <input
              type="checkbox"
              checked={store.prefs.value.keys}
              onChange={() => store.prefer({ keys: !store.prefs.value.keys })}
            />{" "}
            single letters and signs do what stands here
          </label>
          <dl class="keys">{list(KEYS)}</dl>
          <h3>Words</h3>
          <dl>{list(WORDS)}</dl>
        </section>
      </div>
    </Dialog>
  );
}
