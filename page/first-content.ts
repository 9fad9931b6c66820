import { PAGE } from "./page-data.ts";
import { readAddress } from "./router.ts";

/** What the server rendered of the view that was asked for first; read before anything is replaced. */
export const FIRST = {
  view: readAddress(PAGE, window.location).view,
  main: document.getElementById("view"),
};
