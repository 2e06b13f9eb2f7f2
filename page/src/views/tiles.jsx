// The objects colored by every group's representative, colors aligned to the pinned clustering.

import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { clusteringName, shownBy } from "../core/commands.js";
import { formatCount, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { markClick, markFirst } from "../core/timing.js";
import { selectNode } from "../core/walk.js";
import { Canvas, useSize } from "../draw/canvas.jsx";
import { drawRings } from "../draw/lasso.js";
import { leafOf } from "../draw/points.js";
import { drawTile, maskOf } from "../draw/tiles.js";
import { Cut, Representatives } from "./cut.jsx";
import { bestKnown, GroupMark } from "./group_mark.jsx";
import { Panel, Table } from "./panel.jsx";
import { StableLine } from "./stable_line.jsx";
import { Trail } from "./trail.jsx";

const LEAST = 136;
const MOST = 168;
const GAP = 8;
const SIDE = 12;
const ROWS = 2;
const LINES = 42; // a tile's width in pixels, the space between and beside them, and of its words

export function TilesView() {
  const store = useStore();
  const groups = store.groups.value.length;
  const inside = store.view.value.open.length ? "within this branch" : "to group your data";
  const title = `${groups === 1 ? "One way" : `${formatCount(groups)} ways`} ${inside}`;
  const tools = (
    <>
      <Cut />
      <Representatives />
    </>
  );
  return (
    <Panel id="tiles" title={title} name="Tiles" tools={tools} table={() => <TilesTable />}>
      <Trail />
      <StableLine />
      <SmallTiles />
    </Panel>
  );
}

/** As many groups as there is room for, page by page; the selected one's page comes up by itself. */
function SmallTiles() {
  const store = useStore();
  const count = store.groups.value.length;
  const group = store.groups.value.indexOf(store.selectedNode.value);
  const [ref, box] = useSize();
  const room = { ...box, width: Math.max(0, box.width - 2 * SIDE) };
  const [page, setPage] = useState(0);
  const columns = Math.max(2, Math.min(count, Math.floor((room.width + GAP) / (LEAST + GAP))));
  const most = columns * ROWS;
  const pages = Math.max(1, Math.ceil(count / most));
  const at = Math.min(page, pages - 1);
  const start = at * most;
  const end = Math.min(count, start + most);
  useEffect(() => {
    if (group >= 0) setPage(Math.floor(group / most));
  }, [group, most, store.view.value.sel]);
  return (
    <div class="small-tiles" ref={ref}>
      {room.width ? <Grid start={start} end={end} columns={columns} room={room} /> : null}
      {pages > 1 ? (
        <div class="pager" role="group" aria-label="Pages of tiles">
          <button class="quiet" aria-label="Earlier groups" disabled={at === 0} onClick={() => setPage(at - 1)}>
            ‹
          </button>
          <span>
            groups {start + 1}–{end} of {count}
          </span>
          <button class="quiet" aria-label="Later groups" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            ›
          </button>
        </div>
      ) : null}
    </div>
  );
}

/** @param {{start: number, end: number, columns: number, room: import("../draw/canvas.jsx").Size}} props */
function Grid({ start, end, columns, room }) {
  const store = useStore();
  const refs = store.representatives.value.slice(start, end);
  const mask = usePicked();
  const width = Math.floor(Math.min(MOST, (room.width - GAP * (columns - 1)) / columns));
  const size = useMemo(
    () => ({ width: width - 2, height: Math.round(0.8 * width), ratio: room.ratio }),
    [width, room.ratio],
  );
  const ready = refs.every((ref) => store.labels.slots(ref));
  useLayoutEffect(() => {
    if (ready) markFirst();
  });
  return (
    <div class="tile-rows" style={{ gridTemplateColumns: `repeat(${columns}, ${width}px)` }}>
      {refs.map((ref, i) => (
        <Tile key={start + i} reference={ref} group={start + i} size={size} mask={mask} />
      ))}
    </div>
  );
}

/** Which objects are lit: those picked, or in the cluster picked out of the selected clustering; null if none is. */
function usePicked() {
  const store = useStore();
  const picked = store.pickedMask.value;
  const { cluster } = store.view.value;
  const ref = store.selected.value;
  const shown = cluster >= 0 && ref ? store.labels.get(ref) : null;
  return useMemo(() => picked ?? (shown ? maskOf(shown.labels, cluster) : null), [picked, shown, cluster]);
}

/**
 * @param {{reference: string, group: number, size: import("../draw/canvas.jsx").Size, mask: Uint8Array | null}} props
 */
function Tile({ reference, group, size, mask }) {
  const store = useStore();
  const shown = store.labels.get(reference);
  const slots = store.labels.slots(reference);
  const xy = store.xy.value;
  const picked = store.picked.value;
  const node = store.groups.value[group];
  const members = store.tree.value.size[node];
  const score = bestKnown(store, reference, node);
  const first = store.made.value?.first ?? Infinity;
  const fresh = useMemo(
    () => store.tree.value.leaves(node).reduce((sum, leaf) => sum + Number(leaf >= first), 0),
    [store.tree.value, node, first],
  );
  const words = [`group ${group + 1}: ${plural(members, "clustering")}, ${shownBy(store.view.value.rep)}`];
  if (score) words.push(score.title);
  return (
    <button
      class="tile"
      style={{ height: `${size.height + LINES}px` }}
      data-group={group + 1}
      aria-pressed={store.selected.value === reference}
      title={words.join("; ")}
      onClick={(event) => {
        markClick(event);
        selectNode(store, node);
      }}
    >
      <span class="tile-head">
        <GroupMark group={group} />
        <span>
          {formatCount(members)} <span class="hidden">{members === 1 ? "clustering" : "clusterings"}</span>
        </span>
        <span class="tile-clusters">{shown ? plural(shown.clusters, "cluster") : "…"}</span>
        {store.view.value.pin === reference ? (
          <span class="pin" title="Pinned: its colors rule">
            ▾
          </span>
        ) : null}
      </span>
      <span class="tile-picture" style={{ height: `${size.height}px` }}>
        {shown && slots ? (
          <Canvas
            size={size}
            deps={[xy, shown, slots, mask]}
            draw={(canvas, context, theme) => {
              drawTile(canvas, context, theme, size, xy, shown, slots, { mask });
              drawRings(context, theme, size, xy, picked, undefined, 3.5);
            }}
          />
        ) : null}
      </span>
      <span class="tile-foot">
        {fresh ? (
          <span class="fresh" title={`${fresh} of them were made last`}>
            {fresh} new
          </span>
        ) : null}
        <span>{score ? score.text : ""}</span>
      </span>
    </button>
  );
}

function TilesTable() {
  const store = useStore();
  const { rep } = store.view.value;
  const groups = store.groups.value;
  const refs = store.representatives.value;
  const rows = refs.map((ref, g) => {
    const shown = g < 64 ? store.labels.get(ref) : store.labels.known.get(ref)?.value;
    const leaf = leafOf(store, ref);
    const state = [store.selected.value === ref ? "selected" : "", store.view.value.pin === ref ? "pinned" : ""]
      .filter(Boolean)
      .join(", ");
    return [
      `group ${g + 1}`,
      store.tree.value.size[groups[g]],
      leaf === null ? "–" : clusteringName(store, leaf),
      shown ? shown.clusters : "–",
      bestKnown(store, ref, groups[g])?.text ?? "–",
      state,
    ];
  });
  return (
    <Table
      caption={`Groups ${shownBy(rep)}`}
      heads={["group", "clusterings", "medoid", "clusters", "closest to", "state"]}
      rows={rows}
      picked={groups.indexOf(store.selectedNode.value)}
      onPick={(row) => selectNode(store, groups[row])}
      most={500}
    />
  );
}
