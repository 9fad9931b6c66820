import type { PageData, PageServer, ViewName } from "../src/page/page-data.ts";
import { renderDocument } from "./document.tsx";
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

export const prepare: PageServer["prepare"] = (site, target) => {
  const page = { ...site, answers: {} };
  const { view, params } = addressOf(page, target);
  return { view, paths: MODULES[view].needs?.(params) ?? [] };
};

/** Rendering is synchronous, so the data of two pages cannot mix. */
export const render: PageServer["render"] = (page, target, head) => {
  const address = addressOf(page, target);
  return renderDocument(page, { view: MODULES[address.view].default, address }, head);
};
