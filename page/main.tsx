import { render } from "preact";
import { App } from "./app.tsx";
import { FIRST } from "./first-content.ts";
import { applyTheme, readTheme } from "./theme.ts";
import { loadView } from "./views.ts";

applyTheme(readTheme());
const root = document.getElementById("app");
// What the server rendered stays until the first view is there.
if (root !== null) {
  const view = await loadView(FIRST.view);
  root.replaceChildren();
  render(<App first={view} />, root);
}
