import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { type DatetimeRange, parseDatetimeKey } from "../ukvs/datetime-key.ts";
import { addFrequencies, formatFrequency, isPresent, parseFrequency } from "../ukvs/frequency.ts";
import { parseRecord, type UkvsRecord } from "../ukvs/record.ts";
import { isJsonObject } from "../ukvs/relaxed-json.ts";
import type { KeyAnswer } from "./lookup.ts";
import type { RowLayout, RowRange } from "./map-row.ts";

const UNKNOWN = "/";
const decoder = new TextDecoder();

/**
 * What the rows of one key say together; there is at least one.
 *
 * Without `at` every row counts. With it, a row counts if its datetime key covers that time, and
 * of a row whose JSON block splits it by datetime only the parts that cover it. `at` of fewer than
 * 14 digits stands for the whole period, and what overlaps it covers it.
 *
 * @throws MM_BAD_KEY when `at` or a datetime key is no time, MM_BAD_FREQUENCY, MM_BAD_LINE.
 */
export function answerFromRows(
  rows: readonly RowRange[],
  layout: RowLayout,
  at?: string,
): KeyAnswer {
  const time = at === undefined ? undefined : parseTime(at);
  try {
    const records = rows.map(({ bytes, start, end }) =>
      parseRecord(decoder.decode(bytes.subarray(start, end)), layout.fields),
    );
    const key = records[0]?.keys[0] ?? "";
    const stated = records.flatMap((record) => frequenciesOf(record, layout, time));
    const [only] = stated;
    if (only === undefined) return { present: false, key };
    if (stated.length === 1)
      return { present: isPresent(parseFrequency(only)), key, frequency: only };
    const sum = stated.map(parseFrequency).reduce(addFrequencies);
    return { present: isPresent(sum), key, frequency: formatFrequency(sum) };
  } catch (error) {
    throw isMementoMapError(error) ? error.at({ source: layout.source }) : error;
  }
}

/** The frequencies of a row that count at a time, as written. */
function frequenciesOf(record: UkvsRecord, layout: RowLayout, time: string | undefined): string[] {
  const [frequency = UNKNOWN] = record.values;
  if (time === undefined) return [frequency];
  if (layout.datetimeColumn >= 0) {
    const datetime = record.keys[layout.datetimeColumn] ?? ":";
    if (datetime !== "-" && !overlaps(parseDatetimeKey(datetime), time)) return [];
  }
  const split = record.json?.["datetime"];
  if (!isJsonObject(split)) return [frequency];
  return Object.entries(split).flatMap(([datetime, part]) =>
    overlaps(parseDatetimeKey(datetime), time) ? [frequencyText(part)] : [],
  );
}

function frequencyText(part: unknown): string {
  if (typeof part === "string" || typeof part === "number") return String(part);
  throw new MementoMapError(
    "MM_BAD_FREQUENCY",
    `a datetime in the JSON block has ${quote(JSON.stringify(part) ?? "nothing")} in place of a frequency`,
  );
}

/** Checks that a text is a time of 4 to 14 digits. */
function parseTime(text: string): string {
  const { from } = parseDatetimeKey(text);
  if (from !== text) {
    throw new MementoMapError(
      "MM_BAD_KEY",
      `${quote(text)} is no time to look up: give 4 to 14 digits of YYYYMMDDhhmmss`,
    );
  }
  return text;
}

/** Whether a range and the period that begins with the digits of `time` have a moment in common. */
function overlaps({ from, until }: DatetimeRange, time: string): boolean {
  return (
    (from === undefined || from.slice(0, time.length) <= time.slice(0, from.length)) &&
    (until === undefined || time.slice(0, until.length) <= until.slice(0, time.length))
  );
}
