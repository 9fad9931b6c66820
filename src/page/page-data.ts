/** The views of the application, in the order of its navigation. */
export const VIEWS = ["search", "explore", "compare", "about"] as const;

export type ViewName = (typeof VIEWS)[number];

/** What the server tells the application in the browser; see `page/`. */
export interface PageData {
  /** Who answers: a publisher of maps, an aggregator, or files without a program behind them. */
  readonly service: "publisher" | "aggregator" | "static";
  /** What all paths begin with: `""` or `/a/b`. */
  readonly base: string;
  /** What the site is called. */
  readonly name: string;
  readonly version: string;
  /** How people reach the site: `https://archive.example.org`; empty for a site of files. */
  readonly origin: string;
  readonly maps: readonly MapInfo[];
  readonly archives: readonly ArchiveInfo[];
  /** What the paths that the first view needs answer, as JSON: the browser does not ask again. */
  readonly answers: Readonly<Record<string, unknown>>;
}

/** The application on the server: `dist/page/server.js`. */
export interface PageServer {
  /** The view at an address, and the paths whose JSON it begins with. */
  readonly prepare: (
    page: Omit<PageData, "answers">,
    target: string,
  ) => { readonly view: ViewName; readonly paths: readonly string[] };
  /** The document of that view. */
  readonly render: (page: PageData, target: string, head: PageHead) => string;
}

export interface PageHead {
  readonly links: readonly PageLink[];
  /** The address of the application. */
  readonly script: string;
  /** The policy of a document that has no headers. */
  readonly policy: string | undefined;
}

/** A `<link>` of a document. */
export interface PageLink {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
  readonly title?: string;
}

/** A map that is published here. */
export interface MapInfo {
  readonly id: string;
  readonly name: string | null;
  readonly archive: string | null;
  /** Where it can be fetched from; empty for a map that an aggregator only tells about. */
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
  /** What a URI is written behind to look at it in the archive. */
  readonly replay: string | null;
}

/** An archive that the aggregator knows. */
interface ArchiveInfo {
  readonly id: string;
  readonly name: string;
  /** What a URI is written behind; null where it has only a TimeGate. */
  readonly timemap: string | null;
  readonly hasMap: boolean;
}

/** Which views a service has. */
export function viewsOf(service: PageData["service"]): readonly ViewName[] {
  return service === "static" ? VIEWS.filter((view) => view !== "about") : VIEWS;
}

/** The path of a view below the base. */
export function viewPath(view: ViewName): string {
  return view === "search" ? "/" : `/${view}`;
}
