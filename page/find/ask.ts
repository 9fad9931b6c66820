import { type Verdict, verdictOfAnswer, verdictOfRoute } from "../../src/page/verdict.ts";
import { getJson, lookupHere, type PageMap, publishedName } from "../maps/map-list.ts";
import { PAGE } from "../page-data.ts";

/** What is known of one archive about a page, before it is asked. */
export interface Finding {
  readonly id: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** The key of a map that decided, and its frequency. */
  readonly key: string | undefined;
  readonly frequency: string | undefined;
  /** The first and the last year of the host, where a packed map states them. */
  readonly years: readonly [first: number, last: number] | undefined;
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
  readonly years?: Finding["years"];
}

interface RouteAnswer {
  readonly archives: readonly {
    readonly id: string;
    readonly name: string;
    readonly asked: boolean;
    readonly reason: string;
    readonly key: string | null;
    readonly frequency: string | null;
    readonly years?: Finding["years"];
    readonly why?: string;
  }[];
}

/** Asks the maps about a page: of all archives, those that say most first. */
export async function ask(uri: string, signal: AbortSignal): Promise<Finding[]> {
  const [served, here] = await Promise.all([ofServer(uri, signal), lookupHere(uri)]);
  const found = [...served, ...here.map(({ map, answer }) => ofMap(map, answer, uri))];
  const order: readonly Verdict[] = ["held", "possibly", "not-known", "not-held"];
  return found.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
}

async function ofServer(uri: string, signal: AbortSignal): Promise<Finding[]> {
  if (PAGE.service === "static") return [];
  if (PAGE.service === "publisher") {
    return ofMaps(await getJson(`/lookup?url=${encodeURIComponent(uri)}`, signal), uri);
  }
  const route = await getJson<RouteAnswer>(`/route/${encodeURIComponent(uri)}`, signal);
  return route.archives.map((archive) => ofRoute(archive, uri));
}

function ofRoute(archive: RouteAnswer["archives"][number], uri: string): Finding {
  const { id, name, key, frequency, years, reason, asked, why } = archive;
  const timeMap = PAGE.archives.find((each) => each.id === id)?.timemap ?? undefined;
  return {
    id,
    name,
    verdict: verdictOfRoute(archive),
    key: key ?? undefined,
    frequency: frequency ?? undefined,
    years,
    isPacked: false,
    reason,
    isAsked: asked,
    why,
    replay: undefined,
    timeMap: timeMap === undefined ? undefined : `${timeMap}${uri}`,
  };
}

function ofMaps(
  body: MapAnswer & { readonly answers?: readonly MapAnswer[] },
  uri: string,
): Finding[] {
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
  answer: Pick<MapAnswer, "present" | "years"> & {
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
    years: answer.years,
    isPacked: map.isPacked,
    reason: undefined,
    isAsked: undefined,
    why: undefined,
    replay: map.replay === null || !answer.present ? undefined : `${map.replay}${uri}`,
    timeMap: undefined,
  };
}
