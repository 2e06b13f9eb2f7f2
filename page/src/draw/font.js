/** The font of words on canvases. @param {number} [pixels] */
export const font = (pixels = 11) => `${pixels}px system-ui, sans-serif`;
