import { MementoMapError } from "../../errors.ts";
import type { Table } from "./counts.ts";
import type { Learner, LearnerState } from "./learner.ts";

/*
 * What a learner knows, as bytes: a line that names the format and the length of the next, a line of JSON, the
 * hashes of originals, and the tables, little-endian. Of tables with rows that are not in use there are fewer rows.
 */
const MAGIC = "mmlearn4";

interface Head {
  readonly state: LearnerState;
  readonly prefixes: readonly string[];
  readonly originals: number;
  /** For each table the numbers in it, and how wide its rows are. */
  readonly tables: readonly (Pick<Table, "own" | "each"> & { readonly numbers: number })[];
}

/** All that a learner knows. As large as its tables, beside them. */
export function snapshotOf(learner: Learner): Uint8Array {
  const { counts, answers, archives, state } = learner;
  const rows = new Map<Table, number>([
    [counts, counts.rows.keys.length],
    [answers, answers.rows.keys.length],
  ]);
  const datas = learner.tables.map((table) => {
    const width = table.own + table.each * archives.length;
    return table.data.subarray(0, (rows.get(table) ?? Infinity) * width);
  });
  const originals = Float64Array.from(answers.rows.keys);
  const head: Head = {
    state,
    prefixes: counts.rows.keys,
    originals: originals.length,
    tables: learner.tables.map(({ own, each }, i) => ({ own, each, numbers: datas[i].length })),
  };
  const json = encoder.encode(JSON.stringify(head));
  const first = encoder.encode(`${MAGIC} ${json.length}\n`);
  const parts = [first, json, originals, ...datas];
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return bytes;
}

/**
 * Gives a new learner what another knew. Archives go by their ids.
 *
 * @throws MM_BAD_INPUT for bytes that are not a whole snapshot; the learner is as it was then.
 */
export function restoreSnapshot(learner: Learner, bytes: Uint8Array, source: string): void {
  const { head, start } = readHead(bytes, source);
  let at = start;
  const take = <T>(
    of: { new (buffer: ArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
    numbers: number,
  ): T => {
    const end = at + numbers * of.BYTES_PER_ELEMENT;
    // A copy: what follows a head of any length is not aligned.
    const part = Uint8Array.from(bytes.subarray(at, end));
    at = end;
    return new of(part.buffer);
  };
  const originals = take(Float64Array, head.originals);
  const tables = head.tables.map(({ own, each, numbers }, i) => {
    const { data } = learner.tables[i];
    return { own, each, data: take(data.constructor as Float32ArrayConstructor, numbers) };
  });
  learner.restore(head.state, tables, head.prefixes, [...originals]);
}

function readHead(bytes: Uint8Array, source: string): { head: Head; start: number } {
  const fault = (reason: string): MementoMapError =>
    new MementoMapError("MM_BAD_INPUT", `not what was learnt: ${reason}`, { position: { source } });
  const first = /^mmlearn4 (\d{1,10})\n/.exec(decoder.decode(bytes.subarray(0, 32)));
  if (first === null) throw fault(`it does not begin with ${MAGIC}`);
  const start = first[0].length + Number(first[1]);
  if (start > bytes.length) throw fault("it is not whole");
  let head: Head;
  try {
    head = JSON.parse(decoder.decode(bytes.subarray(first[0].length, start))) as Head;
  } catch {
    throw fault("it is damaged");
  }
  const sizes = [Float32Array, Uint8Array].map((of) => of.BYTES_PER_ELEMENT);
  const expected = head.tables.reduce(
    (sum, { numbers }, i) => sum + numbers * (sizes[i] ?? Float64Array.BYTES_PER_ELEMENT),
    start + head.originals * Float64Array.BYTES_PER_ELEMENT,
  );
  if (expected !== bytes.length) throw fault("it is not whole");
  return { head, start };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
