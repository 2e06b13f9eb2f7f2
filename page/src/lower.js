export function LowerPanels() {
  return null;
}
