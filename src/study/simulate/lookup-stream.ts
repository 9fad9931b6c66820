import { lineBatches, MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { MementoMapError } from "../../errors.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { surt } from "../../surt/uri-to-surt.ts";

/** Lookups in chronological order, as indexes into the distinct originals. */
export interface LookupStream {
  /** SURTs. */
  readonly originals: readonly string[];
  /** The URI of the first lookup of each original. */
  readonly uris: readonly string[];
  /** Indexes into `originals`. */
  readonly lookups: readonly number[];
  /** Milliseconds since 1970, one for each lookup; synthetic if the stream has none. */
  readonly times: readonly number[];
}

const MEMGATOR = /Aggregating Mementos for (\S+)/;
const REQUEST = /"(?:GET|HEAD) (\/(?:timemap\/[a-z]+|timegate|memento)\/\S+) HTTP/;
const URI_START = /^(?:https?:\/\/)?[^\s/]+\.\S/i;
const TIME = /^\d{4}-\d\d-\d\d/;

/** Without times, lookups are one second apart from this time on. */
const FIRST_TIME = Date.parse("2020-01-01T00:00:00Z");

/**
 * Reads a stream of lookups: URIs, one per line, optionally with a time, separated by a tab; logs of
 * MemGator and of this aggregator, and access logs of either.
 *
 * Holds the whole stream in memory.
 *
 * @throws MM_BAD_INPUT for a file without lookups; MM_IO
 */
export async function readLookups(path: string, streams: MapStreams): Promise<LookupStream> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  const decoder = new TextDecoder();
  const places = new Map<string, number>();
  const uris: string[] = [];
  const lookups: number[] = [];
  const times: number[] = [];
  const limits = { source: input.name, maxLineBytes: MAX_LINE_BYTES };
  for await (const { bytes, starts, ends, count } of lineBatches(input.chunks, limits)) {
    for (let i = 0; i < count; i++) {
      const found = lookupOf(decoder.decode(bytes.subarray(starts[i], ends[i])));
      if (found === undefined) continue;
      const key = surt(found.uri);
      let place = places.get(key);
      if (place === undefined) {
        place = uris.length;
        places.set(key, place);
        uris.push(found.uri);
      }
      lookups.push(place);
      times.push(found.time ?? FIRST_TIME + lookups.length * 1000);
    }
  }
  if (lookups.length === 0) {
    throw new MementoMapError("MM_BAD_INPUT", "no lookups: no line has a URI", {
      position: { source: input.name },
    });
  }
  return { originals: [...places.keys()], uris, lookups, times };
}

function lookupOf(line: string): { uri: string; time: number | undefined } | undefined {
  const logged = MEMGATOR.exec(line)?.[1] ?? originalOf(REQUEST.exec(line)?.[1]);
  if (logged !== undefined) return { uri: logged, time: undefined };
  const fields = line.trim().split("\t");
  const uri = fields.find(
    (field) => !/\s/.test(field) && URI_START.test(field) && !TIME.test(field),
  );
  if (uri === undefined) return undefined;
  const time = Date.parse(fields.find((field) => TIME.test(field)) ?? "");
  return { uri, time: Number.isNaN(time) ? undefined : time };
}

/** The original in the path of a request, which begins at its scheme. */
function originalOf(path: string | undefined): string | undefined {
  const scheme = path?.indexOf("://") ?? -1;
  return scheme === -1 ? undefined : path?.slice(path.lastIndexOf("/", scheme - 1) + 1);
}
