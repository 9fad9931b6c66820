import { isMementoMapError, type Position } from "../../errors.ts";
import { parseFrequency } from "../../ukvs/frequency.ts";
import { DEFAULT_FIELDS, type UkvsHeaders } from "../../ukvs/header.ts";
import { parseRecord } from "../../ukvs/record.ts";

/**
 * Refuses what is not a map by its first row: lists, anything named by mistake.
 *
 * A lookup searches a map without reading it whole, and would say "absent" of everything. Files that
 * name their fields say what they are, and `refuseForeignFile` knows files of other kinds.
 *
 * @throws MM_BAD_LINE and MM_BAD_FREQUENCY for what is not a row of a map
 */
export function checkFirstRow(line: string, headers: UkvsHeaders, position: Position): void {
  if (headers.namesFields) return;
  try {
    const [frequency] = parseRecord(line, DEFAULT_FIELDS).values;
    if (frequency !== undefined) parseFrequency(frequency);
  } catch (error) {
    throw isMementoMapError(error) ? error.at(position) : error;
  }
}
