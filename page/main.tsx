import { render } from "preact";
import { App } from "./app.tsx";
import { PAGE } from "./page-data.ts";
import { readAddress } from "./router.ts";
import { applyTheme, readTheme } from "./theme.ts";
import { loadView } from "./views.ts";

applyTheme(readTheme());
const root = document.getElementById("app");
// What the server rendered stays until the first view is there.
if (root !== null) {
  const view = await loadView(readAddress(PAGE, window.location).view);
  root.replaceChildren();
  render(<App first={view} />, root);
}
