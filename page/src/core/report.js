// The report of exactly this view: written by the server as a job, then downloaded.
import { isKept } from "./commands.js";
import { startJob } from "./jobs.js";
import { save } from "./tray.js";

/** @typedef {import("./store.js").Store} Store */

/** @param {Store} store */
export async function writeReport(store) {
  const ref = store.selected.value;
  if (!ref) return;
  const name = store.view.value.tray.find((kept) => isKept(store, kept, ref))?.name ?? "";
  await startJob(store, {
    kind: "report",
    m: store.tree.value.m,
    nodes: store.groups.value,
    top: store.top.value,
    ref,
    name,
  });
}

/** @param {Store} store @param {number} number of the job */
export async function saveReport(store, number) {
  try {
    const { buffer, type, name } = await store.transport.get(`/api/report/${number}`);
    save(new Blob([buffer], { type }), name ?? "consilience_report.html");
    store.message.value = "The report of this view is saved.";
  } catch (error) {
    store.fail(error);
  }
}
