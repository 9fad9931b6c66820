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
 * Without `at` every row counts, and one that says present is enough; where a row for all time
 * (`:`) states the total, its frequency is not added to but given. With `at`, a row counts if its
 * datetime key covers that time, the total only where no other row does; of a row whose JSON block
 * splits it by datetime only the parts that cover it count. `at` of fewer than 14 digits stands for
 * the whole period, and what overlaps it covers it.
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
    const totals = records.filter((record) => isTotal(record, layout));
    const parts = records.filter((record) => !isTotal(record, layout));
    return time === undefined
      ? answerAnyTime(key, totals, parts)
      : answerAt(key, totals, parts, time, layout);
  } catch (error) {
    throw isMementoMapError(error) ? error.at({ source: layout.source }) : error;
  }
}

function answerAnyTime(
  key: string,
  totals: readonly UkvsRecord[],
  parts: readonly UkvsRecord[],
): KeyAnswer {
  const sayPresent = (records: readonly UkvsRecord[]): boolean =>
    records.some((record) => isPresent(parseFrequency(frequencyOf(record))));
  const present = sayPresent(totals) || sayPresent(parts);
  // A total of 0 beside parts that are present is a mistake, and must not read as absent.
  const holdsTotal = totals.length > 0 && sayPresent(totals) === present;
  return { present, key, frequency: sumOf((holdsTotal ? totals : parts).map(frequencyOf)) };
}

function answerAt(
  key: string,
  totals: readonly UkvsRecord[],
  parts: readonly UkvsRecord[],
  time: string,
  layout: RowLayout,
): KeyAnswer {
  const covering = parts.flatMap((record) => frequenciesAt(record, layout, time));
  const stated =
    covering.length > 0
      ? covering
      : totals.flatMap((record) => frequenciesAt(record, layout, time));
  if (stated.length === 0) return { present: false, key };
  const frequency = sumOf(stated);
  return { present: isPresent(parseFrequency(frequency)), key, frequency };
}

/** The sum of frequencies; a single one stays as it is written. */
function sumOf(stated: readonly string[]): string {
  const frequencies = stated.map(parseFrequency);
  return stated.length === 1 ? stated[0] : formatFrequency(frequencies.reduce(addFrequencies));
}

function frequencyOf({ values: [frequency = UNKNOWN] }: UkvsRecord): string {
  return frequency;
}

function datetimeOf({ keys }: UkvsRecord, layout: RowLayout): string {
  const datetime = layout.datetimeColumn < 0 ? ":" : (keys[layout.datetimeColumn] ?? ":");
  return datetime === "-" ? ":" : datetime;
}

function isTotal(record: UkvsRecord, layout: RowLayout): boolean {
  return layout.datetimeColumn >= 0 && datetimeOf(record, layout) === ":";
}

/** The frequencies of a row that count at a time, as written. */
function frequenciesAt(record: UkvsRecord, layout: RowLayout, time: string): string[] {
  if (!overlaps(parseDatetimeKey(datetimeOf(record, layout)), time)) return [];
  const split = record.json?.["datetime"];
  if (!isJsonObject(split)) return [frequencyOf(record)];
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
