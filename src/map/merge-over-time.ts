import { CLOSE_BRACE, COLON, MINUS } from "../bytes/ascii.ts";
import { columnStart } from "../lookup/map-row.ts";
import { columnEnd } from "../ukvs/columns.ts";
import { type DatetimeRange, parseDatetimeKey } from "../ukvs/datetime-key.ts";
import { addFrequencies, formatFrequency, isPresent, parseFrequency } from "../ukvs/frequency.ts";
import type { Fields } from "../ukvs/header.ts";
import type { UkvsRecord } from "../ukvs/record.ts";
import { coveringKeys } from "./covering-keys.ts";
import {
  addedRow,
  addRows,
  type DatetimeParts,
  datetimeParts,
  frequencyOf,
  isZeroRow,
  type MergeRow,
  recordOf,
  rowOf,
  withParts,
} from "./merge-row.ts";
import type { RowGroup } from "./row-groups.ts";
import type { Union } from "./union.ts";

/** A record with the map it is of; -1 for one that the merge added. */
interface Said {
  readonly record: UkvsRecord;
  readonly map: number;
}

/**
 * What the merged map says of a key that maps have, where rows are of times.
 *
 * A void hides wider keys for the time it contains, so it stays only if no other map is present there
 * at that time. Whatever is present stays, so that the merged map is present whenever a map is.
 */
export async function rowsOverTime(
  { key, rows }: RowGroup,
  union: Union,
  fields: Fields,
): Promise<MergeRow[]> {
  if (coveringKeys(key).kind === "inert") return addRows(rows, fields);
  const column = fields.keys.indexOf("datetime");
  const kept: Said[] = [];
  const added: MergeRow[] = [];
  for (const row of rows) {
    if (isShadowed(row, rows, column)) continue;
    const said = { record: recordOf(row, fields), map: row.map };
    const left = await withoutHiding(said, key, column, union);
    if (left !== undefined) kept.push({ record: left, map: row.map });
    else if (union.hasSpreads) {
      // A spread key that the void hid may meet another void here: the key needs a row.
      const frequency = await union.frequencyElsewhere(key, row.map);
      added.push(addedRow(key, frequency, fields, datetimeOf(said.record, column)));
    }
  }
  const totals = missingTotals(kept, column).map((record): Said => ({ record, map: -1 }));
  return addRows(
    [
      ...added,
      ...[...kept, ...totals].map(({ record, map }) => rowOf(record, fields, { map, spelling: 0 })),
    ],
    fields,
  );
}

/**
 * A map is not asked for an older spelling of a key where the rows of another one always decide; and
 * where they do not, they come first, so that voids of the older one can be left out.
 */
function isShadowed(row: MergeRow, rows: readonly MergeRow[], column: number): boolean {
  const others = rows.filter((other) => other.map === row.map && other.spelling < row.spelling);
  if (others.length === 0) return false;
  return (isZeroRow(row) && !hasBlock(row)) || others.some((other) => isOfAllTime(other, column));
}

function hasBlock({ bytes }: MergeRow): boolean {
  return bytes[bytes.length - 1] === CLOSE_BRACE;
}

function isOfAllTime({ bytes, tupleEnd }: MergeRow, column: number): boolean {
  if (column < 0) return true;
  const start = columnStart(bytes, 0, tupleEnd, column);
  const end = columnEnd(bytes, start, tupleEnd);
  return end - start === 1 && (bytes[start] === COLON || bytes[start] === MINUS);
}

/** The record without voids for times at which another map is present; undefined if nothing is left. */
async function withoutHiding(
  { record, map }: Said,
  key: string,
  column: number,
  union: Union,
): Promise<UkvsRecord | undefined> {
  const hides = (datetime: string): Promise<boolean> =>
    union.isPresentElsewhere(key, map, rangeOf(datetime));
  const parts = datetimeParts(record);
  const isVoid = !isPresent(frequencyOf(record));
  if (parts === undefined) {
    return isVoid && (await hides(datetimeOf(record, column))) ? undefined : record;
  }
  const left: [string, unknown][] = [];
  for (const [datetime, value] of Object.entries(parts)) {
    const isHeld = isPresent(parseFrequency(String(value)));
    if (isHeld || !(await hides(datetime))) left.push([datetime, value]);
  }
  if (!isVoid || !(await hides(datetimeOf(record, column)))) {
    return withBlock(record, Object.fromEntries(left));
  }
  // The row as a whole must not say absent: it says what its parts add up to.
  const held = left.map(([, value]) => parseFrequency(String(value))).filter(isPresent);
  if (held.length === 0) return undefined;
  const [, ...others] = record.values;
  const values = [formatFrequency(held.reduce(addFrequencies)), ...others];
  return withBlock({ ...record, values }, Object.fromEntries(left));
}

/**
 * Where some maps state a total and others do not, the sum of the totals would leave the others out.
 */
function missingTotals(kept: readonly Said[], column: number): UkvsRecord[] {
  if (column < 0) return [];
  const isTotal = ({ record }: Said): boolean => datetimeOf(record, column) === ":";
  const isHeld = ({ record }: Said): boolean => isPresent(frequencyOf(record));
  if (!kept.some((said) => isTotal(said) && isHeld(said))) return [];
  const stating = new Set(kept.filter(isTotal).map(({ map }) => map));
  return kept
    .filter((said) => isHeld(said) && !stating.has(said.map))
    .map(({ record: { keys, values } }) => ({
      keys: keys.map((text, i) => (i === column ? ":" : text)),
      values: [values[0], ...values.slice(1).map(() => undefined)],
    }));
}

function withBlock(record: UkvsRecord, parts: DatetimeParts): UkvsRecord {
  const { json, ...rest } = record;
  const block = withParts(json, Object.keys(parts).length === 0 ? undefined : parts);
  return block === undefined ? rest : { ...rest, json: block };
}

function datetimeOf({ keys }: UkvsRecord, column: number): string {
  const datetime = column < 0 ? ":" : (keys[column] ?? ":");
  return datetime === "-" ? ":" : datetime;
}

function rangeOf(datetime: string): DatetimeRange {
  return parseDatetimeKey(datetime);
}
