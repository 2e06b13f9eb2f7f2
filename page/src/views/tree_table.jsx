// The tree as tables: the groups, and the selected branch with its neighbors up and down.

import { useMemo } from "preact/hooks";
import { clusteringName } from "../core/commands.js";
import { formatNumber, scoreWords } from "../core/format.js";
import { useStore } from "../core/store.js";
import { selectNode } from "../core/walk.js";
import { branchMeans } from "../draw/branches.js";
import { Table } from "./panel.jsx";

export function TreeTable() {
  const store = useStore();
  const tree = store.tree.value;
  const groups = store.groups.value;
  const selected = store.selectedNode.value;
  const { scores } = store.session.value;
  const shown = scores.slice(0, 6);
  const means = useMemo(
    () => shown.map((one) => branchMeans(tree, /** @type {any} */ (store.score(one.name)))),
    [tree],
  );
  const brushed = useMemo(() => {
    const counts = new Int32Array(groups.length);
    for (const leaf of store.brushed.value ?? []) counts[store.groupOf.value[leaf]]++;
    return counts;
  }, [store.brushed.value, groups]);
  const cells = (/** @type {number} */ node) => [
    tree.size[node],
    formatNumber(tree.height[node], 4),
    ...means.map((mean) => formatNumber(mean[node])),
  ];
  const heads = ["clusterings", "merged at difference", ...shown.map((one) => `mean of ${scoreWords(one.name)}`)];
  /** @type {[string, number][]} */
  const beside =
    selected < 0 ? [] : tree.children(selected).map((child, side) => [side ? "right branch" : "left branch", child]);
  /** @type {[string, number][]} */
  const up = tree.parent[selected] >= 0 ? [["up", tree.parent[selected]]] : [];
  /** @type {[string, number][]} */
  const around = selected < 0 ? [] : [...up, ["selected", selected], ...beside];
  return (
    <div class="view-tables">
      {around.length ? (
        <Table
          caption="Around the selected branch"
          heads={["branch", ...heads]}
          rows={around.map(([word, node]) => [
            `${word}: ${node < tree.m ? clusteringName(store, node) : `branch ${node}`}`,
            ...cells(node),
          ])}
          picked={around.findIndex(([, node]) => node === selected)}
          onPick={(row) => selectNode(store, around[row][1])}
        />
      ) : null}
      <Table
        caption={`Groups of the tree, cut into ${groups.length}`}
        heads={["group", ...heads, ...(store.brushed.value ? ["brushed"] : [])]}
        rows={groups.map((node, g) => [`group ${g + 1}`, ...cells(node), ...(store.brushed.value ? [brushed[g]] : [])])}
        picked={groups.indexOf(selected)}
        onPick={(row) => selectNode(store, groups[row])}
        most={500}
      />
    </div>
  );
}
