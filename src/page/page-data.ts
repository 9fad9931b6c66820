/** The views of the application, in the order of its navigation. */
export const VIEWS = ["search", "explore", "compare", "about"] as const;

export type ViewName = (typeof VIEWS)[number];

/** Data from the server for the application in the browser; see `page/`. */
export interface PageData {
  /** The type of service: a publisher of maps, an aggregator, or a static site. */
  readonly service: "publisher" | "aggregator" | "static";
  /** The prefix of all paths: `""` or `/a/b`. */
  readonly base: string;
  /** Display name of the site. */
  readonly name: string;
  readonly version: string;
  /** The public origin: `https://archive.example.org`; empty for a static site. */
  readonly origin: string;
  readonly maps: readonly MapInfo[];
  readonly archives: readonly ArchiveInfo[];
  /** JSON responses for the first view, by path: saves the browser these requests. */
  readonly answers: Readonly<Record<string, unknown>>;
}

/** The application on the server: `dist/page/server.js`. */
export interface PageServer {
  /** The view at an address, and the paths of the JSON that it needs initially. */
  readonly prepare: (
    page: Omit<PageData, "answers">,
    target: string,
  ) => { readonly view: ViewName; readonly paths: readonly string[] };
  /** The document of that view. */
  readonly render: (page: PageData, target: string, head: PageHead) => string;
}

export interface PageHead {
  readonly links: readonly PageLink[];
  /** The URL of the application script. */
  readonly script: string;
  /** The content security policy of a document without HTTP headers. */
  readonly policy: string | undefined;
}

/** A `<link>` of a document. */
export interface PageLink {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
  readonly title?: string;
}

/** A map that this site publishes. */
export interface MapInfo {
  readonly id: string;
  readonly name: string | null;
  readonly archive: string | null;
  /** The download address; empty for a map that an aggregator only uses. */
  readonly href: string;
  readonly updatedAt: string;
  readonly bytes: number;
  readonly records: number;
  /** The frequency of `*`, as the map writes it. */
  readonly total: string | null;
  readonly isPacked: boolean;
  readonly domainCount: number;
  readonly topDomains: readonly { readonly domain: string; readonly keys: number }[];
  readonly pages: number;
  /** The URL prefix for opening a URI in the archive. */
  readonly replay: string | null;
}

/** An archive of the aggregator. */
interface ArchiveInfo {
  readonly id: string;
  readonly name: string;
  /** The URL prefix for opening a URI; null if the archive has only a TimeGate. */
  readonly timemap: string | null;
  readonly hasMap: boolean;
}

/** The views of a service. */
export function viewsOf(service: PageData["service"]): readonly ViewName[] {
  return service === "static" ? VIEWS.filter((view) => view !== "about") : VIEWS;
}

/** The path of a view below the base. */
export function viewPath(view: ViewName): string {
  return view === "search" ? "/" : `/${view}`;
}
