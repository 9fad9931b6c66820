import type { PageData } from "../src/page/page-data.ts";

const EMPTY: PageData = {
  service: "static",
  base: "",
  name: "",
  version: "",
  origin: "",
  maps: [],
  archives: [],
  answers: {},
};

/** What the server tells the application. */
export let PAGE: PageData = typeof document === "undefined" ? EMPTY : embedded();

/** For the server, which renders one page after the other. */
export function setPage(page: PageData): void {
  PAGE = page;
}

function embedded(): PageData {
  const text = document.getElementById("page-data")?.textContent ?? "{}";
  return { ...EMPTY, ...(JSON.parse(text) as Partial<PageData>) }; // written by our own server
}
