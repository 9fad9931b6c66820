import { MementoMapError } from "../../errors.ts";
import type { Table } from "./counts.ts";
import type { Learner, LearnerState } from "./learner.ts";

/*
 * The state of a learner as bytes: a line with the format and the length of the next, a line of JSON, and the
 * numbers of tables, little-endian.
 */
const MAGIC = "mmlearn5";

interface Head {
  readonly state: LearnerState;
  /** Size and row width of each table. */
  readonly tables: readonly (Pick<Table, "own" | "each"> & { readonly numbers: number })[];
}

/** The complete state of a learner. Takes as much memory as its tables, in addition to them. */
export function snapshotOf(learner: Learner): Uint8Array {
  const { state, tables } = learner.saved();
  const shapes = tables.map(({ own, each, data }) => ({ own, each, numbers: data.length }));
  const head: Head = { state, tables: shapes };
  const json = encoder.encode(JSON.stringify(head));
  const first = encoder.encode(`${MAGIC} ${json.length}\n`);
  const parts = [first, json, ...tables.map(({ data }) => new Uint8Array(data.buffer))];
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/**
 * Loads the state of another learner into a new one. Archives are matched by id.
 *
 * @throws MM_BAD_INPUT for bytes that are not a complete snapshot; the learner is unchanged then.
 */
export function restoreSnapshot(learner: Learner, bytes: Uint8Array, source: string): void {
  const fault = (reason: string): MementoMapError =>
    new MementoMapError("MM_BAD_INPUT", `not a snapshot of a learner: ${reason}`, {
      position: { source },
    });
  const first = /^mmlearn5 (\d{1,10})\n/.exec(decoder.decode(bytes.subarray(0, 32)));
  if (first === null) throw fault(`it does not begin with ${MAGIC}`);
  const start = first[0].length + Number(first[1]);
  if (start > bytes.length) throw fault("it is incomplete");
  let head: Head;
  try {
    head = JSON.parse(decoder.decode(bytes.subarray(first[0].length, start))) as Head;
  } catch {
    throw fault("it is damaged");
  }
  const count = head.tables.reduce((sum, { numbers }) => sum + numbers, 0);
  if (start + count * Float32Array.BYTES_PER_ELEMENT !== bytes.length) {
    throw fault("it is incomplete");
  }
  // A copy: the bytes after a head of any length may not be aligned.
  const all = new Float32Array(Uint8Array.from(bytes.subarray(start)).buffer);
  let at = 0;
  const tables = head.tables.map(({ own, each, numbers }) => {
    at += numbers;
    return { own, each, data: all.subarray(at - numbers, at) };
  });
  learner.restore(head.state, tables);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
