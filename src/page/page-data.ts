/** The views of the application, in the order of its navigation. */
export const VIEWS = ["find", "time", "explore", "compare", "about"] as const;

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
  readonly maps: readonly MapInfo[];
  readonly archives: readonly ArchiveInfo[];
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

/** Which views a service has: only an aggregator can ask archives for mementos. */
export function viewsOf(service: PageData["service"]): readonly ViewName[] {
  if (service === "static") return ["find", "explore", "compare"];
  return service === "aggregator" ? VIEWS : VIEWS.filter((view) => view !== "time");
}

/** The path of a view below the base. */
export function viewPath(view: ViewName): string {
  return view === "find" ? "/" : `/${view}`;
}
