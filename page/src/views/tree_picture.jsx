// The tree drawn: pointer and wheel turned into places and levels of it.

import { useRef, useState } from "preact/hooks";
import { cutInto } from "../core/commands.js";
import { groupAbove } from "../core/groups.js";
import { useStore } from "../core/store.js";
import { markClick } from "../core/timing.js";
import { nodeOf } from "../core/tree.js";
import { joinAt, prefetch, selectNode, splitAt } from "../core/walk.js";
import { branchAt, groupsAt, moved, scales, zoomed } from "../draw/branches.js";
import { Canvas, pointIn, Tip, useSize } from "../draw/canvas.jsx";
import { drawBase, drawMarks, layout, nodeColors } from "../draw/tree.js";
import { BranchTip, GroupBoxes } from "./tree_groups.jsx";

const NEAR = 6; // pixels from which the cut line is taken up

/** @typedef {import("../draw/branches.js").Span} Span */

/** @param {{span: Span, setSpan: (span: Span) => void}} props */
export function TreePicture({ span, setSpan }) {
  const store = useStore();
  const tree = store.tree.value;
  const groups = store.groups.value;
  const { cut, color, pin } = store.view.value;
  const top = store.top.value;
  const [ref, size] = useSize();
  const [hover, setHover] = useState(/** @type {{x: number, y: number, node: number} | null} */ (null));
  const [onCut, setOnCut] = useState(false);
  const drag = useRef(/** @type {any} */ (null));
  const at = layout(size);
  const scale = scales(tree, span, at.width, at.height, top);
  const marks = {
    groups,
    plain: tree.cut(cut, [], [], top),
    cut,
    top,
    selected: store.selectedNode.value,
    pinned: nodeOf(tree, pin),
    hovered: hover ? hover.node : -1,
    brushed: store.brushed.value,
  };
  const shade = store.session.value.scores.find((one) => one.name === color) ?? null;

  const where = (/** @type {MouseEvent} */ event) => pointIn(ref, event);
  /** @param {{x: number, y: number}} point */
  const inside = (point) => point.x >= at.left && point.x <= at.left + at.width && point.y <= at.top + at.height;
  /** @param {{x: number, y: number}} point */
  const nodeAt = (point) => branchAt(tree, scale.place(point.x - at.left), scale.level(point.y - at.top - 3));
  const nearCut = (/** @type {{x: number, y: number}} */ point) =>
    inside(point) && Math.abs(point.y - at.top - scale.y(tree.cutHeight(cut, top))) <= NEAR;

  /** @param {PointerEvent} event */
  const down = (event) => {
    if (event.button) return;
    const point = where(event);
    const kind = point.y >= at.mini.top ? "mini" : nearCut(point) ? "cut" : inside(point) ? "pan" : "";
    drag.current = kind ? { kind, x: point.x, span, far: false } : null;
    if (kind && event.pointerType !== "touch") ref.current.setPointerCapture(event.pointerId); // a swipe scrolls
    if (kind === "mini") toMini(point.x);
    if (kind === "pan") prefetch(store, nodeAt(point));
  };
  const toMini = (/** @type {number} */ x) =>
    setSpan(moved(tree, span, ((x - at.left) / at.width) * tree.m - (span.from + span.to) / 2));
  /** @param {PointerEvent} event */
  const move = (event) => {
    const point = where(event);
    const held = drag.current;
    if (!held) {
      setOnCut(nearCut(point));
      return setHover(inside(point) && !nearCut(point) ? { ...point, node: nodeAt(point) } : null);
    }
    held.far ||= Math.abs(point.x - held.x) > 4;
    if (held.kind === "cut") cutInto(store, groupsAt(tree, scale.level(point.y - at.top), top), true);
    else if (held.kind === "mini") toMini(point.x);
    else if (held.far)
      setSpan(moved(tree, held.span, ((held.x - point.x) / at.width) * (held.span.to - held.span.from)));
  };
  /** @param {PointerEvent} event */
  const up = (event) => {
    const held = drag.current;
    drag.current = null;
    if (held?.kind === "cut") store.settle();
    if (held?.kind !== "pan" || held.far) return;
    markClick(event);
    selectNode(store, nodeAt(where(event)));
  };
  /** @param {MouseEvent} event */
  const twice = (event) => {
    const point = where(event);
    if (!inside(point) || nearCut(point)) return;
    const node = nodeAt(point);
    if (groupAbove(tree, groups, node) >= 0) splitAt(store, node);
    else joinAt(store, node);
  };
  /** @param {WheelEvent} event */
  const wheel = (event) => {
    if (!event.ctrlKey && document.activeElement !== ref.current) return; // until the tree is clicked the page scrolls
    event.preventDefault();
    const place = scale.place(where(event).x - at.left) + 0.5;
    const across = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    setSpan(
      across
        ? moved(tree, span, (event.deltaX / at.width) * (span.to - span.from))
        : zoomed(tree, span, place, 1.0015 ** event.deltaY),
    );
  };

  return (
    <div
      class={`plot tree-plot ${onCut ? "on-cut" : ""}`}
      ref={ref}
      tabindex={0}
      role="group"
      aria-label="Tree of clusterings: arrow keys walk it, brackets split and join groups"
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => {
        drag.current = null;
      }}
      onPointerLeave={() => setHover(null)}
      onDblClick={twice}
      onWheel={wheel}
    >
      <Canvas
        size={size}
        label={`Tree of ${tree.m} clusterings cut into ${groups.length} groups`}
        deps={[tree, groups, shade, span.from, span.to, top]}
        draw={(_canvas, context, theme) =>
          drawBase(
            context,
            theme,
            size,
            tree,
            span,
            top,
            nodeColors(tree, groups, shade, shade && store.score(color), theme),
            store.session.value.linkage === "ward" ? "height of the merge (Ward)" : "difference between branches",
          )
        }
      />
      <Canvas
        size={size}
        deps={[tree, groups, span.from, span.to, cut, top, marks.selected, marks.pinned, marks.hovered, marks.brushed]}
        draw={(_canvas, context, theme) => drawMarks(context, theme, size, tree, span, marks)}
      />
      <GroupBoxes at={at} scale={scale} span={span} />
      <Tip at={drag.current ? null : hover} size={size}>
        {hover ? <BranchTip node={hover.node} /> : null}
      </Tip>
    </div>
  );
}
