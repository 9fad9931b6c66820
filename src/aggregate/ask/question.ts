import { datetimeOfEpochMs, tryParseDatetime } from "../../memento/datetime.ts";
import type { Archive } from "../route/archive.ts";
import { cdxQuery, readCdx } from "./cdx.ts";
import { addressOf } from "./endpoints.ts";
import type { Endpoint } from "./state.ts";
import { readTimeGate } from "./timegate.ts";
import { type Asking, type Reading, readTimeMap } from "./timemap.ts";

/** A question to an archive. */
export interface Question {
  /** Equal for equal answers. */
  readonly key: string;
  readonly archive: Archive;
  readonly endpoint: Endpoint;
  readonly uri: string;
  readonly read: (asking: Asking) => Promise<Reading>;
}

/** TimeGates return the last memento for it. */
export const LATEST: number = tryParseDatetime("99991231235959") ?? 0;
/** A datetime within a minute of now, or later, requests the last memento. */
const NOW_MS = 60_000;

/** For all mementos, from a TimeMap or a CDX server. Undefined for an archive that has neither. */
export function askForAll(archive: Archive, uri: string): Question | undefined {
  const { timemap, cdx, replay } = archive;
  const question = { archive, endpoint: "timemap", uri } as const;
  if (timemap !== undefined) {
    const url = timemap + uri;
    return { ...question, key: url, read: (asking) => readTimeMap(asking, url) };
  }
  if (cdx === undefined || replay === undefined) return undefined;
  const server = { cdx, replay };
  const read = (asking: Asking): Promise<Reading> => readCdx(asking, server, uri);
  return { ...question, key: cdxQuery(server, uri), read };
}

/** For the mementos around a datetime, fourteen digits as a number, from a TimeGate. */
export function askForClosest(
  archive: Archive,
  uri: string,
  datetime: number,
): Question | undefined {
  const address = addressOf(archive, "timegate");
  if (address === undefined) return undefined;
  const url = address + uri;
  const isLatest = datetime >= datetimeOfEpochMs(Date.now() - NOW_MS);
  const key = `${url} ${isLatest ? "latest" : datetime}`;
  const read = (asking: Asking): Promise<Reading> => readTimeGate(asking, url, datetime);
  return { key, archive, endpoint: "timegate", uri, read };
}

/** For all mementos that a TimeGate names, of an archive that has nothing else. */
export function askForNamed(archive: Archive, uri: string): Question | undefined {
  const closest = askForClosest(archive, uri, LATEST);
  if (closest === undefined) return undefined;
  const read = (asking: Asking): Promise<Reading> => readNamed(asking, closest);
  return { ...closest, key: `${archive.timegate}${uri} all`, read };
}

/** Reads the TimeMap that a TimeGate names, or else the mementos in its links. */
async function readNamed(asking: Asking, closest: Question): Promise<Reading> {
  const found = await closest.read(asking);
  if (found.timemap !== undefined) return readTimeMap(asking, found.timemap);
  if (found.answer.result !== "hit") return found;
  const fault = "it has no TimeMap; its TimeGate names these mementos, and may know more";
  const noEndpoint = { code: "MM_NOT_FOUND", failure: "no-endpoint", fault } as const;
  return { ...found, answer: { ...found.answer, ...noEndpoint } };
}
