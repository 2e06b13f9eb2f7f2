// Whether what is around the page is dark: the notebook that it stands in, or else the system.
import { signal } from "@preact/signals";

const query = matchMedia("(prefers-color-scheme: dark)");

/** JupyterLab, VS Code and Colab say it each in their own way; elsewhere the system does. */
function isDarkAround() {
  const { body, documentElement: root } = document;
  const lab = body.dataset.jpThemeLight;
  if (lab) return lab === "false";
  const code = body.dataset.vscodeThemeKind;
  if (code) return code.includes("dark") || code === "vscode-high-contrast";
  const colab = root.getAttribute("theme");
  if (colab) return colab === "dark";
  return query.matches;
}

export const darkAround = signal(isDarkAround());

const renew = () => {
  darkAround.value = isDarkAround();
};
query.addEventListener("change", renew);
const watch = new MutationObserver(renew);
for (const element of [document.body, document.documentElement])
  watch.observe(element, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind", "theme"],
  });
