import { type PageData, VIEWS, type ViewName, viewPath } from "../src/page/page-data.ts";

/** A location in the application: a view and its parameters. */
export interface Address {
  readonly view: ViewName;
  readonly params: URLSearchParams;
}

/** Query parameters; undefined and empty values are left out. */
export type Params = Readonly<Record<string, string | undefined>>;

/**
 * Parses an address. On a static site, all views have the same path, and `view=` selects one.
 */
export function readAddress(
  page: PageData,
  location: { pathname: string; search: string },
): Address {
  const params = new URLSearchParams(location.search);
  const { pathname } = location;
  const below = pathname.startsWith(page.base) ? pathname.slice(page.base.length) : pathname;
  const name = page.service === "static" ? params.get("view") : below.slice(1);
  return { view: VIEWS.find((view) => view === name) ?? "search", params };
}

/** The address of a view. */
export function hrefOf(page: PageData, view: ViewName, params: Params = {}): string {
  const query = new URLSearchParams();
  if (page.service === "static" && view !== "search") query.set("view", view);
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") query.set(name, value);
  }
  const text = query.toString();
  const path = page.service === "static" ? "./" : page.base + viewPath(view);
  return text === "" ? path : `${path}?${text}`;
}

const CHANGED = "mementomap:address";

/** Navigates within the application without loading the page. */
export function navigate(href: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) window.history.replaceState(null, "", href);
  else window.history.pushState(null, "", href);
  window.dispatchEvent(new Event(CHANGED));
}

/** Calls back when the address changes; the returned function unsubscribes. */
export function onAddress(call: () => void): () => void {
  window.addEventListener(CHANGED, call);
  window.addEventListener("popstate", call);
  return () => {
    window.removeEventListener(CHANGED, call);
    window.removeEventListener("popstate", call);
  };
}

/** Whether the application handles a click on a link: a plain click on a view of this site. */
export function ownTarget(event: MouseEvent, page: PageData): string | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.download !== "") {
    return undefined;
  }
  const url = new URL(link.href);
  const isHere = link.getAttribute("href")?.startsWith("#") === true;
  if (isHere || url.origin !== window.location.origin) return undefined;
  const isView =
    page.service === "static"
      ? url.pathname === window.location.pathname
      : VIEWS.some((view) => url.pathname === page.base + viewPath(view));
  return isView ? url.pathname + url.search : undefined;
}
