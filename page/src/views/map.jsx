// The map: clusterings as points, alike ones close together, with what it distorts written on it.

import { useEffect, useMemo, useState } from "preact/hooks";
import { decode } from "../core/codec.js";
import { clusteringName } from "../core/commands.js";
import { formatNumber } from "../core/format.js";
import { startJob } from "../core/jobs.js";
import { useStore } from "../core/store.js";
import { markClick } from "../core/timing.js";
import { Refusal } from "../core/transport.js";
import { selectNode } from "../core/walk.js";
import { Canvas, pointIn, pointNear, Tip, useSize } from "../draw/canvas.jsx";
import { groupShades } from "../draw/palette.js";
import { cloudOf, drawCloud, drawSpots, fitted, groupSpots, leafOf, placesOf, useSpot } from "../draw/points.js";
import { LeafTip } from "./leaf_tip.jsx";
import { PagedTable } from "./paged_table.jsx";
import { Panel } from "./panel.jsx";
import { Segmented } from "./parts.jsx";

/** @typedef {import("../core/messages.js").MapMessage} MapMessage */

const KINDS = [
  ["mds", "distances", "Multidimensional scaling: distances on the map follow the differences between clusterings"],
  ["neighbors", "neighbors", "A neighbor map: the most alike clusterings stay together, far distances mean little"],
];

/**
 * The map of the kind in view, asked for once the first picture stands: `found` or an `error`, and a way to ask
 * `again`.
 */
function useMap() {
  const store = useStore();
  const { map: kind } = store.view.value;
  const key = `${kind} ${store.snapshot.value}`;
  const [maps, setMaps] = useState(/** @type {Record<string, {found?: MapMessage, error?: string}>} */ ({}));
  const put = (/** @type {{found?: MapMessage, error?: string}} */ one) => setMaps((old) => ({ ...old, [key]: one }));
  const isSlow = kind === "neighbors" && store.tree.value.m >= (store.session.value.limits.quick_map ?? Infinity);
  const job = store.job.value;
  const isOurs = job?.kind === "map" && job.revision === store.boot.value.header.revision;
  const state = isOurs ? job.state : "";
  const isFree = job?.state !== "running";
  useEffect(() => {
    if (maps[key]) return;
    if (isSlow && !state && isFree) startJob(store, { kind: "map" });
    if (isSlow && (state === "canceled" || state === "failed")) {
      put({ error: "The map was not finished." });
      store.job.value = null;
    }
    if (isSlow && state !== "done") return;
    let left = false;
    const timer = setTimeout(async () => {
      try {
        const answer = await store.transport.get(`/api/map/${kind}`);
        const found = /** @type {MapMessage} */ (/** @type {unknown} */ (decode(answer.buffer)));
        if (left) return;
        if (found.header.revision === store.boot.value.header.revision) put({ found });
        else store.open(); // another page added clusterings
      } catch (error) {
        if (left) return;
        if (error instanceof Refusal && error.status >= 400 && error.status !== 401) put({ error: error.message });
        else store.fail(error);
      }
    }, 50);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [key, maps[key], state, isFree]);
  const again = () => setMaps(({ [key]: _, ...others }) => others);
  return { ...maps[key], again };
}

export function MapView() {
  const store = useStore();
  const { map: kind } = store.view.value;
  const { found, error, again } = useMap();
  const tools = <Segmented label="Kind of map" options={KINDS} value={kind} onPick={(map) => store.go({ map })} />;
  const waiting = error ? (
    <p class="empty" role="alert">
      {error} <button onClick={again}>Try again</button>
    </p>
  ) : (
    <p class="empty" role="status">
      drawing the map …
    </p>
  );
  return (
    <Panel
      id="map"
      title="Map"
      tools={tools}
      note={found ? distortion(found.header) : null}
      table={() => (found ? <MapTable map={found} /> : waiting)}
    >
      {found ? <MapPicture map={found} /> : waiting}
    </Panel>
  );
}

/** How far the map can be trusted. @param {MapMessage["header"]} header */
export function distortion({ stress, kept, n_neighbors: count, note }) {
  const trust =
    stress === null
      ? ""
      : stress < 0.1
        ? "distances on this map are faithful"
        : stress < 0.2
          ? "distances on this map are fair"
          : "distances on this map are rough";
  const parts = [
    stress === null ? "" : `Stress ${formatNumber(stress, 2)}: ${trust}`,
    kept === null ? "" : `${Math.round(100 * kept)} % of the ${count} nearest neighbors kept`,
  ].filter(Boolean);
  return <span title={note || undefined}>{parts.join("; ")}.</span>;
}

/** @param {{map: MapMessage}} props */
function MapPicture({ map }) {
  const store = useStore();
  const { sel, pin } = store.view.value;
  const groups = store.groups.value;
  const brushed = store.brushed.value;
  const [ref, size] = useSize();
  const [hover, setHover] = useState(/** @type {{x: number, y: number, leaf: number} | null} */ (null));
  const xy = useMemo(() => fitted(map.arrays.xy, size.width || 1, size.height || 1), [map, size.width, size.height]);
  const branch = store.selectedNode.value;
  const cloud = useMemo(
    () => cloudOf(xy, store.groupOf.value, brushed, groups.length, branch < 0 ? [] : store.tree.value.leaves(branch)),
    [xy, groups, brushed, branch],
  );
  const place = placesOf(cloud.leaf.length, size);
  const spots = groupSpots(store, xy);
  const selected = useSpot(store, sel, xy);
  const pinned = useSpot(store, pin, xy);
  /** @param {MouseEvent} event */
  const near = (event) => {
    const place = pointIn(ref, event);
    const at = pointNear(size, cloud.xy, place, 12);
    return at < 0 ? null : { ...place, leaf: cloud.leaf[at] };
  };
  return (
    <div
      class="plot map-plot"
      ref={ref}
      onPointerMove={(event) => setHover(near(event))}
      onPointerLeave={() => setHover(null)}
      onClick={(event) => {
        const found = near(event);
        if (!found) return;
        markClick(event);
        selectNode(store, found.leaf);
      }}
    >
      <Canvas
        size={size}
        deps={[cloud]}
        label={`Map of ${cloud.leaf.length} clusterings; click to select one`}
        draw={(canvas, _context, theme) =>
          drawCloud(canvas, theme, cloud, groupShades(store.tree.value, groups, theme.dark))
        }
      />
      <Canvas
        size={size}
        deps={[cloud, spots.map((one) => one.at).join(), String(selected), String(pinned)]}
        draw={(_canvas, context, theme) => drawSpots(context, theme, place, spots, selected, pinned)}
      />
      <Tip at={hover} size={size}>
        {hover ? <LeafTip leaf={hover.leaf} /> : null}
      </Tip>
    </div>
  );
}

/** @param {{map: MapMessage}} props */
function MapTable({ map }) {
  const store = useStore();
  const { sel } = store.view.value;
  const leaves = store.brushed.value ?? store.tree.value.order;
  const xy = map.arrays.xy;
  return (
    <PagedTable
      caption={
        store.brushed.value ? "Brushed clusterings on the map" : "Clusterings on the map, alike ones near each other"
      }
      heads={["clustering", "group", "across", "up"]}
      count={leaves.length}
      row={(at) => [
        clusteringName(store, leaves[at]),
        store.groupOf.value[leaves[at]] + 1,
        formatNumber(xy[2 * leaves[at]], 3),
        formatNumber(xy[2 * leaves[at] + 1], 3),
      ]}
      picked={sel ? leaves.indexOf(leafOf(store, sel) ?? -1) : -1}
      onPick={(at) => selectNode(store, leaves[at])}
    />
  );
}
