import type { Answer } from "../../src/lookup/map-lookup.ts";
import { answered, getJson, lookupHere, type PageMap, publishedMaps } from "../maps/map-list.ts";
import { PAGE } from "../page-data.ts";
import { type Verdict, VERDICTS, verdictOfAnswer, verdictOfDecision } from "./verdict.ts";

/** What a map or an aggregator knows of a page in one archive, before the archive is queried. */
export interface Finding {
  readonly id: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** The key of a map that decided, and its frequency. */
  readonly key: string | undefined;
  readonly frequency: string | undefined;
  readonly isPacked: boolean;
  /** What an aggregator decided; undefined of a publisher. */
  readonly decision?: ArchiveDecision;
  /** Where to look at the page, and where its TimeMap is. */
  readonly replay?: string | undefined;
  readonly timeMap?: string | undefined;
}

/** Whether an aggregator would query an archive, and why. */
export interface ArchiveDecision {
  readonly id: string;
  readonly name: string;
  readonly asked: boolean;
  readonly reason: string;
  readonly key: string | null;
  readonly frequency: string | null;
  /** What was learnt that decided. */
  readonly why?: string;
}

interface MapAnswer {
  readonly map?: string;
  readonly present: boolean;
  readonly key: string | null;
  readonly frequency: string | null;
}

/** What `/lookup` or `/route` of the server says. */
type Served =
  | (MapAnswer & { readonly answers?: readonly MapAnswer[] })
  | { readonly archives: readonly ArchiveDecision[] };

/** Looks a page up in all maps; what says most comes first. */
export async function lookUp(uri: string, signal: AbortSignal): Promise<Finding[]> {
  const path = lookupPath(uri);
  const [served, here] = await Promise.all([
    path === undefined ? undefined : getJson<Served>(path, signal),
    lookupHere(uri),
  ]);
  return sorted([
    ...(served === undefined ? [] : findingsOf(served, uri)),
    ...here.map(({ map, answer }) => ofMap(map, answer, uri)),
  ]);
}

/** What the server answered for the first view; undefined where it did not. */
export function answeredLookup(uri: string): Finding[] | undefined {
  const path = lookupPath(uri);
  const served = path === undefined ? undefined : (answered(path) as Served | undefined); // our own server's
  return served === undefined ? undefined : sorted(findingsOf(served, uri));
}

/** Where the server tells what maps say; undefined for a site of files. */
export function lookupPath(uri: string): string | undefined {
  if (PAGE.service === "static") return undefined;
  const encoded = encodeURIComponent(uri);
  return PAGE.service === "publisher" ? `/lookup?url=${encoded}` : `/route/${encoded}`;
}

function sorted(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));
}

function findingsOf(served: Served, uri: string): Finding[] {
  if ("archives" in served) return served.archives.map((each) => ofArchive(each, uri));
  const maps = publishedMaps();
  return (served.answers ?? [served]).flatMap((answer) => {
    const map = maps.find(({ id }) => id === answer.map) ?? maps[0];
    return map === undefined ? [] : [ofMap(map, answer, uri)];
  });
}

function ofArchive(decision: ArchiveDecision, uri: string): Finding {
  const { id, name, key, frequency } = decision;
  const timeMap = PAGE.archives.find((each) => each.id === id)?.timemap ?? undefined;
  return {
    id,
    name,
    verdict: verdictOfDecision(decision),
    key: key ?? undefined,
    frequency: frequency ?? undefined,
    isPacked: false,
    decision,
    timeMap: timeMap && `${timeMap}${uri}`,
  };
}

function ofMap(map: PageMap, answer: MapAnswer | Answer, uri: string): Finding {
  const { id, name, isPacked, replay } = map;
  const verdict = verdictOfAnswer(answer);
  return {
    id,
    name,
    verdict: isPacked && verdict === "held" ? "possibly" : verdict,
    key: answer.key ?? undefined,
    frequency: answer.frequency ?? undefined,
    isPacked,
    replay: replay === null || !answer.present ? undefined : `${replay}${uri}`,
  };
}
