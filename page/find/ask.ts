import { type Verdict, verdictOfAnswer, verdictOfRoute } from "../../src/page/verdict.ts";
import { answered, getJson, lookupHere, type PageMap, publishedName } from "../maps/map-list.ts";
import { PAGE } from "../page-data.ts";

/** What is known of one archive about a page, before it is asked. */
export interface Finding {
  readonly id: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** The key of a map that decided, and its frequency. */
  readonly key: string | undefined;
  readonly frequency: string | undefined;
  readonly isPacked: boolean;
  /** Why an aggregator would ask the archive or not; undefined of a publisher. */
  readonly reason: string | undefined;
  readonly isAsked: boolean | undefined;
  /** What was learnt that decided. */
  readonly why: string | undefined;
  /** Where to look at the page, and where its TimeMap is. */
  readonly replay: string | undefined;
  readonly timeMap: string | undefined;
}

interface MapAnswer {
  readonly map?: string;
  readonly present: boolean;
  readonly key: string | null;
  readonly frequency: string | null;
}

interface RouteAnswer {
  readonly archives: readonly {
    readonly id: string;
    readonly name: string;
    readonly asked: boolean;
    readonly reason: string;
    readonly key: string | null;
    readonly frequency: string | null;
    readonly why?: string;
  }[];
}

const ORDER: readonly Verdict[] = ["held", "possibly", "not-known", "not-held"];

/** Asks the maps about a page: of all archives, those that say most first. */
export async function ask(uri: string, signal: AbortSignal): Promise<Finding[]> {
  const path = askPath(uri);
  const [served, here] = await Promise.all([
    path === undefined ? [] : getJson<MapsAnswer | RouteAnswer>(path, signal),
    lookupHere(uri),
  ]);
  return sorted([
    ...findingsOf(served, uri),
    ...here.map(({ map, answer }) => ofMap(map, answer, uri)),
  ]);
}

/** What the server answered for the first view; undefined where it did not. */
export function askedBefore(uri: string): Finding[] | undefined {
  const path = askPath(uri);
  const served = path === undefined ? undefined : answered(path);
  if (served === undefined) return undefined;
  return sorted(findingsOf(served as MapsAnswer | RouteAnswer, uri)); // our own server's
}

/** Where the server tells what maps say; undefined for a site of files. */
export function askPath(uri: string): string | undefined {
  if (PAGE.service === "static") return undefined;
  const encoded = encodeURIComponent(uri);
  return PAGE.service === "publisher" ? `/lookup?url=${encoded}` : `/route/${encoded}`;
}

function sorted(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
}

type MapsAnswer = MapAnswer & { readonly answers?: readonly MapAnswer[] };

function findingsOf(served: MapsAnswer | RouteAnswer | readonly never[], uri: string): Finding[] {
  if ("archives" in served) return served.archives.map((archive) => ofRoute(archive, uri));
  return "present" in served ? ofMaps(served, uri) : [];
}

function ofRoute(archive: RouteAnswer["archives"][number], uri: string): Finding {
  const { id, name, key, frequency, reason, asked, why } = archive;
  const timeMap = PAGE.archives.find((each) => each.id === id)?.timemap ?? undefined;
  return {
    id,
    name,
    verdict: verdictOfRoute(archive),
    key: key ?? undefined,
    frequency: frequency ?? undefined,
    isPacked: false,
    reason,
    isAsked: asked,
    why,
    replay: undefined,
    timeMap: timeMap === undefined ? undefined : `${timeMap}${uri}`,
  };
}

function ofMaps(body: MapsAnswer, uri: string): Finding[] {
  return (body.answers ?? [body]).map((answer) => {
    const map = PAGE.maps.find(({ id }) => id === answer.map) ?? PAGE.maps[0];
    return ofMap(
      {
        id: map?.id ?? "",
        name: map === undefined ? PAGE.name : publishedName(map),
        isPacked: map?.isPacked ?? false,
        replay: map?.replay ?? null,
      },
      answer,
      uri,
    );
  });
}

function ofMap(
  map: Pick<PageMap, "id" | "name" | "isPacked" | "replay">,
  answer: Pick<MapAnswer, "present"> & {
    readonly key?: string | null;
    readonly frequency?: string | null;
  },
  uri: string,
): Finding {
  const [key, frequency] = [answer.key ?? null, answer.frequency ?? null];
  const verdict = verdictOfAnswer({ present: answer.present, key });
  return {
    id: map.id,
    name: map.name,
    verdict: map.isPacked && verdict === "held" ? "possibly" : verdict,
    key: key ?? undefined,
    frequency: frequency ?? undefined,
    isPacked: map.isPacked,
    reason: undefined,
    isAsked: undefined,
    why: undefined,
    replay: map.replay === null || !answer.present ? undefined : `${map.replay}${uri}`,
    timeMap: undefined,
  };
}
