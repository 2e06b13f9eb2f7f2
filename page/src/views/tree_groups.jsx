// The groups under the tree, as buttons, and what is known of the branch under the pointer.

import { useMemo } from "preact/hooks";
import { clusteringName, sentence } from "../core/commands.js";
import { formatCount, formatNumber, plural, scoreWords } from "../core/format.js";
import { groupAbove } from "../core/groups.js";
import { useStore } from "../core/store.js";
import { markClick } from "../core/timing.js";
import { selectNode, splitAt } from "../core/walk.js";
import { branchMeans } from "../draw/branches.js";
import { useDark } from "../draw/canvas.jsx";
import { groupShades } from "../draw/palette.js";

const MOST_BOXES = 200;
const TARGET = 24; // least width of a button in pixels

/**
 * A button under each group that is in sight.
 * @param {{
 *   at: ReturnType<typeof import("../draw/tree.js").layout>, span: import("../draw/branches.js").Span,
 *   scale: ReturnType<typeof import("../draw/branches.js").scales>,
 * }} props
 */
export function GroupBoxes({ at, scale, span }) {
  const store = useStore();
  const tree = store.tree.value;
  const selected = store.selectedNode.value;
  const dark = useDark();
  const shades = useMemo(() => groupShades(tree, store.groups.value, dark), [tree, store.groups.value, dark]);
  const seen = store.groups.value
    .map((node, g) => ({
      node,
      g,
      start: tree.first[node],
      end: tree.first[node] + tree.size[node],
    }))
    .filter((one) => one.end > span.from && one.start < span.to);
  const boxes = seen.slice(0, MOST_BOXES).map(({ node, g, start, end }) => {
    const left = Math.max(0, scale.x(start - 0.5));
    const right = Math.min(at.width, scale.x(end - 0.5));
    const wide = right - left;
    const words =
      wide > 64 ? (
        <>
          <b>{g + 1}</b> <small>{formatCount(tree.size[node])}</small>
        </>
      ) : wide > 14 ? (
        <b>{g + 1}</b>
      ) : null;
    const place = {
      left: `${at.left + left}px`,
      width: `${Math.max(2, wide - 1)}px`,
      top: `${at.boxes}px`,
      borderTopColor: node === selected ? undefined : shades[g],
    };
    const title = `Group ${g + 1}: ${plural(tree.size[node], "clustering")}`;
    const pick = (/** @type {MouseEvent} */ event) => {
      markClick(event);
      selectNode(store, node);
    };
    const twice = (/** @type {MouseEvent} */ event) => {
      event.stopPropagation();
      splitAt(store, node);
    };
    const stay = (/** @type {Event} */ event) => event.stopPropagation();
    const isButton = wide >= TARGET; // a narrower one is hard to hit: the group's tile does the same
    const Box = isButton ? "button" : "span";
    return (
      <Box
        key={node}
        class="group-box"
        role={isButton ? undefined : "presentation"}
        aria-pressed={isButton ? node === selected : undefined}
        title={title}
        style={place}
        onPointerDown={stay}
        onPointerUp={stay}
        onDblClick={twice}
        onClick={pick}
      >
        {isButton ? <span class="hidden">group</span> : null}
        {words}
      </Box>
    );
  });
  const rest = seen.length - boxes.length;
  return (
    <>
      {boxes}
      {rest > 0 ? (
        <span class="group-rest note" style={{ top: `${at.boxes - 18}px` }}>
          {plural(rest, "smaller group")} without a mark here: zoom in, or turn to the table
        </span>
      ) : null}
    </>
  );
}

/** What the pointer is on. @param {{node: number}} props */
export function BranchTip({ node }) {
  const store = useStore();
  const tree = store.tree.value;
  const { scores } = store.session.value;
  const means = useMemo(
    () => scores.slice(0, 6).map((one) => branchMeans(tree, /** @type {any} */ (store.score(one.name)))),
    [tree],
  );
  const group = store.groups.value.indexOf(groupAbove(tree, store.groups.value, node));
  const leaf = tree.isLeaf(node);
  const height = store.session.value.linkage === "ward" ? "height" : "difference";
  return (
    <>
      <b>{leaf ? sentence(clusteringName(store, node)) : `Branch of ${formatCount(tree.size[node])} clusterings`}</b>
      <span>
        {group < 0 ? "above the groups" : `in group ${group + 1}`}
        {leaf ? "" : `, merged at ${height} ${formatNumber(tree.height[node], 3)}`}
      </span>
      {means.map((mean, s) => (
        <span>
          {leaf ? "" : "mean of "}
          {scoreWords(scores[s].name)} {formatNumber(mean[node], 3)}
        </span>
      ))}
    </>
  );
}
