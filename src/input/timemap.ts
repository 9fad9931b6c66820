import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { formatDatetime } from "../memento/datetime.ts";
import { surt } from "../surt/surt.ts";
import { timeMapReader } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { RowLines } from "./row-lines.ts";

export interface TimeMapOptions {
  readonly source: string;
  /** Take only mementos whose address has this in its host or path; for TimeMaps of aggregators. */
  readonly archive?: string | undefined;
}

/**
 * Reads TimeMaps, in link format (RFC 7089), JSON or CDXJ as MemGator writes them, as lines of
 * `ROW_LINE_COLUMNS`: one for each memento, with the original URI.
 *
 * Holds all mementos of the TimeMap, because its original may come last.
 *
 * @throws MM_BAD_INPUT where there is no original, or there are two, or something is no memento;
 *   MM_LIMIT for more than 5 million mementos.
 */
export async function* timeMapRows(
  chunks: AsyncIterable<Uint8Array>,
  { source, archive }: TimeMapOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { original, otherOriginal, mementos, faults, firstFault } = await readTimeMap(
    chunks,
    source,
  );
  if (faults > 0) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `not a TimeMap: ${quote(firstFault ?? "")} is no link or line with its datetime, and no JSON`,
      { position: { source } },
    );
  }
  if (original === undefined) {
    throw new MementoMapError("MM_BAD_INPUT", "the TimeMap does not say which original it is of", {
      position: { source },
    });
  }
  if (otherOriginal !== undefined && surt(otherOriginal) !== surt(original)) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `tells of two originals, ${quote(original)} and ${quote(otherOriginal)}; which mementos are ` +
        "whose cannot be told: give each TimeMap as a file of its own",
      { position: { source } },
    );
  }
  const lines = new RowLines();
  for (let i = 0; i < mementos.count; i++) {
    if (archive !== undefined && !mementos.uriAt(i).includes(archive)) continue;
    lines.add({ uri: original, date: formatDatetime(mementos.datetimeAt(i)) });
    if (lines.isFull) yield lines.take();
  }
  if (!lines.isEmpty) yield lines.take();
}

async function readTimeMap(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): Promise<TimeMapReading> {
  const reader = timeMapReader();
  try {
    for await (const chunk of chunks) reader.write(chunk);
    return reader.end();
  } catch (error) {
    throw isMementoMapError(error) && error.position === undefined ? error.at({ source }) : error;
  }
}
