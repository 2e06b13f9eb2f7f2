import { html } from "htm/preact";
import { useStore } from "./state.js";

export function Header() {
  const { session } = useStore();
  return html`<header class="top"><h1>${session.value.name}</h1></header>`;
}
