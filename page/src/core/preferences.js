// What people like to have the same next time: theme, tables, columns of exports. Kept by the browser.
import { signal } from "@preact/signals";

/**
 * @typedef {{theme: string, tables: string[], assessed: boolean, keys: boolean, guided: boolean}} Preferences
 * `tables`: panels shown as tables; `keys`: whether single letters do something; `guided`: whether the first lines of
 * guidance were read
 */

const KEY = "consilience-prefs";
/** @type {Preferences} */
const START = { theme: "auto", tables: [], assessed: true, keys: true, guided: false };

export const preferences = () => signal(read());

/**
 * @param {ReturnType<typeof preferences>} prefs @param {Partial<Preferences>} patch
 * @returns {boolean} whether they are kept
 */
export function prefer(prefs, patch) {
  prefs.value = { ...prefs.value, ...patch };
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs.value));
    return true;
  } catch {
    return false;
  }
}

/** @returns {Preferences} */
function read() {
  try {
    return { ...START, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return START;
  }
}
