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

/** The data that the server embeds for the application. */
export let PAGE: PageData = typeof document === "undefined" ? EMPTY : embedded();

/** Used on the server, where renders never overlap. */
export function setPage(page: PageData): void {
  PAGE = page;
}

function embedded(): PageData {
  const text = document.getElementById("page-data")?.textContent ?? "{}";
  return { ...EMPTY, ...(JSON.parse(text) as Partial<PageData>) }; // written by our own server
}
