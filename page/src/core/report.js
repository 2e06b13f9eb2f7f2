// The report of exactly this view: written by the server as a job, then downloaded.
import { isKept } from "./commands.js";
import { startJob } from "./jobs.js";
import { download } from "./tray_files.js";

/** @typedef {import("./store.js").Store} Store */

/** @param {Store} store */
export async function writeReport(store) {
  const ref = store.selected.value;
  if (!ref) return;
  const name = store.view.value.tray.find((kept) => isKept(store, kept, ref))?.name ?? "";
  const [m, nodes, top] = [store.tree.value.m, store.groups.value, store.top.value];
  await startJob(store, { kind: "report", m, nodes, top, ref, name });
}

/** @param {Store} store @param {number} number of the job */
export const saveReport = (store, number) =>
  download(
    store,
    () => store.transport.get(`/api/report/${number}`),
    "consilience_report.html",
    "The report of this view is saved.",
  );
