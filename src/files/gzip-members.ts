import { crc32 } from "node:zlib";
import type { Damage, DamageLog } from "../bytes/damage.ts";
import { addDamage } from "../bytes/damage.ts";
import { GAP, MEMBER } from "../bytes/marks.ts";
import { findMember } from "./find-member.ts";
import { endBehindTrailer, readMember, readTrailer, STEP_BYTES } from "./gzip-member.ts";
import { systemCode } from "./io-error.ts";
import { SearchEffort } from "./search-effort.ts";
import { SteppedInflate } from "./stepped-inflate.ts";
import { StoredWindow } from "./stored-window.ts";

/** Members of up to so many stored bytes are given whole or not at all. */
const HELD_BYTES = 1 << 20;
/** What they inflate to, at most, unless they were made to do harm. */
const MAX_WITHHELD_BYTES = 1 << 26;

/** Why a member cannot be read to its end. */
interface Fault {
  readonly why: string;
  /** Where that was noticed. */
  readonly offset: number;
  /** About how many bytes were inflated in vain. */
  readonly tried: number;
  /** Whether what came before it was given. */
  readonly isGiven: boolean;
  /** What is to be given of the member if no other follows. */
  readonly rest?: readonly Uint8Array[] | undefined;
}

const NO_END = "it has no end";

/**
 * Decodes the gzip members of a file, and passes over what is damaged: notes it, marks the gap, and
 * goes on with the next member that can be read. Marks where members begin.
 *
 * A member of up to 1 MiB, as records of WARC files and blocks of indexes are, is given whole or not
 * at all: where its checksum is wrong, any of it may be false. A larger one is inflated in steps of
 * 64 KiB and given from then on, because it may be all there is; the step in which it fails is lost,
 * and what follows of it. So it is with a smaller one if the file has no other. Where the file ends
 * within a member, all that is there of it is given.
 *
 * Holds 1 MiB of stored bytes, in which to look for the next member when damage is noticed late, a
 * chunk, and what a member of 1 MiB inflates to.
 */
export async function* soundMembers(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  damage: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stored = new StoredWindow(chunks);
  const effort = new SearchEffort();
  let at = 0;
  for (;;) {
    const start = at;
    at = await skipZeros(stored, start);
    if ((await stored.peek(at, 1)).length === 0) return;
    const end = at === start ? yield* soundMember(stored, start) : behindZeros(at);
    if (typeof end === "number") {
      at = end;
      continue;
    }
    const from = at === start ? start + 1 : at;
    effort.spend(end.tried);
    const next = await findMember(stored, Math.max(from, stored.start), effort);
    if (next === undefined && end.rest !== undefined) yield* end.rest;
    addDamage(damage, { source, ...described(end, start, next, stored.end) });
    yield GAP;
    if (next === undefined) return;
    at = next;
  }
}

/** Gives what is sound of a member; returns where it ends, or why it does not. */
async function* soundMember(
  stored: StoredWindow,
  offset: number,
): AsyncGenerator<Uint8Array, number | Fault, undefined> {
  const member = await readMember(stored, offset);
  switch (member.kind) {
    case "broken":
      return { why: member.why, offset, isGiven: false, tried: member.tried };
    case "cut":
      return {
        why: NO_END,
        offset,
        isGiven: false,
        tried: STEP_BYTES,
        rest: [MEMBER, member.bytes],
      };
    case "whole":
      yield MEMBER;
      yield member.bytes;
      return member.end;
    case "long":
      return yield* longMember(stored, offset, member.dataStart);
  }
}

async function* longMember(
  stored: StoredWindow,
  offset: number,
  dataStart: number,
): AsyncGenerator<Uint8Array, number | Fault, undefined> {
  const inflate = new SteppedInflate();
  let withheld: Uint8Array[] | undefined = [MEMBER];
  let checksum = 0;
  let length = 0;
  let at = dataStart;
  const fault = (why: string, rest?: readonly Uint8Array[]): Fault => ({
    why,
    offset: at,
    tried: at - offset + STEP_BYTES,
    isGiven: withheld === undefined,
    rest,
  });
  const isFirst = offset === 0;
  try {
    for (;;) {
      const bytes = await stored.peek(at, STEP_BYTES);
      if (bytes.length === 0) return fault(NO_END, withheld ?? []);
      const { chunks, used, isEnd } = await inflate.take(bytes);
      for (const chunk of chunks) {
        checksum = crc32(chunk, checksum);
        length += chunk.length;
      }
      if (isEnd) {
        const trailer = await readTrailer(stored, at + used, checksum, length);
        const given = [...(withheld ?? []), ...chunks];
        if (trailer === "cut") return fault(NO_END, given);
        if (trailer !== "sound") return fault(trailer, isFirst ? withheld : undefined);
        yield* given;
        return endBehindTrailer(at + used);
      }
      at += used;
      if (withheld === undefined) {
        yield* chunks;
      } else {
        withheld.push(...chunks);
        if (at - offset > HELD_BYTES || length > MAX_WITHHELD_BYTES) {
          yield* withheld;
          withheld = undefined;
        }
      }
      stored.dropBefore(at - HELD_BYTES);
    }
  } catch (error) {
    if (systemCode(error)?.startsWith("Z_") !== true || !(error instanceof Error)) throw error;
    return fault(error.message, isFirst ? withheld : undefined);
  } finally {
    inflate.close();
  }
}

/** Zeros fill up a file; they are no reason to look for something between members. */
async function skipZeros(stored: StoredWindow, offset: number): Promise<number> {
  let at = offset;
  for (;;) {
    stored.dropBefore(at);
    const bytes = await stored.peek(at, STEP_BYTES);
    const other = bytes.findIndex((byte) => byte !== 0);
    if (other !== -1) return at + other;
    if (bytes.length === 0) return at;
    at += bytes.length;
  }
}

function behindZeros(offset: number): Fault {
  return { why: "zeros come before it", offset, isGiven: false, tried: 0 };
}

function described(
  { why, offset, isGiven, rest }: Fault,
  start: number,
  next: number | undefined,
  end: number,
): Omit<Damage, "source"> {
  if (next === undefined && why === NO_END) {
    const message = `the file ends within the gzip member at byte ${start}: the rest is missing`;
    return { offset: end, bytes: 0, message };
  }
  // Nothing is skipped of what was given.
  const from = isGiven || (next === undefined && rest !== undefined) ? offset : start;
  const noticed = offset === start ? "" : `, noticed at byte ${offset}`;
  const lost = next === undefined ? ", and none can be read behind it: the rest is lost" : "";
  const message = `the gzip member at byte ${start} is damaged${noticed} (${why})${lost}`;
  return { offset: from, bytes: Math.max(0, (next ?? end) - from), message };
}
