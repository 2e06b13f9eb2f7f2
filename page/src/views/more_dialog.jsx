// "More like this": how many clusterings to make around the chosen one, and how the making goes.

import { useState } from "preact/hooks";
import { the } from "../core/commands.js";
import { formatCount } from "../core/format.js";
import { cancelJob, startJob } from "../core/jobs.js";
import { useStore } from "../core/store.js";
import { isConsensus } from "../core/tree.js";
import { Dialog } from "./dialog.jsx";
import { NO_WISH, Steering } from "./steering.jsx";

const SPREADS = [
  [0.1, "close"],
  [0.3, "near"],
  [1, "wide"],
];

export function MoreDialog() {
  const store = useStore();
  const ref = store.more.value;
  const [count, setCount] = useState(50);
  const [jitter, setJitter] = useState(0.3);
  const [wish, setWish] = useState(NO_WISH);
  const pick = (/** @type {number} */ value) => () => setJitter(value);
  const close = () => {
    store.more.value = null;
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    close();
    if (ref) startJob(store, { kind: "more_like", ref, count, jitter, ...wish });
  };
  return (
    <Dialog title="More like this" open={ref !== null} onClose={close}>
      <form onSubmit={submit}>
        <p>
          Makes new clusterings around <b>{ref ? the(store, ref) : ""}</b>
          {ref && isConsensus(ref) ? " (around the most central of them)" : ""} by changing how it was made a little.
          They join the tree, and the branch they land in is opened.
        </p>
        <label class="line">
          <span>
            How many <small>up to {formatCount(store.session.value.limits.more_like)}</small>
          </span>
          <input
            type="number"
            name="count"
            required
            autofocus
            min="1"
            max={store.session.value.limits.more_like}
            value={count}
            onInput={(e) => setCount(Number(e.currentTarget.value))}
          />
        </label>
        <fieldset class="line">
          <legend>How far from it</legend>
          {SPREADS.map(([value, word]) => (
            <label key={value} class="choice">
              <input type="radio" name="jitter" checked={jitter === value} onChange={pick(Number(value))} /> {word}{" "}
              <small>{value}</small>
            </label>
          ))}
        </fieldset>
        <Steering wish={wish} setWish={setWish} />
        <footer>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="primary">Make them</button>
        </footer>
      </form>
    </Dialog>
  );
}

const WORDS = /** @type {Record<string, string>} */ ({
  map: "Drawing the neighbor map",
  more_like: "Making more like this",
  plane: "Making a plane",
  scales: "Making the consensus at several numbers of clusters",
  stable: "Looking for numbers of clusters that are stable",
  report: "Writing the report of this view",
  null: "Shuffling groups to see what chance gives",
});

/** The running job under the header. */
export function JobBar() {
  const store = useStore();
  const job = store.job.value;
  if (job?.state !== "running") return null;
  const progress = job.total > 1 ? `: ${formatCount(job.done)} of ${formatCount(job.total)}` : " …";
  const text = `${WORDS[job.kind] ?? job.kind}${job.message ? `: ${job.message}` : progress}`;
  return (
    <div class="job" role="group" aria-label="Running job">
      <span>{text}</span>
      <progress max={job.total || 1} value={job.total > 1 ? job.done : undefined} aria-label={text}></progress>
      <button onClick={() => cancelJob(store)}>Cancel</button>
    </div>
  );
}
