import { renderToString } from "preact-render-to-string";
import type { PageData, PageServer, ViewName } from "../src/page/page-data.ts";
import { App } from "./app.tsx";
import { titleOf } from "./text.ts";
import { setPage } from "./page-data.ts";
import { type Address, readAddress } from "./router.ts";
import * as about from "./views/about.tsx";
import * as compare from "./views/compare.tsx";
import * as explore from "./views/explore.tsx";
import * as search from "./views/search.tsx";
import type { ViewModule } from "./views.ts";

const MODULES: Readonly<Record<ViewName, ViewModule>> = { search, explore, compare, about };

function addressOf(page: PageData, target: string): Address {
  setPage(page);
  const [pathname = "", query = ""] = target.split(/\?(.*)/s, 2);
  return readAddress(page, { pathname, search: `?${query}` });
}

export const needsOf: PageServer["needsOf"] = (page, target) => {
  const { view, params } = addressOf(page, target);
  return MODULES[view].needs?.(params) ?? [];
};

/** Rendering never waits: pages do not mix. */
export const render: PageServer["render"] = (page, target) => {
  const address = addressOf(page, target);
  const { view } = address;
  const html = renderToString(<App first={MODULES[view].default} address={address} />);
  return { title: titleOf(view, page.name), html, view };
};
