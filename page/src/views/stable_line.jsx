// How many clusters are stable: what `consilience cluster` finds in the same data, so that both say the same.
import { useEffect } from "preact/hooks";
import { startJob } from "../core/jobs.js";
import { useStore } from "../core/store.js";
import { refOf } from "../core/tree.js";

const REST = 500; // milliseconds that the first picture has for itself

export function StableLine() {
  const store = useStore();
  const { can, stable, seeks_stable: isSought } = store.session.value;
  const tree = store.tree.value;
  const isBusy = store.job.value?.state === "running";
  /** @param {boolean} unasked */
  const look = (unasked) => startJob(store, { kind: "stable", unasked });
  useEffect(() => {
    if (!isSought || stable) return;
    const timer = setTimeout(() => store.job.value?.state === "running" || look(true), REST);
    return () => clearTimeout(timer);
  }, []);
  if (!can.stable || store.view.value.open.length) return null;
  if (!stable)
    return (
      <p class="trail stable">
        <button class="link" disabled={isBusy} onClick={() => look(false)}>
          How many clusters are stable?
        </button>
      </p>
    );
  if (stable.real === null) return <p class="trail stable">Too few objects to tell what is stable.</p>;
  const about = `${stable.words}, as consilience cluster finds; click for the consensus of all clusterings`;
  return (
    <p class="trail stable" title={about}>
      {stable.real ? "Stable beyond chance:" : "No number of clusters is stable beyond chance; the best guess:"}
      {stable.numbers.map((k) => {
        const ref = `${refOf(tree, tree.root, "c")}${k}`;
        return (
          <button
            key={k}
            class="chip"
            aria-pressed={store.selected.value === ref}
            aria-label={`Show the consensus in ${k} clusters`}
            onClick={() => store.go({ sel: ref })}
          >
            {k} clusters
          </button>
        );
      })}
    </p>
  );
}
