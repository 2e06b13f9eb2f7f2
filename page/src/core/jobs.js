// Long work on the server: start it, follow it, stop it, and show what it made.
import { clusteringName } from "./commands.js";
import { plural } from "./format.js";
import { showPlane } from "./picked.js";
import { saveReport } from "./report.js";
import { Refusal } from "./transport.js";
import { refOf } from "./tree.js";
import { openBranch } from "./walk.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./messages.js").Job} Job */

const EVERY = 250;
const LATER = 2000; // milliseconds between questions, and after one that was refused

/**
 * @param {Store} store @param {import("./messages.js").JobRequest} body
 */
export const startJob = (store, body) =>
  store.attempt(async () => {
    const answer = await store.transport.post("/api/jobs", body);
    store.job.value = /** @type {Job} */ (answer.json);
  });

/** @param {Store} store */
export async function cancelJob(store) {
  const job = store.job.value;
  if (job?.state !== "running") return;
  await store.attempt(async () => {
    await store.transport.delete(`/api/jobs/${job.id}`);
    store.message.value = "Stopping …";
  });
}

/**
 * Ask after the running job until it ends; also for one that ran before the page was opened.
 * @param {Store} store @returns {() => void} stops asking
 */
export function followJobs(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let timer;
  let isOver = false;
  /** @param {Job} job @param {number} pause */
  const follow = (job, pause) => {
    timer = setTimeout(async () => {
      const isAnswered = await askAfter(store, job);
      if (!isAnswered && !isOver && store.job.value === job) follow(job, LATER);
    }, pause);
  };
  const watch = store.job.subscribe((job) => {
    clearTimeout(timer);
    if (job?.state === "running") follow(job, EVERY);
  });
  return () => {
    isOver = true;
    clearTimeout(timer);
    watch();
  };
}

/** @param {Store} store @param {Job} job @returns {Promise<boolean>} whether the server said how it stands */
async function askAfter(store, job) {
  try {
    const now = /** @type {Job} */ ((await store.transport.get(`/api/jobs/${job.id}`)).json);
    if (now.state === "running") store.job.value = now;
    else await finish(store, now);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) {
      store.job.value = null;
      store.message.value = "The job is gone: the server was started again.";
      return true;
    }
    store.fail(error);
    return false;
  }
  return true;
}

/** @param {Store} store @param {Job} job */
async function finish(store, job) {
  const { added, around } = (job.kind === "more_like" && job.result) || { added: [], around: -1 };
  if (job.revision !== store.boot.value.header.revision) await store.open();
  store.job.value = job;
  const tree = store.tree.value;
  const stopped = job.state === "canceled" ? "Stopped. " : "";
  if (job.kind === "report" && job.result) await saveReport(store, job.result.report);
  else if (job.kind === "stable" && job.result) {
    store.session.value = { ...store.session.value, stable: job.result };
    store.message.value = `Numbers of clusters: ${job.result.words || "too few objects to tell"}.`;
  } else if (job.kind === "plane" && job.result) {
    if (job.revision === store.boot.value.header.revision) await store.open(); // the session lists it now
    store.job.value = job;
    await showPlane(store, job.result.plane);
  } else if (added.length && added[added.length - 1] >= tree.m)
    store.message.value = `${stopped}${added.length} clusterings added: they are shown once the server answers.`;
  else if (added.length) {
    const before = store.view.value;
    openBranch(store, branchAround(tree, around, added));
    const isOpened = store.view.value !== before;
    if (!isOpened) store.go({ sel: refOf(tree, added[0], before.rep) });
    store.made.value = { first: added[0], before: store.history.past.value.at(-1) ?? null };
    const numbers = `numbers ${added[0]} to ${added[added.length - 1]}`;
    const opened = `opened: the branch around ${clusteringName(store, around)}`;
    store.message.value = `${stopped}${plural(added.length, "clustering")} added (${numbers}); ${opened}.`;
  } else if (job.state === "failed") store.message.value = job.message || "The job failed.";
  else if (job.state === "canceled") store.message.value = "Stopped.";
  else store.message.value = job.message || "Done.";
}

/**
 * The smallest branch that holds a clustering and at least half of those made around it.
 * @param {import("./tree.js").Tree} tree @param {number} around @param {number[]} added
 */
export function branchAround(tree, around, added) {
  let node = around;
  while (node !== tree.root && 2 * added.filter((leaf) => tree.isUnder(leaf, node)).length < added.length)
    node = tree.parent[node];
  return node;
}
