import type { PageData } from "../src/page/page-data.ts";

/** What the server tells the application. */
export const PAGE: PageData = JSON.parse(
  document.getElementById("page-data")?.textContent ?? "{}",
) as PageData; // written by our own server
