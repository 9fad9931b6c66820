import { timeMapReader, type TimeMapReaderOptions } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { chunksOf, type Platform, type Source } from "./source.ts";

/** How a TimeMap is read. */
export interface ReadTimeMapOptions extends TimeMapReaderOptions {
  /** Ends the work with MM_INTERRUPTED when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** See `readTimeMap` of the entries. */
export async function readTimeMapOn(
  platform: Platform,
  source: Source,
  { signal, ...options }: ReadTimeMapOptions = {},
): Promise<TimeMapReading> {
  const reader = timeMapReader(options);
  for await (const chunk of chunksOf(platform, source, signal)) reader.write(chunk);
  return reader.end();
}
