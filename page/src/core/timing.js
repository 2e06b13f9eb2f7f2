// Marks for the browser's performance tools and the benchmark: first picture, and click to recolor.

let clicked = false;
let first = true;

/** A click that changes what is shown. @param {Event} event */
export function markClick(event) {
  clicked = true;
  performance.clearMarks("consilience-click");
  performance.mark("consilience-click", { startTime: event.timeStamp });
}

/** The selected clustering has just been drawn, from a start in milliseconds. @param {number} start */
export function markDrawn(start) {
  performance.measure("consilience-draw", { start });
  if (!clicked) return;
  clicked = false;
  requestAnimationFrame(() => performance.measure("consilience-recolor", "consilience-click"));
}

/** Every panel of the first picture has been drawn. */
export function markFirst() {
  if (!first) return;
  first = false;
  requestAnimationFrame(() => performance.measure("consilience-first-paint"));
}
