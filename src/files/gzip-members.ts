import { crc32 } from "node:zlib";
import { addDamage, type Damage, type DamageLog, type StreamPart } from "../bytes/damage.ts";
import {
  endBehindTrailer,
  readMember,
  readTrailer,
  STEP_BYTES,
  SteppedInflate,
  StoredWindow,
} from "./gzip-member.ts";
import { systemCode } from "../errors.ts";

/** Members of up to this many stored bytes are given whole or not at all. */
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
  readonly rest?: readonly StreamPart[] | undefined;
}

const NO_END = "it has no end";
const MEMBER: StreamPart = { kind: "member" };

/**
 * Decodes the gzip members of a file, and skips what is damaged: notes it, tells of the gap,
 * and goes on with the next member that can be read. Tells where members begin.
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
): AsyncGenerator<StreamPart, void, undefined> {
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
    const skipped = { source, ...described(end, start, next, stored.end) };
    addDamage(damage, skipped);
    yield { kind: "gap", damage: skipped };
    if (next === undefined) return;
    at = next;
  }
}

/** Gives what is sound of a member; returns where it ends, or why it does not. */
async function* soundMember(
  stored: StoredWindow,
  offset: number,
): AsyncGenerator<StreamPart, number | Fault, undefined> {
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
): AsyncGenerator<StreamPart, number | Fault, undefined> {
  const inflate = new SteppedInflate();
  let withheld: StreamPart[] | undefined = [MEMBER];
  let checksum = 0;
  let length = 0;
  let at = dataStart;
  const fault = (why: string, rest?: readonly StreamPart[]): Fault => ({
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

/** Zeros fill up a file; nothing is looked for between them. */
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

const MAGIC = Buffer.of(0x1f, 0x8b, 0x08);
const SEARCHED_BYTES = 1 << 20;

/**
 * Finds the next gzip member at or behind an offset: bytes that look like one by chance, or are one
 * that is damaged too, do not inflate. Lets go of what was searched. Undefined if there is none, or
 * none within the effort that is left.
 */
export async function findMember(
  stored: StoredWindow,
  offset: number,
  effort: SearchEffort,
): Promise<number | undefined> {
  let from = offset;
  for (;;) {
    from = Math.max(from, effort.nextTry);
    const bytes = await stored.peek(from, SEARCHED_BYTES);
    const found = bytes.indexOf(MAGIC);
    if (found === -1) {
      if (bytes.length < SEARCHED_BYTES) return undefined;
      from += SEARCHED_BYTES - MAGIC.length + 1;
    } else {
      from += found;
      const member = await readMember(stored, from);
      if (member.kind === "whole" || member.kind === "long") return from;
      effort.spend(member.kind === "broken" ? member.tried : STEP_BYTES);
      from += 1;
    }
    stored.dropBefore(from);
  }
}

/** How many times the bytes of a file may be inflated in vain. */
const TIMES = 16;
/** What may be inflated in vain at first. */
const ALLOWANCE = 1 << 24;
/** What a try costs at least: to begin one takes as long as to inflate so much. */
const TRY_BYTES = 1 << 12;

/**
 * Bounds the work of looking for gzip members that can be read: what looks like one, and fails after
 * much of it was inflated, may begin every few bytes of a file that was made to do harm.
 *
 * What is damaged by accident stays far below the bound. Beyond it, what looks like a member is
 * skipped untried, until enough of the file has been passed.
 */
export class SearchEffort {
  /** Stored bytes that were inflated in vain. */
  spent = 0;

  /** Notes a try in which this many stored bytes were inflated in vain. */
  spend(bytes: number): void {
    this.spent += Math.max(bytes, TRY_BYTES);
  }

  /** The first offset at which the next try may be. */
  get nextTry(): number {
    return Math.max(0, Math.ceil((this.spent - ALLOWANCE) / TIMES));
  }
}
