import { useState } from "preact/hooks";
import { formatCount } from "../core/format.js";
import { Table } from "./panel.jsx";

/** @typedef {import("preact").ComponentChildren} Children */

const PAGE = 100;

/**
 * A long table, a page at a time.
 * @param {{
 *   caption: string, heads: string[], count: number, row: (at: number) => Children[], picked?: number,
 *   onPick?: (at: number) => void,
 * }} props
 */
export function PagedTable({ caption, heads, count, row, picked = -1, onPick }) {
  const [wanted, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(count / PAGE));
  const page = Math.min(wanted, pages - 1);
  const start = page * PAGE;
  const rows = Array.from({ length: Math.min(PAGE, count - start) }, (_, at) => row(start + at));
  return (
    <div class="paged">
      {pages > 1 ? (
        <div class="pager" role="group" aria-label="Pages of the table">
          <button class="quiet" disabled={page === 0} onClick={() => setPage(page - 1)}>
            ‹ earlier
          </button>
          <span>
            {formatCount(start + 1)}–{formatCount(start + rows.length)} of {formatCount(count)}
          </span>
          <button class="quiet" disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
            later ›
          </button>
        </div>
      ) : null}
      <Table
        caption={caption}
        heads={heads}
        rows={rows}
        picked={picked - start}
        onPick={onPick && ((at) => onPick(start + at))}
      />
    </div>
  );
}
