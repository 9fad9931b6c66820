import { compareBytes } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import { ANY_QUERY, hasQuery, isSpreadKey } from "../surt/key.ts";
import { UkvsHeaders } from "../ukvs/header.ts";
import type { RecordBatch } from "../ukvs/reader.ts";
import type { LogicalMap } from "./logical-map.ts";

/**
 * A map without queries, as one with queries that answers the same: what it says of a page it says
 * of the page with any query, so that `com,cnn)/a` becomes `com,cnn)/a?*`.
 *
 * Holds a batch, and the rows of pages until their place in the new order comes: those of the pages
 * above the last key.
 *
 * @throws MM_BAD_INPUT while records are read, for a key that ends in `?*` as it is
 */
export function withQueries(map: LogicalMap): LogicalMap {
  const { name, headers } = map;
  const { keys, values } = headers.fields;
  const others = headers.list.filter(
    (header) => header.name !== "fields" && header.name !== "keys",
  );
  return {
    name,
    headers: new UkvsHeaders([
      ...others,
      { name: "fields", value: { keys, values, queries: true } },
    ]),
    async find(key, options) {
      if (key.endsWith(ANY_QUERY)) return map.find(key.slice(0, -ANY_QUERY.length), options);
      return isKept(key) ? map.find(key, options) : undefined;
    },
    async *batches() {
      const rows = new MovedRows(name);
      for await (const batch of map.batches()) {
        const moved = rows.take(batch);
        if (moved.count > 0) yield moved;
      }
      const last = rows.end();
      if (last.count > 0) yield last;
    },
  };
}

/** Whether a row stays where it is: wildcards do, and pages with a query of their own. */
function isKept(key: string): boolean {
  if (hasQuery(key)) return !isSpreadKey(key);
  return key === "*" || key.endsWith(",*") || key.endsWith("/*");
}

interface Row {
  readonly key: Uint8Array;
  /** What follows the first key, with the blank before it. */
  readonly rest: Uint8Array;
  /** The lengths of the further keys, and up to the first value, within `rest`. */
  readonly tupleLength: number;
  readonly restStart: number;
  readonly line: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Puts the rows of pages behind those that now come before them. */
class MovedRows {
  readonly #source: string;
  /** Rows of pages under their new keys, in order. */
  #waiting: Row[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  take(batch: RecordBatch): RecordBatch {
    const rows: Row[] = [];
    for (let i = 0; i < batch.count; i++) {
      const row = rowAt(batch, i);
      while (this.#waiting.length > 0 && compareBytes(this.#waiting[0].key, row.key) < 0) {
        rows.push(...this.#waiting.splice(0, 1));
      }
      const key = decoder.decode(row.key);
      // No lookup asks a map without queries for `X,*)/p?q`.
      if (hasQuery(key) && isSpreadKey(key)) continue;
      if (key.endsWith(ANY_QUERY)) throw this.#refuse(key, row.line);
      if (isKept(key)) rows.push(row);
      else this.#wait({ ...row, key: encoder.encode(key + ANY_QUERY) });
    }
    return batchOf(rows);
  }

  end(): RecordBatch {
    const rows = this.#waiting;
    this.#waiting = [];
    return batchOf(rows);
  }

  #wait(row: Row): void {
    const before = this.#waiting.findIndex(({ key }) => compareBytes(key, row.key) > 0);
    this.#waiting.splice(before === -1 ? this.#waiting.length : before, 0, row);
  }

  #refuse(key: string, line: number): MementoMapError {
    return new MementoMapError(
      "MM_BAD_INPUT",
      `key ${quote(key)} ends in "?*" in a map without queries; merge this map alone first, which ` +
        `writes "%2a"`,
      { position: { source: this.#source, line } },
    );
  }
}

function rowAt(batch: RecordBatch, i: number): Row {
  const { bytes, keyStarts, keyEnds, tupleEnds, restStarts, restEnds, lines } = batch;
  const end = keyEnds[i];
  return {
    // The `slice` of a Buffer is not a copy.
    key: new Uint8Array(bytes.subarray(keyStarts[i], end)),
    rest: new Uint8Array(bytes.subarray(end, restEnds[i])),
    tupleLength: tupleEnds[i] - end,
    restStart: restStarts[i] - end,
    line: lines[i],
  };
}

function batchOf(rows: readonly Row[]): RecordBatch {
  const count = rows.length;
  const bytes = new Uint8Array(
    rows.reduce((sum, { key, rest }) => sum + key.length + rest.length, 0),
  );
  const [keyStarts, keyEnds, tupleEnds, restStarts, restEnds] = Array.from(
    { length: 5 },
    () => new Uint32Array(count),
  );
  let at = 0;
  for (const [i, { key, rest, tupleLength, restStart }] of rows.entries()) {
    const end = at + key.length;
    bytes.set(key, at);
    bytes.set(rest, end);
    keyStarts[i] = at;
    keyEnds[i] = end;
    tupleEnds[i] = end + tupleLength;
    restStarts[i] = end + restStart;
    at = end + rest.length;
    restEnds[i] = at;
  }
  const lines = Float64Array.from(rows, ({ line }) => line);
  return { bytes, count, keyStarts, keyEnds, tupleEnds, restStarts, restEnds, lines };
}
