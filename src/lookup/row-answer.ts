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
 * Without a period every row counts, and one that says present is enough; where a row for all time
 * (`:`) states the total, its frequency is not added to but given. With a period, a row counts if its
 * datetime key overlaps it, the total only where no other row does; of a row whose JSON block splits
 * it by datetime only the parts that overlap it count.
 *
 * @throws MM_BAD_KEY when a datetime key is no time, MM_BAD_FREQUENCY, MM_BAD_LINE.
 */
export function answerFromRows(
  rows: readonly RowRange[],
  layout: RowLayout,
  period?: DatetimeRange,
): KeyAnswer {
  try {
    const records = rows.map(({ bytes, start, end }) =>
      parseRecord(decoder.decode(bytes.subarray(start, end)), layout.fields),
    );
    const key = records[0]?.keys[0] ?? "";
    const totals = records.filter((record) => isTotal(record, layout));
    const parts = records.filter((record) => !isTotal(record, layout));
    return period === undefined
      ? answerAnyTime(key, totals, parts)
      : answerDuring(key, totals, parts, period, layout);
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

function answerDuring(
  key: string,
  totals: readonly UkvsRecord[],
  parts: readonly UkvsRecord[],
  period: DatetimeRange,
  layout: RowLayout,
): KeyAnswer {
  const covering = parts.flatMap((record) => frequenciesDuring(record, layout, period));
  const stated =
    covering.length > 0
      ? covering
      : totals.flatMap((record) => frequenciesDuring(record, layout, period));
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

/** The frequencies of a row that count in a period, as written. */
function frequenciesDuring(record: UkvsRecord, layout: RowLayout, period: DatetimeRange): string[] {
  if (!overlap(parseDatetimeKey(datetimeOf(record, layout)), period)) return [];
  const split = record.json?.["datetime"];
  if (!isJsonObject(split)) return [frequencyOf(record)];
  return Object.entries(split).flatMap(([datetime, part]) =>
    overlap(parseDatetimeKey(datetime), period) ? [frequencyText(part)] : [],
  );
}

function frequencyText(part: unknown): string {
  if (typeof part === "string" || typeof part === "number") return String(part);
  throw new MementoMapError(
    "MM_BAD_FREQUENCY",
    `a datetime in the JSON block has ${quote(JSON.stringify(part) ?? "nothing")} in place of a frequency`,
  );
}

/**
 * The period that a time to look up at stands for: all that begins with its 4 to 14 digits.
 *
 * @throws MM_BAD_KEY when it is no time.
 */
export function lookupPeriod(at: string | undefined): DatetimeRange | undefined {
  if (at === undefined) return undefined;
  const period = parseDatetimeKey(at);
  if (period.from === at) return period;
  throw new MementoMapError(
    "MM_BAD_KEY",
    `${quote(at)} is no time to look up: give 4 to 14 digits of YYYYMMDDhhmmss`,
  );
}

/** Whether two ranges have a moment in common. */
function overlap(a: DatetimeRange, b: DatetimeRange): boolean {
  return !beginsAfter(a, b) && !beginsAfter(b, a);
}

/** Whether a range begins after another ended; ends stand for all times that begin with them. */
function beginsAfter({ from }: DatetimeRange, { until }: DatetimeRange): boolean {
  if (from === undefined || until === undefined) return false;
  return from.slice(0, until.length) > until.slice(0, from.length);
}
