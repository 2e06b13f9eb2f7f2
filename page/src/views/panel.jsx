// A titled part of the page, with its table twin: every view can be read as a plain table.
import { formatCount } from "../core/format.js";
import { useStore } from "../core/store.js";
import { SavePicture } from "./save_picture.jsx";
import { Term } from "./term.jsx";

/**
 * @typedef {import("preact").ComponentChildren} Children
 */

/**
 * @param {{
 *   id: string, title: string, tools?: Children, note?: Children, table: () => Children, children: Children,
 *   class?: string, name?: string,
 * }} props
 *   `name` is a short one where the title is long; `table` makes the table twin, which takes the picture's place when
 *   people ask for it
 */
export function Panel({ id, title, name, tools, note, table, children, class: extra = "" }) {
  const store = useStore();
  const asTable = store.prefs.value.tables.includes(id);
  const toggle = () => {
    const others = store.prefs.value.tables.filter((one) => one !== id);
    store.prefer({ tables: asTable ? others : [...others, id] });
  };
  return (
    <section class={`panel ${extra}`} id={`panel-${id}`} aria-labelledby={`title-${id}`}>
      <header>
        <h2 id={`title-${id}`}>{title}</h2>
        <div class="tools">{tools}</div>
        <SavePicture id={id} title={title} name={name} />
        <button
          class="quiet"
          aria-pressed={asTable}
          aria-label={`${name ?? title} as a table`}
          title="Show as a table (T for all)"
          onClick={toggle}
        >
          table
        </button>
      </header>
      <div class="body">{asTable ? table() : children}</div>
      {note ? <p class="note">{note}</p> : null}
    </section>
  );
}

/**
 * A plain table. @param {{
 *   caption: string, heads: string[], rows: Children[][], onPick?: (row: number) => void, picked?: number,
 *   most?: number,
 * }} props rows past `most` are left out and counted
 */
export function Table({ caption, heads, rows, onPick, picked = -1, most = 200 }) {
  const shown = rows.slice(0, most);
  return (
    <div class="scroll" tabindex={0}>
      <table>
        <caption>
          {caption}
          {rows.length > most ? ` (first ${most} of ${formatCount(rows.length)})` : ""}
        </caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">
                <Term word={head} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, at) => (
            <tr class={at === picked ? "picked" : ""} aria-selected={onPick ? at === picked : undefined}>
              {row.map((cell, column) => (
                <td>
                  {onPick && column === 0 ? (
                    <button class="link" onClick={() => onPick(at)}>
                      {cell}
                    </button>
                  ) : (
                    cell
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
