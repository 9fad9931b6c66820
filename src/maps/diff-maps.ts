import { compareBytes } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import type { SignalOption } from "../interruption.ts";
import { formatHeaders, isJsonObject, type UkvsHeaders } from "../ukvs/header.ts";
import { readUkvs, type UkvsReader } from "../ukvs/reader.ts";
import { RowCursor } from "./row-cursor.ts";

/** A record that is in one map only, or differs between the two. */
export interface RecordDifference {
  readonly kind: "removed" | "added" | "changed";
  /** The key columns, with one space between them. */
  readonly key: string;
  /** The value columns and the JSON block before and after, runs of blanks collapsed to one space. */
  readonly before?: string;
  readonly after?: string;
}

/** A header line, as strict JSON, that is in one map only. */
export interface HeaderDifference {
  readonly kind: "removed" | "added";
  readonly header: string;
}

/** The differences between two maps. */
export interface MapDifference {
  readonly headers: readonly HeaderDifference[];
  /** In key order; can be read once. */
  readonly records: AsyncGenerator<RecordDifference, void, undefined>;
}

/** A map as a stream, with its name for messages. */
export interface NamedChunks {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * Compares two sorted maps: headers immediately, records as they are read.
 *
 * Ignores the order of headers and of their members, JSON formatting, the width of blanks, and a
 * bare slash after a count. Rows of a duplicate key are compared in their order. Holds one chunk of
 * each map and reads both once.
 *
 * @throws MM_BAD_INPUT when the key columns differ; MM_NOT_SORTED and other read errors, also while
 *   the records are read.
 */
export async function diffMaps(
  before: NamedChunks,
  after: NamedChunks,
  { signal }: SignalOption = {},
): Promise<MapDifference> {
  const old = await readUkvs(before.chunks, { source: before.name, signal });
  const now = await readUkvs(after.chunks, { source: after.name, signal });
  const [oldKeys, nowKeys] = [old, now].map(({ headers }) => headers.fields.keys.join(", "));
  if (oldKeys !== nowKeys) {
    await Promise.all([old.close(), now.close()]);
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `its keys are ${quote(nowKeys ?? "")}, those of ${before.name} are ${quote(oldKeys ?? "")}; only maps with the same keys can be compared`,
      { position: { source: after.name } },
    );
  }
  return { headers: diffHeaders(old.headers, now.headers), records: diffRecords(old, now) };
}

function diffHeaders(before: UkvsHeaders, after: UkvsHeaders): HeaderDifference[] {
  const old = new Map(formatHeaders(before).map((header) => [withSortedMembers(header), header]));
  const now = new Map(formatHeaders(after).map((header) => [withSortedMembers(header), header]));
  const only = (these: typeof old, those: typeof old): string[] =>
    [...these].flatMap(([sorted, header]) => (those.has(sorted) ? [] : header));
  return [
    ...only(old, now).map((header) => ({ kind: "removed", header }) as const),
    ...only(now, old).map((header) => ({ kind: "added", header }) as const),
  ];
}

/** A header line with the members of its objects sorted by name. */
function withSortedMembers(header: string): string {
  const blank = header.indexOf(" ");
  const value: unknown = JSON.parse(header.slice(blank + 1));
  const sorted = JSON.stringify(value, (_name, member: unknown) =>
    isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
  return header.slice(0, blank) + sorted;
}

async function* diffRecords(
  before: UkvsReader,
  after: UkvsReader,
): AsyncGenerator<RecordDifference, void, undefined> {
  const old = new RowCursor(before.batches());
  const now = new RowCursor(after.batches());
  try {
    await old.advance();
    await now.advance();
    while (!old.isDone || !now.isDone) {
      const order = old.compareTuple(now);
      if (order < 0) yield { kind: "removed", key: keyOf(old), before: restOf(old) };
      else if (order > 0) yield { kind: "added", key: keyOf(now), after: restOf(now) };
      else if (compareBytes(restBytes(old), restBytes(now)) !== 0) {
        const change = { before: restOf(old), after: restOf(now) };
        if (withoutBareSlash(change.before) !== withoutBareSlash(change.after)) {
          yield { kind: "changed", key: keyOf(old), ...change };
        }
      }
      if (order <= 0) await old.advance();
      if (order >= 0) await now.advance();
    }
  } finally {
    await Promise.all([before.close(), after.close()]);
  }
}

const decoder = new TextDecoder();

function keyOf({ bytes, start, tupleEnd }: RowCursor): string {
  return collapseBlanks(decoder.decode(bytes.subarray(start, tupleEnd)));
}

function restOf(row: RowCursor): string {
  return collapseBlanks(decoder.decode(restBytes(row)));
}

/** `200/` means the same as `200`. */
function withoutBareSlash(rest: string): string {
  return rest.replace(/^(\d+[+~-]?)\/(?= |$)/, "$1");
}

function restBytes({ bytes, restStart, end }: RowCursor): Uint8Array {
  return bytes.subarray(restStart, end);
}

/** Collapses runs of blanks to one space, except within quotes. */
function collapseBlanks(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"?|[ \t]+/g, (part) => (part.startsWith('"') ? part : " "));
}
