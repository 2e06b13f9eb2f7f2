// A panel as a picture to take away: SVG, or PNG at twice its size.
import { panelSvg } from "../draw/panel_svg.js";
import { describe, sentence } from "./commands.js";
import { formatCount, plural } from "./format.js";
import { save } from "./tray_files.js";

/** @typedef {import("./store.js").Store} Store */

const SCALE = 2;

/** What the picture is of, in two lines. @param {Store} store */
function captionOf(store) {
  const { name, n_objects: n, package: version } = store.session.value;
  const ref = store.selected.value;
  const groups = store.groups.value.length;
  return [
    `${name}: ${plural(store.tree.value.m, "clustering")} of ${formatCount(n)} objects in ${plural(groups, "group")}.`,
    `${ref ? `${sentence(describe(store, ref))}. ` : ""}consilience ${version}`,
  ];
}

/**
 * Download a panel as it stands.
 * @param {Store} store @param {string} id of the panel @param {string} title @param {string} format "svg" or "png"
 */
export async function savePicture(store, id, title, format) {
  const panel = document.getElementById(`panel-${id}`);
  if (!panel) return;
  try {
    const { svg, width, height } = panelSvg(panel, title, captionOf(store));
    const drawn = new Blob([svg], { type: "image/svg+xml" });
    const blob = format === "svg" ? drawn : await raster(drawn, width, height);
    save(blob, `consilience_${id}.${format}`);
    store.message.value = `Saved: ${title} as ${format.toUpperCase()}.`;
  } catch (error) {
    store.message.value = `This picture cannot be drawn: ${error instanceof Error ? error.message : error}`;
  }
}

/** @param {Blob} drawn @param {number} width @param {number} height @returns {Promise<Blob>} */
async function raster(drawn, width, height) {
  const url = URL.createObjectURL(drawn);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = SCALE * width;
    canvas.height = SCALE * height;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (!(blob instanceof Blob)) throw new Error("no picture");
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}
