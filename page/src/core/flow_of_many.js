// A flow over several clusterings: which ones, in which order, and what their clusters are called.
import { useEffect, useMemo, useState } from "preact/hooks";
import { slots } from "./align.js";
import { useAsked } from "./asked.js";
import { describe } from "./commands.js";
import { startJob } from "./jobs.js";
import { useStore } from "./store.js";
import { availableIn } from "./tray_files.js";
import { parseRef, refOf } from "./tree.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./messages.js").FlowMessage} FlowMessage */
/** @typedef {import("./answers.js").Answer<FlowMessage>} Answer */

export const MOST = 8; // clusterings side by side

/** What the flow is over: as people chose, or the tray where it has some, or else the tiles. @param {Store} store */
export function scopeOf(store) {
  const { flow } = store.view.value;
  if (["tiles", "tray", "clusters"].includes(flow)) return flow;
  return availableIn(store).length > 1 ? "tray" : "tiles";
}

/** All clusterings of the scope, of which the first eight are shown. @param {Store} store @returns {string[]} */
export const refsOf = (store) =>
  scopeOf(store) === "tray" ? [...new Set(availableIn(store).map((kept) => kept.ref))] : store.representatives.value;

/** The branch whose numbers of clusters are shown: the selected one, or all that is open. @param {Store} store */
export function branchOf(store) {
  const node = store.selectedNode.value;
  return node >= store.tree.value.m ? node : store.top.value;
}

/** What a column is called. @param {Store} store @param {string} ref */
export function columnName(store, ref) {
  const scope = scopeOf(store);
  const k = parseRef(ref)?.k;
  if (scope === "clusters" && k) return `${k} clusters`;
  const kept = scope === "tray" ? availableIn(store).find((one) => one.ref === ref) : null;
  if (kept?.name) return kept.name;
  const group = store.representatives.value.indexOf(ref);
  return group >= 0 ? `group ${group + 1}` : describe(store, ref);
}

/** What a cluster is called. @param {import("./messages.js").FlowColumn} column @param {number} c */
export const clusterWords = ({ clusters, names }, c) => (c === clusters ? "no label" : (names?.[c] ?? String(c)));

/** Color slots of every column's clusters, as everywhere on the page; null until the reference is there. */
export function useFlowSlots(/** @type {FlowMessage} */ flow) {
  const store = useStore();
  const pin = store.reference.value;
  const pinned = pin ? store.labels.get(pin) : null;
  return useMemo(() => {
    if (!pinned) return null;
    const n = flow.shapes.labels[1];
    return flow.header.columns.map(({ clusters }, at) => {
      const mine = flow.arrays.labels.subarray(at * n, (at + 1) * n);
      return slots(/** @type {any} */ (mine), clusters, pinned.labels, pinned.clusters);
    });
  }, [flow, pinned]);
}

/** The flow of the scope, arranged by likeness or as people ordered it. @returns {Answer} */
export function useFlow() {
  const store = useStore();
  const scope = scopeOf(store);
  const refs = scope === "clusters" ? [] : refsOf(store).slice(0, MOST);
  const own = store.view.value.order.split(",");
  const isOrdered = own.length === refs.length && refs.every((ref) => own.includes(ref));
  const path =
    refs.length > 1 ? `/api/flow/${(isOrdered ? own : refs).join(",")}${isOrdered ? "" : "?arrange=1"}` : null;
  const flow = useAsked(path, (transport, signal) => transport.get(/** @type {string} */ (path), signal));
  const scales = useScales(scope === "clusters");
  return /** @type {Answer} */ (scope === "clusters" ? scales : flow);
}

/**
 * The consensus of a branch at several numbers of clusters; where that takes long, by a job that can be canceled.
 * @param {boolean} isWanted @returns {Answer & {again?: () => void}}
 */
function useScales(isWanted) {
  const store = useStore();
  const tree = store.tree.value;
  const { most } = store.view.value;
  const node = branchOf(store);
  const ref = refOf(tree, node, "c");
  const path = `/api/scales/${ref}${most ? `?most=${most}` : ""}`;
  const key = `${store.snapshot.value} ${path}`;
  const work = tree.size[node] * store.session.value.n_objects;
  const isSlow = isWanted && work >= (store.session.value.limits.quick_scales ?? Infinity);
  const [made, setMade] = useState(/** @type {Record<string, string>} */ ({})); // how the job of a key ended
  const job = store.job.value;
  const isBusy = job?.state === "running";
  const [asked, setAsked] = useState({ key: "", job: -1 });
  useEffect(() => {
    if (!isSlow || made[key] || isBusy || asked.key === key) return;
    setAsked({ key, job: -1 });
    startJob(store, { kind: "scales", ref, ...(most ? { most } : {}) }).then(() =>
      setAsked({ key, job: store.job.value?.id ?? -1 }),
    );
  }, [isSlow, key, made[key], isBusy, asked.key]);
  useEffect(() => {
    if (job?.kind !== "scales" || isBusy || asked.key !== key || job.id !== asked.job) return;
    setMade((old) => ({ ...old, [key]: job.state }));
    setAsked({ key: "", job: -1 });
  }, [job, isBusy, asked]);
  const state = isSlow ? made[key] : "done";
  const answer = useAsked(isWanted && state === "done" ? path : null, (transport, signal) =>
    transport.get(path, signal),
  );
  const again = () => setMade(({ [key]: _, ...others }) => others);
  if (isSlow && state && state !== "done")
    return { value: null, fresh: true, error: "The numbers of clusters were not finished.", again };
  return /** @type {Answer} */ (answer);
}
