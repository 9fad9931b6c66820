import { MINUS } from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { columnEnd, skipBlanks } from "../../ukvs/record.ts";
import { olderKeys } from "../../surt/key.ts";
import type { Fields } from "../../ukvs/header.ts";

/** What lookup must know of a map to read its rows. */
export interface RowLayout {
  /** The name of the map, for messages. */
  readonly source: string;
  readonly fields: Fields;
  /** The column of the frequency, counted from 0; the key is column 0. */
  readonly frequencyColumn: number;
  /** The column of the datetime key; -1 when rows have none. */
  readonly datetimeColumn: number;
}

/** A row as `bytes[start, end)`, without its line end. */
export interface RowRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Checks that a file with these columns can be looked up as a map.
 *
 * @throws MM_BAD_INPUT when the first key is not `surt` or the first value is not `frequency`.
 */
export function rowLayout(fields: Fields, source: string): RowLayout {
  const [key = ""] = fields.keys;
  const [value = ""] = fields.values;
  if (key !== "surt" || value !== "frequency") {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `not a MementoMap: its first key is ${quote(key)} and its first value ${quote(value)}, where "surt" and "frequency" are expected`,
      { position: { source } },
    );
  }
  return {
    source,
    fields,
    frequencyColumn: fields.keys.length,
    datetimeColumn: fields.keys.indexOf("datetime"),
  };
}

/** The start of a column, counted from 0; `end` when the row has fewer. */
export function columnStart(bytes: Uint8Array, start: number, end: number, column: number): number {
  let at = start;
  for (let i = 0; i < column; i++) at = skipBlanks(bytes, columnEnd(bytes, at, end), end);
  return at;
}

/** Whether a column holds the sign for "none", `-`. */
export function isNone(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && bytes[start] === MINUS;
}

/** A key as older maps may write it instead: `com,cnn)` for `com,cnn)/`, and as `olderKeys` has it. */
export function olderSpellings(key: string): string[] {
  return [key, ...olderKeys(key)]
    .flatMap((spelling) => [spelling, bareHome(spelling)])
    .filter((spelling) => spelling !== undefined)
    .slice(1);
}

/** `com,cnn)`, as older writers wrote the home page `com,cnn)/`; undefined for other keys. */
function bareHome(key: string): string | undefined {
  return key.endsWith(")/") && !key.endsWith(",*)/") && key.indexOf(")") === key.length - 2
    ? key.slice(0, -1)
    : undefined;
}
