import { located, MementoMapError, quote } from "../errors.ts";
import {
  addFrequencies,
  formatFrequency,
  type Frequency,
  isPresent,
  parseFrequency,
} from "../ukvs/frequency.ts";
import { textOfLine } from "../ukvs/head.ts";
import { isJsonObject } from "../ukvs/header.ts";
import {
  contains,
  type DatetimeRange,
  overlap,
  parseDatetimeKey,
  parseRecord,
  type UkvsRecord,
} from "../ukvs/record.ts";
import type { RowLayout, RowRange } from "../ukvs/row.ts";
import type { Verdict } from "./source.ts";

/** The result for one key, possibly a wildcard. */
export interface KeyAnswer {
  readonly present: boolean;
  /**
   * Whether the rows of the key decide. If not, they do not cover the requested time, or are voids for a
   * part of it only, and the next wider key must be tried.
   */
  readonly decides: boolean;
  readonly key: string;
  /** Absent if the rows do not decide. */
  readonly frequency?: string;
}

/** Writes the result for a key into a verdict. */
export function verdictOf({ present, frequency = "" }: KeyAnswer, into: Verdict): void {
  into.present = present;
  into.bytes = encoder.encode(frequency);
  into.start = 0;
  into.end = into.bytes.length;
}

const encoder = new TextEncoder();
const UNKNOWN = "/";
const ALL_TIME: DatetimeRange = {};

// Widths of statements. Narrower ones are evaluated first: a total counts only if they do not decide.
/** A single period. */
const PART = 0;
/** The frequency of a row for a period that its JSON block divides further. */
const TOTAL_OF_PART = 1;
/** All time. */
const TOTAL = 2;

/** The frequency of a key in a period: from a row, or from a member of the JSON block of a row. */
interface Statement {
  readonly range: DatetimeRange;
  readonly width: number;
  /** As written. */
  readonly text: string;
  readonly frequency: Frequency;
  /** Whether this is a member of a JSON block whose row is present and already counts it. */
  readonly isCountedElsewhere: boolean;
}

/**
 * Combines the rows of a key, at least one, for a period; default all time.
 *
 * A present statement that overlaps the period makes the key present. If all overlapping statements are
 * void, and one contains the period, the key is absent. Otherwise the next wider statements of the key are
 * evaluated. If none decides, a wider key must be tried.
 *
 * The frequency is the sum of the deciding statements. Without a period it is the frequency of the row for
 * all time, if that row is present.
 *
 * @throws MM_BAD_KEY if a datetime key is not a time, MM_BAD_FREQUENCY, MM_BAD_LINE.
 */
export function decide(
  key: string,
  rows: readonly RowRange[],
  layout: RowLayout,
  period?: DatetimeRange,
): KeyAnswer {
  return located({ source: layout.source }, () => {
    const statements = rows.flatMap(({ bytes, start, end }) =>
      statementsOf(parseRecord(textOfLine(bytes, start, end), layout.fields), layout),
    );
    return { key, ...answerOf(statements, period) };
  });
}

function answerOf(
  statements: readonly Statement[],
  period: DatetimeRange | undefined,
): Omit<KeyAnswer, "key"> {
  const requested = period ?? ALL_TIME;
  for (const width of [PART, TOTAL_OF_PART, TOTAL]) {
    const matching = statements.filter(
      (statement) => statement.width === width && overlap(statement.range, requested),
    );
    if (matching.some(({ frequency }) => isPresent(frequency))) {
      const frequency = period === undefined ? frequencyOfAllTime(statements) : sumOf(matching);
      return { present: true, decides: true, frequency };
    }
    if (matching.some(({ range }) => contains(range, requested))) {
      return { present: false, decides: true, frequency: sumOf(matching) };
    }
  }
  return { present: false, decides: false };
}

/** The frequency of a present key over all time. */
function frequencyOfAllTime(statements: readonly Statement[]): string {
  const totals = statements.filter(({ width }) => width === TOTAL);
  if (totals.some(({ frequency }) => isPresent(frequency))) return sumOf(totals);
  return sumOf(
    statements.filter(({ width, isCountedElsewhere }) => {
      return width !== TOTAL && !isCountedElsewhere;
    }),
  );
}

/** The sum of frequencies; a single one is returned unchanged. */
function sumOf(statements: readonly Statement[]): string {
  const [first] = statements;
  return statements.length === 1 && first !== undefined
    ? first.text
    : formatFrequency(statements.map(({ frequency }) => frequency).reduce(addFrequencies));
}

function statementsOf(record: UkvsRecord, layout: RowLayout): Statement[] {
  const [text = UNKNOWN] = record.values;
  const range = parseDatetimeKey(datetimeOf(record, layout));
  const frequency = parseFrequency(text);
  const parts = record.json?.["datetime"];
  if (!isJsonObject(parts)) {
    const width = isAllTime(range) ? TOTAL : PART;
    return [{ range, width, text, frequency, isCountedElsewhere: false }];
  }
  const isCounted = isPresent(frequency);
  const statements = Object.entries(parts).map(([datetime, value]): Statement => {
    const part = parseDatetimeKey(datetime);
    const partText = frequencyText(value);
    return {
      range: part,
      width: isAllTime(part) ? TOTAL : PART,
      text: partText,
      frequency: parseFrequency(partText),
      isCountedElsewhere: isCounted,
    };
  });
  const width = isAllTime(range) ? TOTAL : TOTAL_OF_PART;
  statements.push({ range, width, text, frequency, isCountedElsewhere: false });
  return statements;
}

function datetimeOf({ keys }: UkvsRecord, layout: RowLayout): string {
  const datetime = layout.datetimeColumn < 0 ? ":" : (keys[layout.datetimeColumn] ?? ":");
  return datetime === "-" ? ":" : datetime;
}

function isAllTime({ from, until }: DatetimeRange): boolean {
  return from === undefined && until === undefined;
}

function frequencyText(part: unknown): string {
  if (typeof part === "string" || typeof part === "number") return String(part);
  throw new MementoMapError(
    "MM_BAD_FREQUENCY",
    `expected a frequency for a datetime in the JSON block, got ${quote(JSON.stringify(part) ?? "nothing")}`,
  );
}
