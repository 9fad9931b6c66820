import { QUOTE } from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { currentSpelling } from "../../surt/key.ts";
import {
  columnEnd,
  columnsEnd,
  formatRecord,
  parseRecord,
  type UkvsRecord,
} from "../../ukvs/record.ts";
import {
  addFrequencies,
  formatFrequency,
  isPresent,
  parseFrequency,
} from "../../ukvs/frequency.ts";
import type { Frequency } from "../../ukvs/frequency.ts";
import { type Fields, isJsonObject, startsHeader } from "../../ukvs/header.ts";
import type { RowPart, RowRange } from "./totals.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** A row in the form that writers produce, in bytes of its own. */
export interface CanonicalRow extends RowRange {
  /** The line with its end, and behind it the frequency that counts. */
  readonly bytes: Uint8Array;
  readonly keyEnd: number;
  readonly lineEnd: number;
  /** Whether the map spells the key otherwise, so that its place may be another. */
  readonly isRespelled: boolean;
}

/**
 * Puts a line of a map, without its end, into the form that writers produce.
 *
 * The frequency that counts is that of the row. Where that is 0 and the JSON block holds something of
 * some time, it is the sum of the block: such a row is present.
 *
 * @throws MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY; MM_BAD_HEADER for a header
 */
export function canonicalRow(line: Uint8Array, fields: Fields): CanonicalRow {
  const text = textOfLine(line);
  if (startsHeader(line[0])) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `header after the first record: ${quote(text)}; headers come first`,
    );
  }
  if (line[0] === QUOTE) {
    throw new MementoMapError(
      "MM_BAD_KEY",
      `the key is quoted, which keys of a map never are: ${quote(text)}`,
    );
  }
  const record = parseRecord(text, fields);
  const [written, ...otherKeys] = record.keys;
  const [, ...otherValues] = record.values;
  const key = currentSpelling(written);
  const frequency = parseFrequency(record.values[0] ?? "/");
  const row = formatRecord(
    {
      ...record,
      keys: [key, ...otherKeys],
      values: [formatFrequency(frequency), ...otherValues],
    },
    fields,
  );
  const counts = formatFrequency(
    isPresent(frequency) ? frequency : (heldAtTimes(record) ?? frequency),
  );
  const bytes = encoder.encode(`${row}\n${counts}`);
  const lineEnd = bytes.length - counts.length;
  const keyEnd = columnEnd(bytes, 0, lineEnd - 1);
  const hasOneKey = otherKeys.length === 0;
  return {
    bytes,
    keyEnd,
    lineEnd,
    moreKeysStart: hasOneKey ? keyEnd : keyEnd + 1,
    moreKeysEnd: columnsEnd(bytes, 0, lineEnd - 1, fields.keys.length),
    frequencyStart: lineEnd,
    frequencyEnd: bytes.length,
    parts: partsOf(record, fields),
    isRespelled: key !== written,
  };
}

/** The sum of what a JSON block holds of some time; undefined where that is nothing. */
export function heldAtTimes(record: Pick<UkvsRecord, "json">): Frequency | undefined {
  const held = heldParts(record).map(({ frequency }) => frequency);
  return held.length === 0 ? undefined : held.reduce(addFrequencies);
}

function heldParts({ json }: Pick<UkvsRecord, "json">): { time: string; frequency: Frequency }[] {
  const parts = json?.["datetime"];
  if (!isJsonObject(parts)) return [];
  return Object.entries(parts)
    .map(([time, value]) => ({ time, frequency: parseFrequency(String(value)) }))
    .filter(({ frequency }) => isPresent(frequency));
}

function partsOf(record: UkvsRecord, fields: Fields): RowPart[] | undefined {
  const column = fields.keys.indexOf("datetime") - 1;
  if (column < 0 || record.json === undefined) return undefined;
  return heldParts(record).map(({ time, frequency }) => ({
    moreKeys: record.keys.slice(1).with(column, time).join(" "),
    frequency,
  }));
}

/** @throws MM_BAD_LINE for what is not UTF-8 */
export function textOfLine(line: Uint8Array): string {
  try {
    return decoder.decode(line);
  } catch (error) {
    throw new MementoMapError("MM_BAD_LINE", "the line looks binary: it is not UTF-8", {
      cause: error,
    });
  }
}
