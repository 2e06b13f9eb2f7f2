// What lets the page in: a token from the address, or as an earlier tab kept it. None is kept before the server took
// it, since any site can open this page with a token of its own making.

const KEY = "consilience-token";
let offered = ""; // by the address, and not taken yet
let dropped = ""; // the last that the address offered and the server did not take
let held = ""; // where site data is blocked, the token lasts as long as the page
let isStored = true;

/** The token to ask with. */
export function pageToken() {
  const found = takeFromAddress("token");
  if (found) offered = found;
  return offered || keptToken();
}

/** The server took a token: keep it for other tabs. @param {string} token */
export function keepToken(token) {
  if (token !== offered) return;
  offered = "";
  held = token;
  try {
    localStorage.setItem(KEY, token);
  } catch {
    isStored = false;
  }
}

/** The server did not take a token. @param {string} token @returns {string} another one to try, or "" */
export function dropToken(token) {
  if (token === offered) {
    dropped = token;
    offered = "";
  }
  return token === dropped ? keptToken() : "";
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

function keptToken() {
  try {
    return (isStored && localStorage.getItem(KEY)) || held;
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
