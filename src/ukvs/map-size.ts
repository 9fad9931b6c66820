import { formatAmount } from "../amount.ts";
import { MementoMapError, quote } from "../errors.ts";
import { formatJson, isJsonObject } from "./relaxed-json.ts";

/** How much a file holds behind its headers. The header `!size` states it. */
export interface MapSize {
  /** Bytes of all lines after the last header. */
  readonly bytes: number;
  readonly records: number;
}

/** The name of the header. */
export const SIZE_HEADER = "size";

/** Digits of the largest safe integer: a line is as long for an empty map as for the largest. */
const MAX_DIGITS = String(Number.MAX_SAFE_INTEGER).length;
const LINE_LENGTH = textOf({ bytes: 0, records: 0 }).length + 2 * (MAX_DIGITS - 1);

/**
 * The header line, without its end. Blanks behind it give it the same length for every size, so that
 * a writer can leave room for it and fill it in when the size is known.
 */
export function sizeLine(size: MapSize): string {
  return textOf(size).padEnd(LINE_LENGTH);
}

function textOf({ bytes, records }: MapSize): string {
  return `!${SIZE_HEADER} {"bytes":${bytes},"records":${records}}`;
}

/**
 * Reads the value of the header.
 *
 * @throws MementoMapError `MM_BAD_HEADER`.
 */
export function parseSize(value: unknown): MapSize {
  const { bytes, records } = isJsonObject(value) ? value : {};
  if (isCount(bytes) && isCount(records)) return { bytes, records };
  throw new MementoMapError(
    "MM_BAD_HEADER",
    `the value of header "!${SIZE_HEADER}" is ${quote(formatJson(value))}; expected {"bytes": 120, "records": 4}`,
  );
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Refuses a file that holds less than its `!size` states, or another number of records. More bytes
 * for the same records are fine: the lines may end in CRLF.
 *
 * @throws MementoMapError `MM_CUT`.
 */
export function checkSize(stated: MapSize | undefined, found: FoundSize, source: string): void {
  const fault = stated === undefined ? undefined : sizeFault(stated, found);
  if (fault === undefined) return;
  throw new MementoMapError(
    "MM_CUT",
    `${fault}; fetch or copy the file again, or, if its rows were edited, ` +
      `write it with "mementomap merge --force" or remove the line "!${SIZE_HEADER}"`,
    { position: { source } },
  );
}

/** What a reader has seen; it leaves out what it does not know. */
export type FoundSize = Partial<MapSize>;

/** What is wrong with the size of a file, if anything is. */
export function sizeFault(stated: MapSize, found: FoundSize): string | undefined {
  const { bytes = stated.bytes, records = stated.records } = found;
  if (bytes >= stated.bytes && records === stated.records) return undefined;
  const isCut = bytes < stated.bytes || records < stated.records;
  const fault = isCut ? "the map is cut short" : "the map has more records than it states";
  const expected = `"!${SIZE_HEADER}" states ${formatAmount(stated.bytes, "byte")} and ${formatAmount(stated.records, "record")}`;
  const held = [
    ...(found.bytes === undefined ? [] : [formatAmount(bytes, "byte")]),
    ...(found.records === undefined ? [] : [formatAmount(records, "record")]),
  ];
  return `${fault}: ${expected}, found ${held.join(" and ")}`;
}

/**
 * Refuses a map that has neither a record nor a `!size` that says so: an empty file, or what is left
 * of a map cut within its headers. "Absent" of everything would be an answer from nothing.
 *
 * @throws MementoMapError `MM_EMPTY`.
 */
export function refuseNoRecords(stated: MapSize | undefined, source: string): void {
  if (stated !== undefined) return;
  throw new MementoMapError(
    "MM_EMPTY",
    `the map holds no record, and has no "!${SIZE_HEADER}" to say that this is meant; fetch or make it again`,
    { position: { source } },
  );
}
