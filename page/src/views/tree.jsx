// The tree of clusterings: cut it, split and join its groups, select any branch.

import { useEffect, useState } from "preact/hooks";
import { relink } from "../core/commands.js";
import { formatNumber, scoreWords } from "../core/format.js";
import { useStore } from "../core/store.js";
import { joinSelected, splitSelected } from "../core/walk.js";
import { moved, zoomed } from "../draw/branches.js";
import { useDark } from "../draw/canvas.jsx";
import { ramp } from "../draw/palette.js";
import { Panel } from "./panel.jsx";
import { TreePicture } from "./tree_picture.jsx";
import { TreeTable } from "./tree_table.jsx";

export { joinSelected, splitSelected, walk } from "../core/walk.js";

export function TreeView() {
  const store = useStore();
  const tree = store.tree.value;
  const node = store.selectedNode.value;
  const [zoom, setZoom] = useState({ m: 0, from: 0, to: 0 });
  const span = zoom.m === tree.m ? zoom : { m: tree.m, from: 0, to: tree.m };
  /** @param {import("../draw/branches.js").Span} next */
  const setSpan = (next) => setZoom({ m: tree.m, from: next.from, to: next.to });
  useEffect(() => {
    const place = tree.x[node];
    if (node >= 0 && (place < span.from || place >= span.to))
      setSpan(moved(tree, span, place - (span.from + span.to) / 2));
  }, [node]);
  const top = store.top.value;
  useEffect(() => {
    if (top === tree.root) setSpan({ from: 0, to: tree.m });
    else setSpan(moved(tree, { from: tree.first[top], to: tree.first[top] + Math.max(8, tree.size[top]) }, 0));
  }, [top, tree]);
  const middle = node >= 0 ? tree.x[node] + 0.5 : (span.from + span.to) / 2;
  const toBranch = () => {
    const wide = Math.min(tree.m, Math.max(tree.size[node] * 1.1, 8));
    const from = tree.first[node] + (tree.size[node] - wide) / 2;
    setSpan(moved(tree, { from, to: from + wide }, 0));
  };
  const tools = (
    <>
      <ColorBy />
      <Linkage />
      <span class="tool-group" role="group" aria-label="Groups by hand">
        <button
          class="quiet"
          title="Split the selected group into its two branches (double click on it)"
          onClick={() => splitSelected(store)}
        >
          split
        </button>
        <button
          class="quiet"
          title="Join the selected group with its sibling (double click above the cut)"
          onClick={() => joinSelected(store)}
        >
          join
        </button>
      </span>
      <span class="tool-group" role="group" aria-label="Zoom">
        <button
          class="quiet"
          title="Zoom in (wheel, once the tree has been clicked)"
          aria-label="Zoom in"
          onClick={() => setSpan(zoomed(tree, span, middle, 0.6))}
        >
          +
        </button>
        <button
          class="quiet"
          title="Zoom out"
          aria-label="Zoom out"
          disabled={span.to - span.from >= tree.m}
          onClick={() => setSpan(zoomed(tree, span, middle, 1 / 0.6))}
        >
          −
        </button>
        <button class="quiet" title="Zoom to the selected branch" disabled={node < 0} onClick={toBranch}>
          branch
        </button>
        <button
          class="quiet"
          title="The whole tree"
          disabled={span.to - span.from >= tree.m}
          onClick={() => setSpan({ from: 0, to: tree.m })}
        >
          all
        </button>
      </span>
    </>
  );
  return (
    <Panel id="tree" title="Tree" tools={tools} table={() => <TreeTable />}>
      <TreePicture span={span} setSpan={setSpan} />
      <Legend />
    </Panel>
  );
}

/** How the tree is grown. */
function Linkage() {
  const store = useStore();
  const { linkage, linkages = [linkage] } = store.session.value;
  return (
    <select
      aria-label="Linkage of the tree"
      title={
        "Linkage: how the difference of two branches is taken. Ward makes groups of like size; the others follow the " +
        "mean, the largest or the smallest difference of their clusterings"
      }
      value={linkage}
      onChange={(event) => relink(store, event.currentTarget.value)}
    >
      {linkages.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

/** What colors the tree, and what the colors mean. */
function ColorBy() {
  const store = useStore();
  return (
    <span class="field">
      <select
        id="color-by"
        aria-label="Color tree by"
        title="What colors the branches"
        value={store.view.value.color}
        onChange={(e) => store.go({ color: e.currentTarget.value })}
      >
        <option value="group">group</option>
        {store.session.value.scores.map((one) => (
          <option key={one.name} value={one.name}>
            {scoreWords(one.name)}
          </option>
        ))}
      </select>
    </span>
  );
}

/** The scale of a score on the tree. */
function Legend() {
  const store = useStore();
  const dark = useDark();
  const { color } = store.view.value;
  const score = store.session.value.scores.find((one) => one.name === color);
  if (!score) return null;
  const stops = [0, 0.25, 0.5, 0.75, 1].map((value) => ramp(value, dark)).join(", ");
  const better = score.better ? `, ${score.better === "low" ? "lower" : "higher"} is better` : "";
  return (
    <span class="legend" title={`Mean ${scoreWords(score.name)} of the clusterings under each branch${better}`}>
      {formatNumber(score.low, 3)} <i class="ramp" style={{ background: `linear-gradient(90deg, ${stops})` }}></i>{" "}
      {formatNumber(score.high, 3)}
    </span>
  );
}
