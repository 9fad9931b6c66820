import { MementoMapExplorer } from "./elements/mementomap-explorer.tsx";
import { MementoTimeline } from "./elements/memento-timeline.tsx";

export { MementoMapExplorer, MementoTimeline };

// A page may load the script twice, from different URLs.
for (const [name, element] of [
  ["memento-timeline", MementoTimeline],
  ["mementomap-explorer", MementoMapExplorer],
] as const) {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}
