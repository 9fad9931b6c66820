import { compareBytes } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import { compareColumns } from "../ukvs/record.ts";
import { formatHeaders, type UkvsHeaders } from "../ukvs/header.ts";
import { readUkvs, type RecordBatch, type UkvsReader } from "../ukvs/reader.ts";

/** A record that only one map has, or that says something else in the other. */
export interface RecordDifference {
  readonly kind: "removed" | "added" | "changed";
  /** The key columns, with one space between them. */
  readonly key: string;
  /** The value columns and the JSON block before and after, blanks between columns made one. */
  readonly before?: string;
  readonly after?: string;
}

/** A header line, in strict JSON, that only one map has. */
export interface HeaderDifference {
  readonly kind: "removed" | "added";
  readonly header: string;
}

/** What differs between two maps. */
export interface MapDifference {
  readonly headers: readonly HeaderDifference[];
  /** In key order; can be read once. */
  readonly records: AsyncGenerator<RecordDifference, void, undefined>;
}

export interface DiffOptions {
  /** Ends the work with MM_INTERRUPTED when it is aborted, also while the records are read. */
  readonly signal?: AbortSignal | undefined;
}

/** A map as a stream, with the name that messages call it. */
export interface NamedChunks {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * Compares two sorted maps: their headers at once, their records as they are read.
 *
 * The order of headers, the way their JSON is written and the width of blanks make no difference.
 * Where a key stands more than once, its rows are compared in their order. Holds one chunk of each
 * map and reads both once.
 *
 * @throws MM_BAD_INPUT when the key columns differ; MM_NOT_SORTED and what else reading throws, also
 *   while the records are read.
 */
export async function diffMaps(
  before: NamedChunks,
  after: NamedChunks,
  { signal }: DiffOptions = {},
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
  const old = formatHeaders(before);
  const now = formatHeaders(after);
  return [
    ...old
      .filter((header) => !now.includes(header))
      .map((header) => ({ kind: "removed", header }) as const),
    ...now
      .filter((header) => !old.includes(header))
      .map((header) => ({ kind: "added", header }) as const),
  ];
}

async function* diffRecords(
  before: UkvsReader,
  after: UkvsReader,
): AsyncGenerator<RecordDifference, void, undefined> {
  const old = new RecordCursor(before);
  const now = new RecordCursor(after);
  try {
    for (;;) {
      if (old.needsBatch) await old.nextBatch();
      if (now.needsBatch) await now.nextBatch();
      if (old.isDone && now.isDone) return;
      const order = old.compare(now);
      if (order < 0) yield { kind: "removed", key: old.key(), before: old.rest() };
      else if (order > 0) yield { kind: "added", key: now.key(), after: now.rest() };
      else if (!old.hasSameRest(now)) {
        const change = { before: old.rest(), after: now.rest() };
        if (change.before !== change.after) yield { kind: "changed", key: old.key(), ...change };
      }
      if (order <= 0) old.at++;
      if (order >= 0) now.at++;
    }
  } finally {
    await Promise.all([before.close(), after.close()]);
  }
}

const decoder = new TextDecoder();

/** A place in one map. */
class RecordCursor {
  at = 0;
  isDone = false;
  readonly #batches: AsyncGenerator<RecordBatch, void, undefined>;
  #batch: RecordBatch | undefined;

  constructor(reader: UkvsReader) {
    this.#batches = reader.batches();
  }

  get needsBatch(): boolean {
    return !this.isDone && this.at >= (this.#batch?.count ?? 0);
  }

  async nextBatch(): Promise<void> {
    const next = await this.#batches.next();
    this.isDone = next.done === true;
    this.#batch = next.done === true ? undefined : next.value;
    this.at = 0;
  }

  /** Compares by all key columns; what is at its end comes after everything. */
  compare(other: RecordCursor): number {
    const a = this.#batch;
    const b = other.#batch;
    if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
    const [i, j] = [this.at, other.at];
    return compareColumns(
      a.bytes,
      a.keyStarts[i],
      a.tupleEnds[i],
      b.bytes,
      b.keyStarts[j],
      b.tupleEnds[j],
    );
  }

  hasSameRest(other: RecordCursor): boolean {
    return compareBytes(this.#restBytes(), other.#restBytes()) === 0;
  }

  key(): string {
    const batch = this.#batch;
    if (batch === undefined) return "";
    return oneBlank(
      decoder.decode(batch.bytes.subarray(batch.keyStarts[this.at], batch.tupleEnds[this.at])),
    );
  }

  rest(): string {
    return oneBlank(decoder.decode(this.#restBytes()));
  }

  #restBytes(): Uint8Array {
    const batch = this.#batch;
    return batch === undefined
      ? new Uint8Array(0)
      : batch.bytes.subarray(batch.restStarts[this.at], batch.restEnds[this.at]);
  }
}

/** Makes runs of blanks one space, except within quotes. */
function oneBlank(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"?|[ \t]+/g, (part) => (part.startsWith('"') ? part : " "));
}
