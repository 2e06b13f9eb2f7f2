// Whether the best of the groups could be chance.
import { formatNumber, plural } from "../core/format.js";
import { startJob } from "../core/jobs.js";
import { useStore } from "../core/store.js";

const SHUFFLES = 20;
const MOST_GROUPS = 100;

/** The finished null for the score on the y axis, or null. @param {import("../core/store.js").Store} store */
export function nullResult(store) {
  const job = store.job.value;
  return job?.kind === "null" && job.state === "done" && job.result?.score === store.view.value.y ? job.result : null;
}

/** The question as a button, and the answer in words. */
export function NullLine() {
  const store = useStore();
  const { y, cut } = store.view.value;
  const job = store.job.value;
  if (!store.session.value.can.null) return null;
  const possible = y === "compactness" || y.startsWith("accuracy:");
  const groups = Math.max(2, Math.min(MOST_GROUPS, cut));
  const found = nullResult(store);
  const few = groups < cut ? `; at most ${MOST_GROUPS} groups are tested, here the cut into so many` : "";
  const title = possible
    ? `Shuffles which clustering is in which group ${SHUFFLES} times and takes the best group each time${few}`
    : "Known for compactness and for accuracies: choose one of them on the y axis";
  return (
    <span class="null-line">
      {found ? (
        <span title={`The best of shuffled groups: mean and standard deviation of ${found.shuffled.length} shuffles`}>
          {formatNull(found)}
        </span>
      ) : null}
      <button
        class="chip"
        disabled={!possible || job?.state === "running"}
        title={title}
        onClick={() => startJob(store, { kind: "null", groups, score: y, shuffles: SHUFFLES })}
      >
        {found ? "again" : `is the best of ${groups} groups chance?`}
        {found || groups === cut ? "" : cut < groups ? " (the fewest)" : ` (the most, not ${cut})`}
      </button>
    </span>
  );
}

/** @param {import("../core/messages.js").NullResult} found */
export function formatNull({ groups, best, null_mean: mean, null_sd: sd, p_value: p, shuffled: all }) {
  const least = 1 / (1 + all.length);
  const verdict = p > 0.05 ? "may well be chance" : p > least ? "hardly chance" : "no shuffle was as good";
  const shuffled = `${formatNumber(mean, 3)} ± ${formatNumber(sd, 2)}`;
  const found = `Best of ${groups} groups: ${formatNumber(best, 3)}, of shuffled groups: ${shuffled}`;
  const shuffles = `${plural(all.length, "shuffle")}, which can give ${formatNumber(least, 2)} at least`;
  return `${found}. p = ${formatNumber(p, 2)} by ${shuffles}: ${verdict}.`;
}
