import { badInput } from "../errors.ts";

/** An unreadable range of an input that was skipped. */
export interface Damage {
  readonly source: string;
  /** Start offset, in the stored bytes, or for a record in the decompressed bytes. */
  readonly offset: number;
  /** Number of bytes skipped. */
  readonly bytes: number;
  /** The error and its position. */
  readonly message: string;
}

/** Damage skipped while reading; can be sent to another thread. */
export interface DamageLog {
  places: number;
  bytes: number;
  /** Lines cut by damage; they count as bad lines. */
  cutLines: number;
  /** The first few places. */
  readonly first: Damage[];
}

const NAMED_PLACES = 5;

export function newDamageLog(): DamageLog {
  return { places: 0, bytes: 0, cutLines: 0, first: [] };
}

export function addDamage(log: DamageLog, damage: Damage): void {
  log.places++;
  log.bytes += damage.bytes;
  if (log.first.length < NAMED_PLACES) log.first.push(damage);
}

/** Adds later damage to `total`. */
export function addDamageLog(total: DamageLog, later: DamageLog): void {
  total.places += later.places;
  total.bytes += later.bytes;
  total.cutLines += later.cutLines;
  total.first.push(...later.first.slice(0, NAMED_PLACES - total.first.length));
}

/** A part of a stream that may be damaged: a chunk, or an event between chunks. */
export type StreamPart = Uint8Array | StreamEvent;

type StreamEvent =
  /** A gzip member begins. */
  | { readonly kind: "member" }
  /** Bytes are missing: the next chunk does not continue the previous one. A member begins. */
  | { readonly kind: "gap"; readonly damage: Damage };

export function isChunk(part: object): part is Uint8Array {
  return part instanceof Uint8Array;
}

/**
 * The chunks of a stream whose format cannot be read in part.
 *
 * @throws MM_BAD_INPUT at a gap.
 */
export async function* unbroken(
  parts: AsyncIterable<StreamPart>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of parts) {
    if (isChunk(part)) {
      yield part;
    } else if (part.kind === "gap") {
      throw badInput(source, `${part.damage.message}; this format cannot be read in part`);
    }
  }
}
