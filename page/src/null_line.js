// Whether the best of the groups could be luck.
import { html } from "htm/preact";
import { startJob } from "./jobs.js";
import { show } from "./panel.js";
import { useStore } from "./state.js";

const SHUFFLES = 20, MOST_GROUPS = 100;

/** The finished test of luck for the score on the y axis, or null. @param {import("./state.js").Store} store */
export function nullResult(store) {
  const job = store.job.value;
  return job?.kind === "null" && job.state === "done" && job.result?.score === store.view.value.y ? job.result : null;
}

/** The question as a button, and the answer in words. */
export function NullLine() {
  const store = useStore(), { y, cut } = store.view.value, job = store.job.value;
  if (!store.session.value.can.null) return null;
  const possible = y === "compactness" || y.startsWith("accuracy:"), groups = Math.max(2, Math.min(MOST_GROUPS, cut));
  const found = nullResult(store);
  const title = possible
    ? `Shuffles which clustering is in which group ${SHUFFLES} times and takes the best group each time`
    : "Known for compactness and for accuracies: choose one of them on the y axis";
  return html`<span class="null-line">${found ? html`<span title=${`The best of the groups against the best of shuffled ones, mean and standard deviation of ${found.shuffled.length} shuffles`}>${nullWords(found)}</span>` : null}
    <button class="chip" disabled=${!possible || job?.state === "running"} title=${title}
      onClick=${() => startJob(store, { kind: "null", groups, score: y, shuffles: SHUFFLES })}>${found ? "again" : `is the best of ${groups} groups luck?`}</button></span>`;
}

/** @param {any} found */
export function nullWords({ groups, best, null_mean: mean, null_sd: sd, p_value: p }) {
  const verdict = p <= 0.05 ? "hardly luck" : "may well be luck";
  return `Best of ${groups} groups: ${show(best, 3)}, of shuffled groups: ${show(mean, 3)} ± ${show(sd, 2)}. p = ${show(p, 2)}: ${verdict}.`;
}
