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

/** What a map says about one key, wildcards included. */
export interface KeyAnswer {
  readonly present: boolean;
  /**
   * Whether the rows of the key settle the question. If not, they say nothing of the time asked for,
   * or have voids for a part of it only, and the next wider key is to be asked.
   */
  readonly decides: boolean;
  readonly key: string;
  /** None where the rows do not decide. */
  readonly frequency?: string;
}

/** Writes what the rows of a key say to where a source puts it. */
export function verdictOf({ present, frequency = "" }: KeyAnswer, into: Verdict): void {
  into.present = present;
  into.bytes = encoder.encode(frequency);
  into.start = 0;
  into.end = into.bytes.length;
}

const encoder = new TextEncoder();
const UNKNOWN = "/";
const ALL_TIME: DatetimeRange = {};

// How wide a statement is. The narrower ones are asked first: a total speaks only where they do not
// decide.
/** A period of its own. */
const PART = 0;
/** The frequency of a row for a period that its JSON block divides further. */
const TOTAL_OF_PART = 1;
/** All time. */
const TOTAL = 2;

/** What a key says of a period: by a row, by a member of a JSON block, or by the row that has one. */
interface Statement {
  readonly range: DatetimeRange;
  readonly width: number;
  /** As written. */
  readonly text: string;
  readonly frequency: Frequency;
  /** A member of the JSON block of a row that is present itself, and counts it. */
  readonly isCountedElsewhere: boolean;
}

/**
 * What the rows of a key say together of a period, default all time; there is at least one row.
 *
 * Of the statements that overlap the period, one that is present makes the key present. If all are
 * void, and one contains the period, the key is absent. Otherwise the next wider statements of the key
 * are asked, and at last nothing is decided: a wider key may speak.
 *
 * The frequency is the sum of the statements that decided. Without a period it is that of the row
 * for all time, where that is present.
 *
 * @throws MM_BAD_KEY when a datetime key is not a time, MM_BAD_FREQUENCY, MM_BAD_LINE.
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
  const asked = period ?? ALL_TIME;
  for (const width of [PART, TOTAL_OF_PART, TOTAL]) {
    const speaking = statements.filter(
      (statement) => statement.width === width && overlap(statement.range, asked),
    );
    if (speaking.some(({ frequency }) => isPresent(frequency))) {
      const frequency = period === undefined ? frequencyOfAllTime(statements) : sumOf(speaking);
      return { present: true, decides: true, frequency };
    }
    if (speaking.some(({ range }) => contains(range, asked))) {
      return { present: false, decides: true, frequency: sumOf(speaking) };
    }
  }
  return { present: false, decides: false };
}

/** The frequency of a key that is present. */
function frequencyOfAllTime(statements: readonly Statement[]): string {
  const totals = statements.filter(({ width }) => width === TOTAL);
  if (totals.some(({ frequency }) => isPresent(frequency))) return sumOf(totals);
  return sumOf(
    statements.filter(({ width, isCountedElsewhere }) => {
      return width !== TOTAL && !isCountedElsewhere;
    }),
  );
}

/** The sum of frequencies; a single one stays as it is written. */
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
    `a datetime in the JSON block has ${quote(JSON.stringify(part) ?? "nothing")} in place of a frequency`,
  );
}
