// The way to the branch that is open, and what was made last.

import { showAs } from "../core/commands.js";
import { formatCount, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { closeTo } from "../core/walk.js";

export function Trail() {
  const store = useStore();
  const tree = store.tree.value;
  const { open } = store.view.value;
  const made = store.made.value;
  const waiting = store.labels.waiting.value;
  if (!open.length && !made && !waiting) return null;
  const top = store.top.value;
  const here = made ? [...tree.leaves(top)].filter((leaf) => leaf >= made.first).length : 0;
  const names = [
    `all ${formatCount(tree.m)} clusterings`,
    ...open.map((node) => `branch of ${formatCount(tree.size[node])}`),
  ];
  return (
    <div class="trail">
      {open.length ? (
        <nav aria-label="Opened branches">
          <ol>
            {names.map((name, depth) => (
              <li key={depth}>
                {depth < open.length ? (
                  <button class="link" title="Back to here (B)" onClick={() => closeTo(store, depth)}>
                    {name}
                  </button>
                ) : (
                  <span aria-current="page">{name}</span>
                )}
              </li>
            ))}
          </ol>
        </nav>
      ) : null}
      {waiting ? (
        <span class="made waiting" role="group" aria-label="Consensus under way">
          <span>
            making the consensus of {plural(waiting, "group")} <progress aria-label="Consensus under way"></progress>
          </span>
          <button
            class="chip"
            title="Show medoids, which are there at once"
            onClick={() => {
              store.labels.stop();
              showAs(store, "m");
            }}
          >
            cancel
          </button>
        </span>
      ) : null}
      {made ? (
        <span class="made">
          {plural(tree.m - made.first, "clustering")} made last
          {here < tree.m - made.first ? `, ${formatCount(here)} of them in this branch` : ""}
          <button
            class="chip"
            title="Take them away, from a stored run too (undo does the same)"
            onClick={() => store.drop()}
          >
            drop these
          </button>
          <button
            class="chip"
            title="Keep them, and mark them no more"
            onClick={() => {
              store.made.value = null;
            }}
          >
            keep
          </button>
        </span>
      ) : null}
    </div>
  );
}
