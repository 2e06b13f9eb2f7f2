// What objects look like: pixels or a curve drawn on a canvas, or an image of their own.

import { useEffect, useState } from "preact/hooks";
import { useAsked } from "../core/asked.js";
import { encodeRows } from "../core/picked.js";
import { useStore } from "../core/store.js";
import { Canvas } from "../draw/canvas.jsx";
import { drawCurve, drawPixels } from "../draw/look.js";
import { Answered, Mark } from "./parts.jsx";

/** @typedef {import("../core/messages.js").Look} Look */
/** @typedef {import("../core/messages.js").Averages} Averages */

const SHOWN = 24; // objects that are drawn

/** @param {Look} look @param {number} side @returns {import("../draw/canvas.jsx").Size} */
const sizeOf = (look, side) => ({
  width: look.kind === "curves" ? Math.round(1.5 * side) : side,
  height: side,
  ratio: window.devicePixelRatio || 1,
});

/**
 * @param {{
 *   look: Look, values: Float32Array, side?: number, label: string, low?: Float32Array, high?: Float32Array,
 *   color?: string,
 * }} props `low` and `high`: a band around the curve
 */
export function Drawn({ look, values, side = 48, label, low, high, color }) {
  const size = sizeOf(look, side);
  return (
    <span class="look" style={{ width: `${size.width}px`, height: `${size.height}px` }}>
      <Canvas
        size={size}
        deps={[values, low, color]}
        label={label}
        draw={(canvas, context, theme) =>
          look.kind === "pixels"
            ? drawPixels(canvas, context, look, values)
            : drawCurve(context, theme, size, look, values, { low, high, color })
        }
      />
    </span>
  );
}

/**
 * The image of an object, asked for with the token and shown from memory.
 * @param {{row: number, side?: number, label: string}} props
 */
function ImageOf({ row, side = 64, label }) {
  const store = useStore();
  const [url, setUrl] = useState("");
  const [why, setWhy] = useState("");
  useEffect(() => {
    let made = "";
    let gone = false;
    store.transport.get(`/api/image/${row}`).then(
      (answer) => {
        if (gone) return;
        made = URL.createObjectURL(new Blob([answer.buffer], { type: answer.type }));
        setUrl(made);
      },
      (error) => gone || setWhy(error instanceof Error ? error.message : "no image"),
    );
    return () => {
      gone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [row]);
  return url ? (
    <img class="look" src={url} alt={label} style={{ width: `${side}px`, height: `${side}px` }} />
  ) : (
    <span class="look empty" title={why} style={{ width: `${side}px`, height: `${side}px` }}></span>
  );
}

/**
 * Some objects as pictures; a click picks one.
 * @param {{rows: ArrayLike<number>, side?: number, onPick?: (row: number) => void}} props
 */
export function LooksOf({ rows, side, onPick }) {
  const store = useStore();
  const { look } = store.session.value;
  const some = Uint32Array.from(Array.from(rows).slice(0, SHOWN)).sort();
  const isDrawn = look && look.kind !== "files" && some.length > 0;
  /** @type {import("../core/answers.js").Answer<import("../core/messages.js").Looks>} */
  const answer = useAsked(isDrawn ? `looks ${some.join()}` : null, (transport, signal) =>
    transport.post("/api/looks", { rows: encodeRows(some) }, signal),
  );
  if (!look) return null;
  const width = answer.value?.shapes.values[1] ?? 0;
  /** @param {number} row */
  const one = (row) => {
    if (look.kind === "files") return <ImageOf row={row} side={side} label={`Image of object ${row}`} />;
    const at = answer.value ? answer.value.arrays.rows.indexOf(row) : -1;
    const values = answer.value?.arrays.values.subarray(at * width, (at + 1) * width);
    return at >= 0 && values ? <Drawn look={look} values={values} side={side} label={`Object ${row}`} /> : null;
  };
  return (
    <div class="looks">
      {Array.from(some, (row) =>
        onPick ? (
          <button key={row} class="quiet" title={`Pick object ${row}`} onClick={() => onPick(row)}>
            {one(row)}
          </button>
        ) : (
          <span key={row}>{one(row)}</span>
        ),
      )}
    </div>
  );
}

/**
 * The average of every cluster, and objects that are typical of it.
 * @param {{reference: string, names: string[] | null, onPick: (row: number) => void}} props
 */
export function ClusterLooks({ reference, names, onPick }) {
  const store = useStore();
  const { look } = store.session.value;
  const slots = store.labels.slots(reference);
  /** @type {import("../core/answers.js").Answer<Averages>} */
  const answer = useAsked(look ? `averages ${reference}` : null, (transport, signal) =>
    transport.get(`/api/averages/${reference}`, signal),
  );
  const { cluster } = store.view.value;
  if (!look) return null;
  return (
    <section class="column whole">
      <h3>
        What clusters look like{" "}
        <small>{look.kind === "files" ? "typical objects" : "the average, and typical objects"}</small>
      </h3>
      <Answered answer={answer}>
        {({ header, arrays, shapes }) => {
          const width = shapes.mean?.[1] ?? 0;
          const part = (/** @type {Float32Array | undefined} */ all, /** @type {number} */ c) =>
            all?.subarray(c * width, (c + 1) * width);
          return (
            <ul class="cluster-looks" tabindex={0} aria-label="What clusters look like">
              {header.examples.map((rows, c) => {
                const mean = part(arrays.mean, c);
                return cluster >= 0 && c !== cluster ? null : (
                  <li key={c}>
                    <span class="who">
                      <Mark slot={slots?.[c]} /> {names?.[c] ?? c}
                    </span>
                    {mean ? (
                      <Drawn
                        look={look}
                        values={mean}
                        side={64}
                        low={part(arrays.low, c)}
                        high={part(arrays.high, c)}
                        label={`Average of cluster ${names?.[c] ?? c}`}
                      />
                    ) : null}
                    <LooksOf rows={rows.slice(0, 8)} side={36} onPick={onPick} />
                  </li>
                );
              })}
            </ul>
          );
        }}
      </Answered>
    </section>
  );
}
