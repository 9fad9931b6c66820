import "virtual:app.css";
import "./find/find.css";
import "./time/time.css";
import "./maps/maps.css";
import "./explore/explore.css";
import "./compare/compare.css";
import "./about/about.css";
import { hydrate, render } from "preact";
import { App } from "./app.tsx";
import { PAGE } from "./page-data.ts";
import { readAddress } from "./router.ts";
import { applyTheme, readTheme } from "./theme.ts";
import { loadView } from "./views.ts";

applyTheme(readTheme());
const root = document.getElementById("app");
if (root !== null) {
  const address = readAddress(PAGE, window.location);
  const view = await loadView(address.view);
  const app = <App first={view} address={address} />;
  if (root.dataset["view"] === address.view) {
    hydrate(app, root);
  } else {
    root.replaceChildren(); // static sites come with the first view rendered
    render(app, root);
  }
}
