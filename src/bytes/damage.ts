import { badInput } from "../errors.ts";

/** A stretch of an input that could not be read, and was skipped. */
export interface Damage {
  readonly source: string;
  /** Where it begins: in the stored bytes, or for a record in the decompressed ones. */
  readonly offset: number;
  /** How many of those bytes were skipped. */
  readonly bytes: number;
  /** What is wrong, and where. */
  readonly message: string;
}

/** What was skipped while reading; can be sent to another thread. */
export interface DamageLog {
  places: number;
  bytes: number;
  /** Lines that damage cut in two; they are bad lines. */
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

/** Adds what was skipped later, or further on, to `total`. */
export function addDamageLog(total: DamageLog, later: DamageLog): void {
  total.places += later.places;
  total.bytes += later.bytes;
  total.cutLines += later.cutLines;
  total.first.push(...later.first.slice(0, NAMED_PLACES - total.first.length));
}

/** What is sound of a stream that may be damaged: chunks, and what happens between them. */
export type StreamPart = Uint8Array | StreamEvent;

type StreamEvent =
  /** A gzip member begins. */
  | { readonly kind: "member" }
  /** Bytes are missing: what follows does not go on with what came before. A member begins. */
  | { readonly kind: "gap"; readonly damage: Damage };

export function isChunk(part: object): part is Uint8Array {
  return part instanceof Uint8Array;
}

/**
 * A stream that must be whole, because what it holds makes no sense in part.
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
