// The way to the branch that is open, and what was made last.

import { formatCount, plural } from "../core/format.js";
import { useStore } from "../core/store.js";
import { closeTo } from "../core/walk.js";

export function Trail() {
  const store = useStore();
  const tree = store.tree.value;
  const { open } = store.view.value;
  const made = store.made.value;
  if (!open.length && !made) return null;
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
      {made ? (
        <span class="made">
          {plural(tree.m - made.first, "clustering")} made last
          <button
            class="chip"
            title="Take them away, from the run too (undo does the same)"
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
