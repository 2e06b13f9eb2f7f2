// The line above everything: what is looked at, and the page's own switches.

import { plural } from "../core/format.js";
import { useStore } from "../core/store.js";

/** @param {{children: import("preact").ComponentChildren}} props the last message */
export function Header({ children }) {
  const store = useStore();
  const { name, n_objects: n, source, measure, linkage } = store.session.value;
  const { m } = store.tree.value;
  return (
    <header class="top">
      <div class="title" title={`${source} · ${measure}, ${linkage} linkage`}>
        <h1>{name}</h1>
        <p>
          {plural(m, "clustering")} of {plural(n, "object")}
        </p>
      </div>
      {children}
      <Switches />
    </header>
  );
}

function Switches() {
  const store = useStore();
  const theme = store.prefs.value.theme;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      store.message.value =
        "The address of this view is copied. It holds no token: it opens in this browser while the server runs.";
    } catch {
      store.message.value = "The browser does not allow copying: take the address from its address bar.";
    }
  };
  return (
    <div class="switches">
      <button
        class="quiet icon"
        title="Undo (Z)"
        aria-label="Undo"
        disabled={!store.history.past.value.length}
        onClick={() => store.undo()}
      >
        <Arrow />
      </button>
      <button
        class="quiet icon"
        title="Redo (Shift+Z)"
        aria-label="Redo"
        disabled={!store.history.future.value.length}
        onClick={() => store.redo()}
      >
        <Arrow flip />
      </button>
      <select
        class="quiet"
        aria-label="Theme"
        title="Theme"
        value={theme}
        onChange={(e) => store.prefer({ theme: e.currentTarget.value })}
      >
        <option value="auto">auto</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
      {store.address.isUsed ? (
        <button class="quiet" title="Copy the address of this view" onClick={copy}>
          Copy link
        </button>
      ) : null}
      <button
        class="quiet icon"
        title="Help (?)"
        aria-label="Help"
        onClick={() => {
          store.help.value = true;
        }}
      >
        ?
      </button>
    </div>
  );
}

/** @param {{flip?: boolean}} props */
function Arrow({ flip = false }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" class={flip ? "flip" : ""}>
      <path
        d="M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
