// The lower part: one of several panels about the selected clustering.

import { useStore } from "../core/store.js";
import { AgreementView } from "./agreement.jsx";
import { CompareView } from "./compare.jsx";
import { ComponentsView } from "./components.jsx";
import { DetailView } from "./detail.jsx";
import { EditView } from "./edit.jsx";
import { FlowsView } from "./flow_of_many.jsx";
import { ObjectsView } from "./objects.jsx";
import { PickedView } from "./picked.jsx";
import { Tabs } from "./tabs.jsx";
import { WhyView } from "./why.jsx";

const TABS = [
  ["detail", "Detail", "The selected clustering: its clusters, what sets them apart, how sure they are"],
  ["why", "Why", "What sets the selected branch apart from all other clusterings"],
  ["objects", "Objects", "The objects themselves, with your ids"],
  ["picked", "Picked", "Objects that you picked: how clusterings treat them, what sets them apart"],
  ["compare", "Compare", "Two clusterings side by side: which clusters become which"],
  ["flow", "Flow", "Several clusterings at once, or more and more clusters: which objects go where"],
  ["edit", "Edit", "Rename, merge and split the clusters of the selected clustering by hand"],
  ["components", "Stable components", "Objects that no clustering of the branch separates"],
  ["agreement", "Agreement", "How rows and columns came to agree, step by step"],
];
const VIEWS = /** @type {Record<string, any>} */ ({
  detail: DetailView,
  why: WhyView,
  objects: ObjectsView,
  picked: PickedView,
  compare: CompareView,
  flow: FlowsView,
  edit: EditView,
  components: ComponentsView,
  agreement: AgreementView,
});

export function LowerPanels() {
  const store = useStore();
  const isAlone = store.tree.value.m === 1; // no branch to tell of
  const tabs = TABS.filter(([id]) =>
    id === "agreement" ? store.session.value.can.agreement : !isAlone || !["why", "components"].includes(id),
  );
  const tab = tabs.some(([id]) => id === store.view.value.tab) ? store.view.value.tab : "detail";
  const View = VIEWS[tab];
  return (
    <div class="lower" id="lower">
      <Tabs
        label="About the selected clustering"
        controls="lower-body"
        tabs={tabs}
        value={tab}
        onPick={(id) => store.go({ tab: id })}
      />
      <div id="lower-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <View />
      </div>
    </div>
  );
}
