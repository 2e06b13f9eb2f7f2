// The lower part: one of several panels about the selected clustering.
import { html } from "htm/preact";
import { AgreementView } from "./agreement_view.js";
import { CompareView } from "./compare_view.js";
import { ComponentsView } from "./components_view.js";
import { DetailView } from "./detail_view.js";
import { ObjectsView } from "./objects_view.js";
import { useStore } from "./state.js";
import { Tabs } from "./tabs.js";

const TABS = [["detail", "Detail"], ["objects", "Objects"], ["compare", "Compare"], ["components", "Stable components"], ["agreement", "Agreement"]];
const VIEWS = /** @type {Record<string, any>} */ ({
  detail: DetailView, objects: ObjectsView, compare: CompareView, components: ComponentsView, agreement: AgreementView,
});

export function LowerPanels() {
  const store = useStore();
  const tabs = TABS.filter(([id]) => id !== "agreement" || store.session.value.can.agreement);
  const tab = tabs.some(([id]) => id === store.view.value.tab) ? store.view.value.tab : "detail";
  return html`<div class="lower" id="lower">
    <${Tabs} label="About the selected clustering" tabs=${tabs} value=${tab} onPick=${(/** @type {string} */ id) => store.go({ tab: id })} />
    <div id="lower-body" role="tabpanel" aria-labelledby=${`tab-${tab}`}><${VIEWS[tab]} /></div>
  </div>`;
}
