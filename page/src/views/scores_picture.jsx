// The scatter of scores: axes, points, groups, brush and the null band.

import { useMemo, useRef, useState } from "preact/hooks";
import { plural, scoreWords } from "../core/format.js";
import { useStore } from "../core/store.js";
import { markClick } from "../core/timing.js";
import { selectNode } from "../core/walk.js";
import { Canvas, pointIn, pointNear, Tip, useSize } from "../draw/canvas.jsx";
import { font } from "../draw/font.js";
import { groupShades } from "../draw/palette.js";
import { cloudOf, drawCloud, drawSpots, groupSpots, placesOf, useSpot } from "../draw/points.js";
import { scaleLinear } from "../draw/scale.js";
import { LeafTip } from "./leaf_tip.jsx";
import { nullResult } from "./null_line.jsx";

const LEFT = 60;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 36;

/** @typedef {import("../core/messages.js").Score} Score */
/** @typedef {{x: number, y: number}} Point */

/** A scale over all known values, to round numbers. @param {(number | null)[]} values */
function span(values) {
  const known = /** @type {number[]} */ (values.filter((value) => value !== null && Number.isFinite(value)));
  const low = Math.min(...known);
  const high = Math.max(...known);
  const room = high > low ? 0.04 * (high - low) : 1; // the same for all: a few round numbers around it
  return known.length ? scaleLinear([low - room, high + room], [0, 1]) : scaleLinear([0, 1], [0, 1]);
}

/** @type {Score} */
const NONE = { name: "", low: 0, high: 1, better: null };

export function ScoresPicture() {
  const store = useStore();
  const { x, y, brush, sel, pin } = store.view.value;
  const { scores } = store.session.value;
  const [ref, outer] = useSize();
  const [hover, setHover] = useState(/** @type {(Point & {leaf: number}) | null} */ (null));
  const start = useRef(/** @type {Point | null} */ (null));
  const size = {
    width: Math.max(0, outer.width - LEFT - RIGHT),
    height: Math.max(0, outer.height - TOP - BOTTOM),
    ratio: outer.ratio,
  };
  const chance = nullResult(store);
  const boot = store.boot.value;
  const groups = store.groups.value;
  const brushed = store.brushed.value;
  const about = (/** @type {string} */ name) => scores.find((one) => one.name === name) ?? NONE;
  const across = useMemo(() => span([about(x).low ?? 0, about(x).high ?? 1]), [boot, x]);
  const up = useMemo(
    () =>
      span([
        about(y).low ?? 0,
        about(y).high ?? 1,
        ...(chance ? [chance.best, chance.null_mean - chance.null_sd, chance.null_mean + chance.null_sd] : []),
      ]),
    [boot, y, chance],
  );
  const xy = useMemo(() => {
    const xs = store.score(x);
    const ys = store.score(y);
    const found = new Float32Array(2 * (xs?.length ?? 0)).fill(NaN);
    if (xs && ys)
      xs.forEach((value, i) => {
        found[2 * i] = across(value);
        found[2 * i + 1] = up(ys[i]);
      });
    return found;
  }, [across, up]);
  const branch = store.selectedNode.value;
  const cloud = useMemo(
    () => cloudOf(xy, store.groupOf.value, brushed, groups.length, branch < 0 ? [] : store.tree.value.leaves(branch)),
    [xy, groups, brushed, branch],
  );
  const place = placesOf(cloud.leaf.length, size);
  const spots = groupSpots(store, xy).map((spot) => {
    const own = store.labels.known.get(spot.ref)?.value?.scores ?? {}; // of a consensus, where it has them
    const at = [
      Number.isFinite(own[x]) ? across(own[x]) : spot.at[0],
      Number.isFinite(own[y]) ? up(own[y]) : spot.at[1],
    ];
    return { ...spot, at };
  });
  const axes = `${scoreWords(y)} against ${scoreWords(x)}`;
  const mine = spots.find((spot) => spot.ref === sel);
  const found = useSpot(store, sel, xy);
  const selected = mine ? mine.at : found;
  const pinned = useSpot(store, pin, xy);

  /** @param {PointerEvent} event @returns {Point} */
  const where = (event) => {
    const { x, y } = pointIn(ref, event);
    return { x: x - LEFT, y: y - TOP };
  };
  /** @param {Point} point */
  const leafNear = (point) => {
    const at = pointNear(size, cloud.xy, point, 12);
    return at < 0 ? -1 : cloud.leaf[at];
  };
  /** @param {Point} a @param {Point} b */
  const area = (a, b) =>
    [
      across.invert(place.toX(Math.min(a.x, b.x))),
      across.invert(place.toX(Math.max(a.x, b.x))),
      up.invert(place.toY(Math.max(a.y, b.y))),
      up.invert(place.toY(Math.min(a.y, b.y))),
    ].map((value) => Number(value.toPrecision(6)));
  /** @param {PointerEvent} event */
  const down = (event) => {
    if (event.button) return;
    start.current = where(event);
    if (event.pointerType !== "touch") ref.current.setPointerCapture(event.pointerId); // a swipe scrolls the page
  };
  /** @param {PointerEvent} event */
  const move = (event) => {
    const point = where(event);
    const from = start.current;
    if (from && Math.hypot(point.x - from.x, point.y - from.y) > 4) {
      setHover(null);
      store.go({ brush: area(from, point) }, true);
    } else if (!from) {
      const leaf = leafNear(point);
      setHover(leaf < 0 ? null : { x: point.x + LEFT, y: point.y + TOP, leaf });
    }
  };
  /** @param {PointerEvent} event */
  const done = (event) => {
    const from = start.current;
    const point = where(event);
    start.current = null;
    if (!from) return;
    if (Math.hypot(point.x - from.x, point.y - from.y) > 4) {
      const count = store.brushed.value?.length ?? 0;
      if (!count) store.go({ brush: null }, true); // marks nothing, so it clears
      store.settle();
      store.message.value = count
        ? `${plural(count, "clustering")} brushed: marked in the tree and on the map.`
        : "No clustering lies there: the brush is cleared.";
      return;
    }
    const leaf = leafNear(point);
    if (leaf >= 0) {
      markClick(event);
      selectNode(store, leaf);
    } else if (brush) store.go({ brush: null });
  };

  return (
    <div
      class="plot scores-plot"
      ref={ref}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={done}
      onPointerCancel={() => {
        if (start.current && store.history.moving) store.undo(); // the page scrolls: that was no brush
        start.current = null;
      }}
      onPointerLeave={() => setHover(null)}
    >
      <Canvas
        size={size}
        style={{ left: `${LEFT}px`, top: `${TOP}px`, width: `${size.width}px`, height: `${size.height}px` }}
        deps={[cloud]}
        label={`${axes} of ${cloud.leaf.length} clusterings; drag to brush, click to select`}
        draw={(canvas, _context, theme) =>
          drawCloud(canvas, theme, cloud, groupShades(store.tree.value, groups, theme.dark))
        }
      />
      <Canvas
        size={outer}
        deps={[cloud, across, up, brush, chance, spots.map((one) => one.at).join(), String(selected), String(pinned)]}
        draw={(_canvas, context, theme) => {
          context.translate(LEFT, TOP);
          drawAxes(context, theme, size, place, { across, up, x: about(x), y: about(y) });
          context.save();
          context.beginPath();
          context.rect(-1, -TOP, size.width + RIGHT, size.height + TOP + 1);
          context.clip();
          if (chance) drawNull(context, theme, size, place, up, chance);
          drawSpots(context, theme, place, spots, selected, pinned);
          if (brush) drawBrush(context, theme, place, across, up, brush);
          context.restore();
        }}
      />
      <Tip at={hover} size={outer}>
        {hover ? <LeafTip leaf={hover.leaf} /> : null}
      </Tip>
    </div>
  );
}

/** @typedef {import("../draw/scale.js").Scale} Scale */
/** @typedef {import("../draw/canvas.jsx").Theme} Theme */

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {import("../draw/canvas.jsx").Size} size
 * @param {ReturnType<typeof placesOf>} place @param {{across: Scale, up: Scale, x: Score, y: Score}} axes
 */
function drawAxes(context, theme, size, place, { across, up, x, y }) {
  context.font = font();
  context.lineWidth = 1;
  context.fillStyle = theme.line;
  context.fillRect(0, 0, 1, size.height);
  context.fillRect(0, size.height, size.width, 1);
  const wide = Math.max(2, Math.floor(size.width / 80));
  const high = Math.max(2, Math.floor(size.height / 40));
  context.fillStyle = theme.soft;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of up.ticks(high)) context.fillText(up.tickFormat(high)(tick), -6, place.y(up(tick)));
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of across.ticks(wide))
    context.fillText(across.tickFormat(wide)(tick), place.x(across(tick)), size.height + 5);
  context.fillText(axisWords(x, "←", "→"), size.width / 2, size.height + 20);
  context.save();
  context.translate(-LEFT + 4, size.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(axisWords(y, "←", "→"), 0, 0);
  context.restore();
}

/** A score's name with the way to better values. @param {Score} score @param {string} less @param {string} more */
function axisWords({ name: given = "", better }, less, more) {
  const name = scoreWords(given);
  return better === "low" ? `${less} better   ${name}` : better === "high" ? `${name}   better ${more}` : name;
}

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {import("../draw/canvas.jsx").Size} size
 * @param {ReturnType<typeof placesOf>} place @param {Scale} up @param {import("../core/messages.js").NullResult} chance
 */
function drawNull(context, theme, size, place, up, chance) {
  const [top, bottom] = [chance.null_mean + chance.null_sd, chance.null_mean - chance.null_sd].map((value) =>
    place.y(up(value)),
  );
  context.fillStyle = theme.warn;
  context.globalAlpha = 0.18;
  context.fillRect(1, Math.min(top, bottom), size.width, Math.max(2, Math.abs(bottom - top)));
  context.globalAlpha = 1;
  context.font = font();
  context.textAlign = "right";
  const above = chance.best >= chance.null_mean; // the words stand on either side, or they would lie on each other
  for (const [value, color, words, over] of /** @type {[number, string, string, boolean][]} */ ([
    [chance.null_mean, theme.warn, "best of shuffled groups", !above],
    [chance.best, theme.accent, `best of ${chance.groups} groups`, above],
  ])) {
    const y = place.y(up(value));
    context.fillStyle = color;
    context.fillRect(1, Math.round(y), size.width, 1);
    context.textBaseline = over ? "bottom" : "top";
    context.fillText(words, size.width - 4, over ? y - 2 : y + 4);
  }
}

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {ReturnType<typeof placesOf>} place
 * @param {Scale} across @param {Scale} up @param {number[]} brush
 */
function drawBrush(context, theme, place, across, up, [x0, x1, y0, y1]) {
  const left = place.x(across(x0));
  const top = place.y(up(y1));
  const wide = place.x(across(x1)) - left;
  const high = place.y(up(y0)) - top;
  context.fillStyle = context.strokeStyle = theme.accent;
  context.globalAlpha = 0.1;
  context.fillRect(left, top, wide, high);
  context.globalAlpha = 1;
  context.lineWidth = 1;
  context.strokeRect(Math.round(left) + 0.5, Math.round(top) + 0.5, Math.round(wide), Math.round(high));
}
