// What the new clusterings should be like: columns that count more or less, objects together or apart.

import { plural } from "../core/format.js";
import { useStore } from "../core/store.js";

/** @typedef {{more: number[], less: number[], together: number[], apart: number[]}} Wish columns, and objects */

/** @type {Wish} */
export const NO_WISH = { more: [], less: [], together: [], apart: [] };
const MOST = 1000; // objects of a wish

/** @param {{wish: Wish, setWish: (wish: Wish) => void}} props */
export function Steering({ wish, setWish }) {
  const store = useStore();
  const { features } = store.session.value;
  const picked = [...store.picked.value].slice(0, MOST);
  const columns = (/** @type {"more" | "less"} */ side, /** @type {string} */ words) => {
    const other = side === "more" ? "less" : "more";
    return (
      <div class="line">
        <label>
          <span>{words}</span>
          <select
            value=""
            onChange={(event) => {
              const at = Number(event.currentTarget.value);
              event.currentTarget.value = "";
              setWish({ ...wish, [side]: [...wish[side], at], [other]: wish[other].filter((one) => one !== at) });
            }}
          >
            <option value="" disabled>
              choose …
            </option>
            {features.map((name, at) =>
              wish[side].includes(at) ? null : (
                <option key={at} value={at}>
                  {name}
                </option>
              ),
            )}
          </select>
        </label>
        {wish[side].map((at) => (
          <button
            key={at}
            type="button"
            class="chip"
            aria-label={`${features[at]}: as before`}
            onClick={() => setWish({ ...wish, [side]: wish[side].filter((one) => one !== at) })}
          >
            {features[at]} ✕
          </button>
        ))}
      </div>
    );
  };
  const objects = (/** @type {"together" | "apart"} */ side, /** @type {string} */ words) => (
    <div class="line">
      <span>{words}</span>
      {wish[side].length ? (
        <button
          type="button"
          class="chip"
          aria-label={`${plural(wish[side].length, "object")} ${side}: as before`}
          onClick={() => setWish({ ...wish, [side]: [] })}
        >
          {plural(wish[side].length, "object")} ✕
        </button>
      ) : (
        <button
          type="button"
          class="chip"
          disabled={picked.length < (side === "together" ? 2 : 1)}
          title={picked.length ? "" : "Pick objects in the picture or the table first"}
          onClick={() => {
            const other = side === "together" ? "apart" : "together";
            setWish({ ...wish, [side]: picked, [other]: wish[other].filter((one) => !picked.includes(one)) });
          }}
        >
          the {picked.length ? plural(picked.length, "picked object") : "picked objects"}
        </button>
      )}
    </div>
  );
  if (!features.length) return null;
  return (
    <details class="steering">
      <summary>Steer: columns that count more or less, objects together or apart</summary>
      {columns("more", "More of")}
      {columns("less", "Less of")}
      {objects("together", "Together")}
      {objects("apart", "Apart from them")}
      <p class="note">
        Wishes, not rules: a column counts twice or half as much, and columns that tell the objects apart count more.
      </p>
    </details>
  );
}
