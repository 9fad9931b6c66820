import { isMementoMapError, MementoMapError, type Position } from "../errors.ts";
import { parseFrequency } from "../ukvs/frequency.ts";
import { DEFAULT_FIELDS, type UkvsHeaders } from "../ukvs/header.ts";
import { parseRecord } from "../ukvs/record.ts";

/** The header line of CDX, or a key and 14 digits of a datetime, which nothing was captured as often as. */
const INDEX_LINE = /^ CDX |^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]/;

/**
 * Refuses what is no map by its first row: indexes, lists, web pages, anything named by mistake.
 *
 * A lookup searches a map without reading it whole, and would say "absent" of everything; an index
 * even looks like a map whose counts are datetimes. Files that name their fields say what they are.
 *
 * @throws MM_BAD_INPUT for an index, MM_BAD_LINE and MM_BAD_FREQUENCY for what is no row of a map
 */
export function checkFirstRow(line: string, headers: UkvsHeaders, position: Position): void {
  if (headers.namesFields) return;
  refuseIndex(line, headers, position.source);
  try {
    const [frequency] = parseRecord(line, DEFAULT_FIELDS).values;
    if (frequency !== undefined) parseFrequency(frequency);
  } catch (error) {
    throw isMementoMapError(error) ? error.at(position) : error;
  }
}

/** @throws MM_BAD_INPUT where the first row is that of an index. */
export function refuseIndex(line: string, headers: UkvsHeaders, source: string): void {
  if (headers.namesFields || !INDEX_LINE.test(line)) return;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    "this is an index, not a map; make a map of it with mementomap generate",
    { position: { source } },
  );
}
