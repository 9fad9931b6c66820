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

/** A record with the map it is of; -1 for one that the merge added. */
interface Said {
  readonly record: UkvsRecord;
  readonly map: number;
}

/**
 * What the merged map says of a key that maps have.
 *
 * A void hides wider keys for the time it contains, so it stays only if no other map is present there
 * at that time. Whatever is present stays, so that the merged map is present whenever a map is.
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
  const kept: Said[] = [];
  /** By time. A spread key that a void hid may meet another void here: the key needs a row. */
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
  const totals = missingTotals(kept, column).map((record): Said => ({ record, map: -1 }));
  const left = [...kept, ...totals].map(({ record, map }) => rowOf(record, fields, map));
  return addRows([...added.values(), ...left], fields);
}

/** The record without voids that hide what is present; undefined if nothing is left. */
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
