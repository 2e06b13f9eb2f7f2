// The data, large and always in sight, in the colors of the selected clustering, with what can be done to it.

import { useMemo, useRef, useState } from "preact/hooks";
import { useAnswer, useObject } from "../core/answers.js";
import { askForMore, clusteringName, compare, describe, isKept, keep, pin, sentence, the } from "../core/commands.js";
import { formatNumber, plural } from "../core/format.js";
import { letPickedGo, pick } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { markDrawn } from "../core/timing.js";
import { nodeOf } from "../core/tree.js";
import { openBranch } from "../core/walk.js";
import { Canvas, pointIn, pointNear, Tip, useSize } from "../draw/canvas.jsx";
import { drawLasso, drawRings, rowsInSight, rowsInside } from "../draw/lasso.js";
import { drawTile, maskOf } from "../draw/tiles.js";
import { enlarged, shifted, WHOLE } from "../draw/window.js";
import { bestKnown, GroupMark } from "./group_mark.jsx";
import { Guidance } from "./guidance.jsx";
import { LooksOf } from "./looks.jsx";
import { Legend, PictureTools } from "./picture_tools.jsx";
import { SavePicture } from "./save_picture.jsx";
import { Term } from "./term.jsx";

export function PictureView() {
  const store = useStore();
  const ref = store.selected.value;
  if (!ref) return null;
  const node = nodeOf(store.tree.value, ref);
  const group = store.groups.value.indexOf(node);
  const shown = store.labels.get(ref);
  const { embedding } = store.session.value;
  const about = [
    shown ? plural(shown.clusters, "cluster") : "asking …",
    bestKnown(store, ref, node)?.text,
    shown?.leaf != null && node >= store.tree.value.m ? `this is ${clusteringName(store, shown.leaf)}` : "",
  ];
  return (
    <div class="picture-place">
      <section class="panel picture" id="panel-picture" aria-label="Picture of the data">
        <header>
          {group >= 0 ? <GroupMark group={group} /> : null}
          <h2 id="title-picture" title={describe(store, ref)}>
            {sentence(describe(store, ref))}
          </h2>
          <p class="note">{about.filter(Boolean).join(" · ")}</p>
          <SavePicture id="picture" title={sentence(describe(store, ref))} name="the data" />
        </header>
        <Guidance />
        <PictureTools />
        <Picture reference={ref} />
        <Legend />
        <div class="picture-foot">
          <p class="note" title="Where the objects stand in every picture">
            {store.plane.value?.note ?? embedding.note}
            {shown?.support && !store.colored.value ? (
              <>
                {" · ○ "}
                <Term word="floater" />
              </>
            ) : null}
          </p>
          <ZoomButtons />
        </div>
        <PickedBar />
        <Actions reference={ref} />
      </section>
    </div>
  );
}

/** What is picked, in a line, and what can be asked of it. */
function PickedBar() {
  const store = useStore();
  const n = store.picked.value.length;
  if (!n) return null;
  return (
    <p class="picked-bar">
      <b>{plural(n, "object")} picked</b>
      <button class="link" onClick={() => askAboutPicked(store)}>
        How are they treated?
      </button>
      <button class="link" onClick={() => letPickedGo(store)}>
        let go
      </button>
    </p>
  );
}

/** @param {import("../core/store.js").Store} store */
function askAboutPicked(store) {
  store.go({ tab: "picked" });
  requestAnimationFrame(() => document.getElementById("panel-picked")?.scrollIntoView({ block: "nearest" }));
}

/** What can be done with a clustering. @param {{reference: string}} props */
function Actions({ reference: ref }) {
  const store = useStore();
  const { pin: pinned, tray } = store.view.value;
  const { can, more_like_note: why } = store.session.value;
  const kept = tray.some((one) => isKept(store, one, ref));
  const node = nodeOf(store.tree.value, ref);
  return (
    <div class="actions" role="group" aria-label="With this clustering">
      <button
        aria-pressed={pinned === ref}
        title="Pin: colors of all tiles follow this clustering"
        onClick={() => pin(store, ref)}
      >
        Pin<kbd>P</kbd>
      </button>
      <button
        disabled={node < 0 || store.tree.value.size[node] < 2 || node === store.top.value}
        title="Open this branch: the groups inside it take the place of all"
        onClick={() => openBranch(store, node)}
      >
        Open<kbd>O</kbd>
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
  );
}

const STILL = 4; // pixels that a click may move
const STEP = 1.5; // of the zoom buttons
const PACE = 0.2; // of what is in sight, by an arrow

/** @param {{reference: string}} props */
function Picture({ reference }) {
  const store = useStore();
  const shown = store.labels.get(reference);
  const slots = store.labels.slots(reference);
  const { cluster } = store.view.value;
  const window = store.window.value;
  const [ref, size] = useSize();
  const [hover, setHover] = useState(/** @type {{x: number, y: number, object: number} | null} */ (null));
  const held = useRef(/** @type {{x: number, y: number, window: import("../draw/window.js").Window} | null} */ (null));
  const last = useRef(/** @type {any} */ (null));
  const [line, setLine] = useState(/** @type {{x: number, y: number}[] | null} */ (null));
  const xy = store.xy.value;
  const picked = store.picked.value;
  const lit = store.pickedMask.value;
  const colored = store.colored.value;
  const words = useClusterNames(reference);
  if (shown && slots) last.current = { shown, slots };
  const now = last.current; // the picture before stays until the next one is there
  const names = now?.shown.names ?? words;
  const look = (/** @type {import("../draw/window.js").Window} */ to) => {
    store.window.value = to;
  };
  const where = (/** @type {MouseEvent} */ event) => pointIn(ref, event);
  /** @param {PointerEvent} event */
  const near = (event) => {
    const object = pointNear(size, xy, where(event), 8, window);
    return object < 0 ? null : { ...where(event), object };
  };
  /** @param {PointerEvent} event */
  const move = (event) => {
    const from = held.current;
    const { x, y } = where(event);
    if (line) return setLine([...line, { x, y }]);
    if (!from) return setHover(near(event));
    look(shifted(from.window, (from.x - x) / size.width, (y - from.y) / size.height));
  };
  /** A line picks what is inside it; a click without one picks the object there. @param {PointerEvent} event */
  const drop = (event) => {
    const from = held.current;
    held.current = null;
    setLine(null);
    if (!from) return;
    const { x, y } = where(event);
    if (line && line.length > 3) {
      pick(store, rowsInside(line, xy, size, window), { add: event.shiftKey && store.lasso.value });
    } else if (Math.hypot(x - from.x, y - from.y) < STILL) {
      const found = near(event);
      if (found) pick(store, [found.object], { add: event.shiftKey });
      else if (picked.length && !event.shiftKey) letPickedGo(store);
    }
  };
  /** @param {WheelEvent} event */
  const wheel = (event) => {
    if (event.deltaY > 0 && window.k <= 1) return; // nothing to see farther out: the page scrolls
    event.preventDefault();
    const { x, y } = where(event);
    look(enlarged(window, x / size.width, 1 - y / size.height, 1.002 ** -event.deltaY));
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    const to = /** @type {Record<string, () => import("../draw/window.js").Window>} */ ({
      ArrowLeft: () => shifted(window, -PACE, 0),
      ArrowRight: () => shifted(window, PACE, 0),
      ArrowUp: () => shifted(window, 0, PACE),
      ArrowDown: () => shifted(window, 0, -PACE),
      "+": () => enlarged(window, 0.5, 0.5, STEP),
      "=": () => enlarged(window, 0.5, 0.5, STEP),
      "-": () => enlarged(window, 0.5, 0.5, 1 / STEP),
      0: () => WHOLE,
    })[event.key];
    if (event.key === "Enter" && event.target === ref.current) {
      event.preventDefault();
      return pick(store, rowsInSight(xy, window), { add: event.shiftKey, what: "all in sight" });
    }
    if (!to || event.ctrlKey || event.metaKey || event.altKey || (event.key.startsWith("Arrow") && window.k <= 1))
      return;
    event.preventDefault();
    look(to());
  };
  return (
    <div
      class={`plot big-picture ${store.lasso.value ? "lasso" : window.k > 1 ? "enlarged" : ""}`}
      ref={ref}
      aria-busy={!shown}
      tabindex={0}
      role="group"
      aria-label="The objects: plus and minus zoom, arrows move, 0 shows all, Enter picks what is in sight"
      onPointerDown={(event) => {
        if (event.button || event.target !== ref.current) return;
        held.current = { ...where(event), window };
        if (store.lasso.value || event.shiftKey) setLine([where(event)]);
        ref.current.setPointerCapture(event.pointerId);
      }}
      onPointerMove={move}
      onPointerUp={drop}
      onPointerCancel={() => {
        held.current = null;
        setLine(null);
      }}
      onPointerLeave={() => setHover(null)}
      onDblClick={(event) => event.target === ref.current && look(WHOLE)}
      onWheel={wheel}
      onKeyDown={key}
    >
      {now ? (
        <Canvas
          size={size}
          deps={[xy, now.shown, now.slots, cluster, window, lit, colored, names]}
          label={`Objects colored by ${colored ? colored.name : the(store, reference)}`}
          draw={(canvas, context, theme) => {
            const start = performance.now();
            const what = colored
              ? { ...now.shown, labels: colored.codes, clusters: colored.classes.length, support: null }
              : now.shown;
            drawTile(canvas, context, theme, size, xy, what, colored ? colored.classes.map((_, at) => at) : now.slots, {
              mask: lit ?? (cluster >= 0 ? maskOf(now.shown.labels, cluster) : null),
              cluster: colored ? -1 : cluster,
              numbers: !colored,
              names,
              window,
            });
            drawRings(context, theme, size, xy, picked, window, 6.5);
            markDrawn(start);
          }}
        />
      ) : null}
      {line ? <Canvas size={size} deps={[line]} draw={(_, context, theme) => drawLasso(context, theme, line)} /> : null}
      <Tip at={held.current ? null : hover} size={size}>
        {hover && now ? <ObjectWords object={hover.object} shown={now.shown} /> : null}
      </Tip>
    </div>
  );
}

/** Words that name the clusters of counts, once they are known. @param {string} ref @returns {string[] | null} */
function useClusterNames(ref) {
  const { counts } = useStore().session.value;
  /** @type {import("../core/answers.js").Answer<import("../core/messages.js").Detail>} */
  const answer = useAnswer(counts ? `/api/detail/${ref}` : null);
  const found = answer.fresh ? answer.value?.features : null;
  return useMemo(() => found?.map((one) => one.called?.slice(0, 2).join(" ") ?? "") ?? null, [found]);
}

/** Under the picture, where they cover nothing. */
function ZoomButtons() {
  const store = useStore();
  const window = store.window.value;
  const look = (/** @type {import("../draw/window.js").Window} */ to) => {
    store.window.value = to;
  };
  return (
    <span class="zoom" role="group" aria-label="Zoom the objects">
      <button
        class="icon"
        aria-label="Objects larger"
        title="Zoom in (wheel; drag to move)"
        onClick={() => look(enlarged(window, 0.5, 0.5, STEP))}
      >
        +
      </button>
      <button
        class="icon"
        aria-label="Objects smaller"
        title="Zoom out"
        disabled={window.k <= 1}
        onClick={() => look(enlarged(window, 0.5, 0.5, 1 / STEP))}
      >
        −
      </button>
      <button
        class="icon"
        aria-label="All objects"
        title="All objects (double click)"
        disabled={window.k <= 1}
        onClick={() => look(WHOLE)}
      >
        ⤢
      </button>
    </span>
  );
}

/**
 * An object under the pointer; its id and its cluster's name are asked for once the pointer rests.
 * @param {{object: number, shown: import("../core/labels.js").Shown}} props
 */
function ObjectWords({ object, shown }) {
  const known = useObject(shown.ref, object);
  const label = shown.labels[object];
  const support = shown.support && shown.support[object] < 255 ? shown.support[object] / 254 : null;
  return (
    <>
      <b>{known?.id ?? `Object ${object}`}</b>
      {known ? <LooksOf rows={[object]} side={64} /> : null}
      <span>
        {label < shown.clusters ? `cluster ${known?.name ?? label}` : "no label"}
        {support === null ? "" : `, support ${formatNumber(support, 2)}`}
      </span>
    </>
  );
}
