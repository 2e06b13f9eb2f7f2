// All clusterings at once, beside the data: their tree, their map, their scores, or objects in stripes.

import { useStore } from "../core/store.js";
import { MapView } from "./map.jsx";
import { ScoresView } from "./scores.jsx";
import { StripesView } from "./stripes.jsx";
import { Tabs } from "./tabs.jsx";
import { TreeView } from "./tree.jsx";

const TABS = [
  ["tree", "Tree", "Every clustering is a leaf: alike ones share a branch"],
  ["map", "Map", "Every clustering is a point: alike ones lie close together"],
  ["scores", "Scores", "Every clustering is a point: how good it is by two scores"],
  ["stripes", "Stripes", "Every clustering is a row, every object a column: what clusterings share stands in stripes"],
];
const VIEWS = /** @type {Record<string, any>} */ ({
  tree: TreeView,
  map: MapView,
  scores: ScoresView,
  stripes: StripesView,
});

export function Overview() {
  const store = useStore();
  const { pane } = store.view.value;
  if (store.tree.value.m === 1)
    return (
      <p class="empty">
        This is one clustering: it has no groups, and no tree or map. The picture shows its clusters; below stand what
        sets them apart and the objects.
      </p>
    );
  const View = VIEWS[pane] ?? TreeView;
  return (
    <div class="overview" id="overview">
      <Tabs
        label="All clusterings"
        controls="overview-body"
        tabs={TABS}
        value={pane in VIEWS ? pane : "tree"}
        onPick={(id) => store.go({ pane: id })}
      />
      <div id="overview-body" role="tabpanel" aria-labelledby={`tab-${pane in VIEWS ? pane : "tree"}`}>
        <View />
      </div>
    </div>
  );
}
