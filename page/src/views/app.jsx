// The whole page: header, panels, what to do about keys, and a line for messages.
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { followJobs } from "../core/jobs.js";
import { keyHandler } from "../core/keys.js";
import { followNews } from "../core/news.js";
import { takeDropped } from "../core/session_file.js";
import { Store, StoreProvider, useStore } from "../core/store.js";
import { linkModel } from "../core/widget_link.js";
import { useDark } from "../draw/canvas.jsx";
import { Header } from "./header.jsx";
import { HelpDialog } from "./help.jsx";
import { LowerPanels } from "./lower.jsx";
import { JobBar, MoreDialog } from "./more_dialog.jsx";
import { Overview } from "./overview.jsx";
import { PictureView } from "./picture.jsx";
import { Meanings } from "./term.jsx";
import { TilesView } from "./tiles.jsx";
import { TrayView } from "./tray.jsx";

/**
 * @param {HTMLElement} element @param {import("../core/transport.js").Transport} transport
 * @param {import("../core/store.js").Options} [options]
 * @returns {() => void} takes the page down
 */
export function mount(element, transport, options = {}) {
  const store = new Store(transport, options);
  element.textContent = "";
  render(
    <StoreProvider value={store}>
      <Page />
    </StoreProvider>,
    element,
  );
  const unlink = options.model ? linkModel(store, options.model, element) : () => {};
  store.open();
  return () => {
    unlink();
    store.close();
    render(null, element);
  };
}

function Page() {
  const store = useStore();
  const status = store.status.value;
  const root = useRef(null);
  const session = store.session.value;
  const { theme: wanted } = store.prefs.value;
  const dark = useDark();
  const theme = wanted === "auto" ? (dark ? "dark" : "light") : wanted;
  useEffect(() => followJobs(store), []);
  useEffect(() => followNews(store), []);
  useEffect(() => {
    if (!store.address.isUsed) return;
    const read = () => store.readAddress();
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);
  useEffect(() => {
    const handle = keyHandler(store);
    const host = store.address.isUsed ? window : root.current;
    host?.addEventListener("keydown", handle);
    return () => host?.removeEventListener("keydown", handle);
  }, []);
  useEffect(() => takeDropped(store, root.current), []);
  useEffect(() => {
    performance.mark(`consilience-${status.kind}`);
  }, [status.kind]);
  useEffect(() => {
    if (store.address.isUsed && session) document.title = `${session.name} · consilience`;
  }, [session?.name]);
  return (
    <div class="consilience" ref={root} data-theme={theme} tabindex={store.address.isUsed ? undefined : 0}>
      <button class="skip" onClick={skip}>
        Skip to the picture of the data
      </button>
      <div class="stuck">
        {["silent", "lost", "refused"].includes(status.kind) ? (
          <p class="banner" role="alert">
            {status.message}
          </p>
        ) : null}
        {session ? (
          <>
            <Header>
              <Said />
            </Header>
            <JobBar />
          </>
        ) : null}
      </div>
      {session ? (
        <>
          <Refused />
          <main key={store.origin.value}>
            <div class="stage">
              <TilesView />
              <Overview />
            </div>
            <PictureView />
            <LowerPanels />
            <TrayView />
            <Meanings />
          </main>
          <HelpDialog />
          <MoreDialog />
        </>
      ) : (
        <p class="loading">{status.kind === "loading" ? status.message : ""}</p>
      )}
    </div>
  );
}

/** The address holds the view, so that a link would change it. */
function skip() {
  /** @type {HTMLElement | null} */ (document.querySelector(".big-picture"))?.focus();
}

/** Parts of the run that could not be read. */
function Refused() {
  const refused = useStore().session.value.refused ?? [];
  if (!refused.length) return null;
  return (
    <details class="banner mild">
      <summary>
        {refused.length === 1 ? "A part" : `${refused.length} parts`} of this run could not be read and{" "}
        {refused.length === 1 ? "is" : "are"} left out
      </summary>
      <ul>
        {refused.map((one) => (
          <li>{one}</li>
        ))}
      </ul>
    </details>
  );
}

const SHOWN = 10_000; // milliseconds that a message stays: it covers nothing

/** The last message, read out and shown for a while. */
function Said() {
  const store = useStore();
  const text = store.message.value;
  useEffect(() => {
    if (!text) return;
    const timer = setTimeout(() => {
      store.message.value = "";
    }, SHOWN);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="said">
      <span role="status" aria-live="polite" title={text}>
        {text}
      </span>
      {text ? (
        <button
          class="quiet icon"
          aria-label="Hide the message"
          onClick={() => {
            store.message.value = "";
          }}
        >
          ✕
        </button>
      ) : null}
    </div>
  );
}
