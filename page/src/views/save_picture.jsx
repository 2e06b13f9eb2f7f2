// In the head of every panel: take it away as a picture.
import { savePicture } from "../core/save_picture.js";
import { useStore } from "../core/store.js";

/** @param {{id: string, title: string, name?: string}} props `name` is a short one where the title is long */
export function SavePicture({ id, title, name }) {
  const store = useStore();
  return (
    <select
      class="quiet save-picture"
      aria-label={`Save a picture of ${name ?? title}`}
      title="Save this panel as a picture"
      value=""
      onChange={(event) => {
        const format = event.currentTarget.value;
        event.currentTarget.value = "";
        if (format) savePicture(store, id, title, format);
      }}
    >
      <option value="">picture</option>
      <option value="svg">SVG</option>
      <option value="png">PNG</option>
    </select>
  );
}
