// Scores of the clusterings against each other: brush them, find the best, ask whether it is chance.
import { formatCount, scoreWords } from "../core/format.js";
import { explain } from "../core/glossary.js";
import { useStore } from "../core/store.js";
import { NullLine } from "./null_line.jsx";
import { Panel } from "./panel.jsx";
import { ScoresPicture } from "./scores_picture.jsx";
import { ScoresTable } from "./scores_table.jsx";

export function ScoresView() {
  const store = useStore();
  const { x, y, brush } = store.view.value;
  const { scores } = store.session.value;
  /** @param {"x" | "y"} axis @param {string} value */
  const choose = (axis, value) => (
    <label class="axis-choice">
      {axis}
      <select
        aria-label={`Score on the ${axis} axis`}
        title={explain(value)}
        value={value}
        onChange={(event) => store.go({ [axis]: event.currentTarget.value, brush: null })}
      >
        {scores.map((one) => (
          <option value={one.name} selected={one.name === value}>
            {scoreWords(one.name)}
          </option>
        ))}
      </select>
    </label>
  );
  const count = store.brushed.value?.length ?? 0;
  const tools = (
    <>
      {choose("y", y)}
      {choose("x", x)}
    </>
  );
  const note = (
    <span class="scores-note">
      {brush ? (
        <button
          class="chip"
          aria-pressed="true"
          title="Let go of the brushed clusterings (Escape)"
          onClick={() => store.go({ brush: null })}
        >
          {formatCount(count)} brushed ✕
        </button>
      ) : null}
      <NullLine />
    </span>
  );
  return (
    <Panel id="scores" title="Scores" tools={tools} note={note} table={() => <ScoresTable />}>
      {scores.length ? <ScoresPicture /> : <p class="empty">No score is known of these clusterings.</p>}
    </Panel>
  );
}
