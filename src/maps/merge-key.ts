import { parseDatetimeKey, type UkvsRecord } from "../ukvs/record.ts";
import { addFrequencies, formatFrequency, isPresent, parseFrequency } from "../ukvs/frequency.ts";
import type { Fields } from "../ukvs/header.ts";
import type { Union } from "./union.ts";
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

/** A record and its map; -1 for a record that the merge added. */
interface SourcedRecord {
  readonly record: UkvsRecord;
  readonly map: number;
}

/**
 * Merges the rows that maps have for one key.
 *
 * A void hides broader keys during its time, so it stays only if no other map is present at that
 * time. Present rows always stay, so that the merged map is present whenever a map is.
 */
export async function mergeKey(
  { key, rows }: RowGroup,
  union: Union,
  fields: Fields,
): Promise<MergeRow[]> {
  const isDecided = !union.isTimed && rows.some((row) => row.map < 0 || !isZeroRow(row));
  if (isDecided || union.maps === 1 || union.covering(key).kind === "inert") {
    return addRows(rows, fields);
  }
  const column = fields.keys.indexOf("datetime");
  const kept: SourcedRecord[] = [];
  /** By time. A spread key hidden by a void may meet another void here: the key needs a row. */
  const added = new Map<string, MergeRow>();
  for (const row of rows) {
    const record = recordOf(row, fields);
    const isElsewhere = (datetime: string): Promise<boolean> =>
      union.isPresentElsewhere(key, row.map, parseDatetimeKey(datetime));
    const left = await withoutHiding(record, column, isElsewhere);
    if (left !== undefined) {
      kept.push({ record: left, map: row.map });
      continue;
    }
    const datetime = datetimeOf(record, column);
    if (added.has(datetime) || !(await isElsewhere(datetime))) continue;
    const frequency = await union.presentRow(key, row.map);
    if (frequency !== undefined) added.set(datetime, addedRow(key, frequency, fields, datetime));
  }
  const totals = missingTotals(kept, column).map((record): SourcedRecord => ({ record, map: -1 }));
  const left = [...kept, ...totals].map(({ record, map }) => rowOf(record, fields, map));
  return addRows([...added.values(), ...left], fields);
}

/** The record without voids that hide present keys; undefined if nothing is left. */
async function withoutHiding(
  record: UkvsRecord,
  column: number,
  hides: (datetime: string) => Promise<boolean>,
): Promise<UkvsRecord | undefined> {
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
  // The row as a whole must not be absent: it states the sum of its parts.
  const held = left.map(([, value]) => parseFrequency(String(value))).filter(isPresent);
  if (held.length === 0) return undefined;
  const [, ...others] = record.values;
  const values = [formatFrequency(held.reduce(addFrequencies)), ...others];
  return withBlock({ ...record, values }, Object.fromEntries(left));
}

/** Totals for maps that state none: the sum of the stated totals would leave them out. */
function missingTotals(kept: readonly SourcedRecord[], column: number): UkvsRecord[] {
  if (column < 0) return [];
  const isTotal = ({ record }: SourcedRecord): boolean => datetimeOf(record, column) === ":";
  const isHeld = ({ record }: SourcedRecord): boolean => isPresent(frequencyOf(record));
  if (!kept.some((sourced) => isTotal(sourced) && isHeld(sourced))) return [];
  const stating = new Set(kept.filter(isTotal).map(({ map }) => map));
  return kept
    .filter((sourced) => isHeld(sourced) && !stating.has(sourced.map))
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
