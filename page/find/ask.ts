import type { Answer } from "../../src/lookup/map-lookup.ts";
import { answered, getJson, lookupHere, type PageMap, publishedMaps } from "../maps/map-list.ts";
import { PAGE } from "../page-data.ts";
import { type Verdict, VERDICTS, verdictOfAnswer, verdictOfDecision } from "./verdict.ts";

/** The evidence of a map or an aggregator for a page in one archive, before the archive is queried. */
export interface Finding {
  readonly id: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** The deciding key of a map, and its frequency. */
  readonly key: string | undefined;
  readonly frequency: string | undefined;
  readonly isPacked: boolean;
  /** The decision of an aggregator; undefined for a publisher. */
  readonly decision?: ArchiveDecision;
  /** The addresses of the archived page and of its TimeMap. */
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
  /** The learnt statistics behind the decision. */
  readonly why?: string;
}

interface MapAnswer {
  readonly map?: string;
  readonly present: boolean;
  readonly key: string | null;
  readonly frequency: string | null;
}

/** The response of `/lookup` or `/route`. */
type Served =
  | (MapAnswer & { readonly answers?: readonly MapAnswer[] })
  | { readonly archives: readonly ArchiveDecision[] };

/** Looks a page up in all maps; the most definite findings come first. */
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

/** The findings that the server embedded for the first view, if any. */
export function answeredLookup(uri: string): Finding[] | undefined {
  const path = lookupPath(uri);
  const served = path === undefined ? undefined : (answered(path) as Served | undefined); // our own server's
  return served === undefined ? undefined : sorted(findingsOf(served, uri));
}

/** The path of lookups on the server; undefined for a static site. */
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
