// What lets the page in: a token from the address, or as an earlier tab kept it. None is kept before the server took
// it, since any site can open this page with a token of its own making.

const KEY = "consilience-token";
let offered = ""; // by the address, and not taken yet
let dropped = ""; // the last that the address offered and the server did not take
let held = ""; // where site data is blocked, the token lasts as long as the page
let isStored = true;
let passed = ""; // the last that was kept and not taken: another one is tried

/** The token to ask with. */
export function pageToken() {
  const found = takeFromAddress("token");
  if (found) offered = found;
  return offered || keptToken();
}

/**
 * The server took a token: keep it for other tabs, and for the next time that this run is shown at this address.
 * @param {string} token @param {string} [run] once it is known
 */
export function keepToken(token, run) {
  if (run) write(`${KEY}-${run}`, token);
  if (token !== offered) return;
  offered = "";
  held = token;
  write(KEY, token);
}

/** @param {string} key @param {string} token */
function write(key, token) {
  try {
    localStorage.setItem(key, token);
  } catch {
    isStored = false;
  }
}

/** The server did not take a token. @param {string} token @returns {string} another one to try, or "" */
export function dropToken(token) {
  if (token === offered) {
    dropped = token;
    offered = "";
    return keptToken();
  }
  if (token === dropped) return keptToken();
  passed = passed ? "" : token; // of two that are kept the second; when that is not taken either, the first again
  const other = passed ? keptToken() : "";
  if (other === token) passed = "";
  return other === token ? "" : other;
}

/** Exchange the code of an address that the explorer itself opened for the token. */
export async function enter() {
  const code = takeFromAddress("code");
  if (!code) return;
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("/enter", { method: "POST", headers, body: JSON.stringify({ code }) });
    if (response.ok) offered = String((await response.json()).token);
  } catch {
    return; // the page says that the server does not answer
  }
}

/** That of the run in the address, or else the last. */
function keptToken() {
  const run = /(?:^#|&)run=([0-9a-f]{1,32})(?:&|$)/.exec(location.hash)?.[1];
  try {
    const found = isStored ? [run && localStorage.getItem(`${KEY}-${run}`), localStorage.getItem(KEY)] : [];
    return [...found, held].find((one) => one && one !== passed) || held;
  } catch {
    return held;
  }
}

/** A part of the address that nobody else should see: it is removed there. @param {string} name */
function takeFromAddress(name) {
  const found = new RegExp(`(?:^#|&)${name}=([0-9a-f]{32})(?:&|$)`).exec(location.hash);
  if (!found) return "";
  const rest = location.hash.slice(1).split("&");
  const others = rest.filter((part) => !part.startsWith(`${name}=`)).join("&");
  history.replaceState(null, "", `${location.pathname}#${others}`);
  return found[1];
}
