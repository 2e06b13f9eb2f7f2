// The selected clustering, large, with what can be done to it.

import { useEffect, useRef, useState } from "preact/hooks";
import { askForMore, clusteringName, compare, describe, isKept, keep, pin, sentence } from "../core/commands.js";
import { formatNumber, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { markDrawn } from "../core/timing.js";
import { nodeOf } from "../core/tree.js";
import { Canvas, Tip, useSize } from "../draw/canvas.jsx";
import { nearest } from "../draw/raster.js";
import { drawTile, maskOf } from "../draw/tiles.js";
import { GroupMark, scoreOf } from "./group_mark.jsx";

export function BigTile() {
  const store = useStore();
  const ref = store.selected.value;
  const { pin: pinned, tray } = store.view.value;
  const { can, more_like_note: why } = store.session.value;
  if (!ref) return null;
  const node = nodeOf(store.tree.value, ref);
  const group = store.groups.value.indexOf(node);
  const shown = store.labels.get(ref);
  const score = scoreOf(store, ref, node);
  const kept = tray.some((one) => isKept(store, one, ref));
  return (
    <section class="big-tile" aria-label="Selected clustering">
      <header>
        {group >= 0 ? <GroupMark group={group} /> : null}
        <strong title={describe(store, ref)}>{sentence(describe(store, ref))}</strong>
      </header>
      <p class="note" title={score?.title}>
        {[
          shown ? plural(shown.clusters, "cluster") : "asking …",
          score && `${store.view.value.y} ${score.text}`,
          shown?.leaf != null && node >= store.tree.value.m ? clusteringName(store, shown.leaf) : "",
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <Picture reference={ref} />
      <div class="actions" role="group" aria-label="With this clustering">
        <button
          aria-pressed={pinned === ref}
          title="Pin: colors of all tiles follow this clustering"
          onClick={() => pin(store, ref)}
        >
          Pin<kbd>P</kbd>
        </button>
        <button title="Compare with the pinned clustering" onClick={() => compare(store, ref)}>
          Compare<kbd>X</kbd>
        </button>
        <button
          disabled={kept}
          title={kept ? "In the tray already" : "Put it into the tray, to be exported"}
          onClick={() => keep(store, ref)}
        >
          Keep<kbd>S</kbd>
        </button>
        <button
          disabled={!can.more_like}
          title={can.more_like ? "More like this: make clusterings around this one" : why}
          onClick={() => askForMore(store, ref)}
        >
          More<kbd>R</kbd>
        </button>
      </div>
    </section>
  );
}

/** @param {{reference: string}} props */
function Picture({ reference }) {
  const store = useStore();
  const shown = store.labels.get(reference);
  const slots = store.labels.slots(reference);
  const { cluster } = store.view.value;
  const [ref, size] = useSize();
  const [hover, setHover] = useState(/** @type {{x: number, y: number, object: number} | null} */ (null));
  const last = useRef(/** @type {any} */ (null));
  const xy = store.boot.value.arrays.xy;
  if (shown && slots) last.current = { shown, slots };
  const now = last.current; // the picture before stays until the next one is there
  /** @param {PointerEvent} event */
  const near = (event) => {
    const box = ref.current.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const object = nearest(
      { width: Math.round(size.width * size.ratio), height: Math.round(size.height * size.ratio) },
      xy,
      x * size.ratio,
      y * size.ratio,
      8 * size.ratio,
    );
    return object < 0 ? null : { x, y, object };
  };
  return (
    <div
      class="plot big-picture"
      ref={ref}
      aria-busy={!shown}
      onPointerMove={(event) => setHover(near(event))}
      onPointerLeave={() => setHover(null)}
    >
      {now ? (
        <Canvas
          size={size}
          deps={[xy, now.shown, now.slots, cluster]}
          label={`Objects colored by the ${describe(store, reference)}`}
          draw={(canvas, context, theme) => {
            const start = performance.now();
            drawTile(canvas, context, theme, size, xy, now.shown, now.slots, {
              mask: cluster >= 0 ? maskOf(now.shown.labels, cluster) : null,
              cluster,
              numbers: true,
            });
            markDrawn(start);
          }}
        />
      ) : null}
      <Tip at={hover} size={size}>
        {hover && now ? <ObjectWords object={hover.object} shown={now.shown} /> : null}
      </Tip>
    </div>
  );
}

/**
 * An object under the pointer; its id and its cluster's name are asked for once the pointer rests.
 * @param {{object: number, shown: import("../core/labels.js").Shown}} props
 */
function ObjectWords({ object, shown }) {
  const store = useStore();
  const [known, setKnown] = useState({ object: -1, id: "", name: /** @type {any} */ (null) });
  useEffect(() => {
    let left = false;
    const timer = setTimeout(async () => {
      try {
        const answer = await store.transport.get(`/api/objects/${shown.ref}?start=${object}&count=1&order=index`);
        const { rows } = /** @type {import("../core/messages.js").Objects} */ (answer.json);
        if (!left) setKnown({ object, id: String(rows[0]?.id ?? ""), name: rows[0]?.name });
      } catch (error) {
        if (!left) store.fail(error);
      }
    }, 150);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [object, shown.ref]);
  const label = shown.labels[object];
  const name = known.object === object ? (known.name ?? label) : label;
  const support = shown.support && shown.support[object] < 255 ? shown.support[object] / 254 : null;
  return (
    <>
      <b>{known.object === object && known.id ? known.id : `Object ${object}`}</b>
      <span>
        {label < shown.clusters ? `cluster ${name}` : "no label"}
        {support === null ? "" : `, support ${formatNumber(support, 2)}`}
      </span>
    </>
  );
}
