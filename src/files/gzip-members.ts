import { crc32, createInflateRaw, type InflateRaw } from "node:zlib";
import { ByteWindow } from "../bytes/byte-window.ts";
import { addDamage, type Damage, type DamageLog, type StreamPart } from "../bytes/damage.ts";
import { systemCode } from "../errors.ts";

/** Stored bytes that are inflated at once. */
const STEP_BYTES = 1 << 16;
/** Members of up to this many stored bytes are given whole or not at all. */
const HELD_BYTES = 1 << 20;
/** What they inflate to, at most, unless they were made to do harm. */
const MAX_WITHHELD_BYTES = 1 << 26;
const TRAILER_BYTES = 8;

/** Why a member cannot be read to its end. */
interface Fault {
  readonly why: string;
  /** Where that was noticed. */
  readonly offset: number;
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
  let at = 0;
  for (;;) {
    const start = at;
    at = await skipZeros(stored, start);
    if ((await stored.peek(at, 1)).length === 0) return;
    const end: number | Fault =
      at === start
        ? yield* readMember(stored, start)
        : { why: "zeros come before it", offset: at, isGiven: false };
    if (typeof end === "number") {
      at = end;
      continue;
    }
    stored.triedInVain += end.offset - start;
    // What failed at once is tried again, in smaller steps, to learn what that costs.
    const from = end.offset === at ? at : start + 1;
    const next = await findMember(stored, Math.max(from, stored.start));
    if (next === undefined && end.rest !== undefined) yield* end.rest;
    const skipped = { source, ...described(end, start, next, stored.end) };
    addDamage(damage, skipped);
    yield { kind: "gap", damage: skipped };
    if (next === undefined) return;
    at = next;
  }
}

/** Gives what is sound of a member; returns where it ends, or why it does not. */
async function* readMember(
  stored: StoredWindow,
  offset: number,
  stepBytes: number = STEP_BYTES,
): AsyncGenerator<StreamPart, number | Fault, undefined> {
  const headerLength = gzipHeaderLength(await stored.peek(offset, STEP_BYTES));
  if (headerLength === undefined) {
    return { why: "there is no gzip header", offset, isGiven: false };
  }
  const dataStart = offset + headerLength;
  const inflate = new SteppedInflate();
  let withheld: StreamPart[] | undefined = [MEMBER];
  let checksum = 0;
  let length = 0;
  let at = dataStart;
  const fault = (why: string, rest?: readonly StreamPart[]): Fault => {
    const isGiven = withheld === undefined;
    return { why, offset: at === dataStart ? offset : at, isGiven, rest };
  };
  const damaged = (why: string): Fault =>
    fault(why, offset === 0 && at > dataStart ? withheld : undefined);
  try {
    for (;;) {
      const bytes = await stored.peek(at, stepBytes);
      if (bytes.length === 0) return fault(NO_END, withheld ?? []);
      const { chunks, used, isEnd } = await inflate.take(bytes);
      for (const chunk of chunks) {
        checksum = crc32(chunk, checksum);
        length += chunk.length;
      }
      if (isEnd) {
        const given = [...(withheld ?? []), ...chunks];
        const trailer = await stored.peek(at + used, TRAILER_BYTES);
        if (trailer.length < TRAILER_BYTES) return fault(NO_END, given);
        if (trailer.readUInt32LE(0) !== checksum) return damaged("incorrect data check");
        if (trailer.readUInt32LE(4) !== length % 2 ** 32) return damaged("incorrect length check");
        yield* given;
        return at + used + TRAILER_BYTES;
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
      if (withheld === undefined) stored.dropBefore(at - HELD_BYTES);
    }
  } catch (error) {
    if (systemCode(error)?.startsWith("Z_") !== true || !(error instanceof Error)) throw error;
    return damaged(error.message);
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
/** Small, so that little is inflated of what cannot be read. */
const SEARCH_STEP_BYTES = 1 << 12;
/** What may be inflated in vain: so much at first, and so many times the bytes that were passed. */
const FIRST_IN_VAIN = 1 << 24;
const TIMES_IN_VAIN = 16;

/**
 * Finds the next gzip member at or behind an offset: bytes that look like one by chance, or are one
 * that is damaged too, do not inflate. Undefined if there is none. Lets go of what was searched.
 *
 * What is damaged by accident stays far below the bound of what is tried. In a file that was made to do
 * harm, where members that fail late begin every few bytes, those beyond it are skipped untried.
 */
async function findMember(stored: StoredWindow, offset: number): Promise<number | undefined> {
  let from = offset;
  for (;;) {
    from = Math.max(from, Math.ceil((stored.triedInVain - FIRST_IN_VAIN) / TIMES_IN_VAIN));
    const bytes = await stored.peek(from, SEARCHED_BYTES);
    const found = bytes.indexOf(MAGIC);
    if (found === -1) {
      if (bytes.length < SEARCHED_BYTES) return undefined;
      from += SEARCHED_BYTES - MAGIC.length + 1;
    } else {
      from += found;
      if (await canBeRead(stored, from)) return from;
      from += 1;
    }
    stored.dropBefore(from);
  }
}

/** Whether a member is whole, or sound for two steps: its header takes one at most. */
async function canBeRead(stored: StoredWindow, offset: number): Promise<boolean> {
  const member = readMember(stored, offset, SEARCH_STEP_BYTES);
  const { done, value } = await member.next();
  await member.return(0);
  // It ends without giving anything only where there is a fault.
  const sound = done === true && typeof value === "object" ? value.offset - offset : undefined;
  if (sound === undefined || sound >= 2 * STEP_BYTES) return true;
  stored.triedInVain += sound + SEARCH_STEP_BYTES;
  return false;
}

const FIXED_HEADER_BYTES = 10;
const HAS_HEADER_CRC = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;
const RESERVED_FLAGS = 0xe0;

/** How long the header is with which a member begins; undefined if there is none, or not all of it. */
function gzipHeaderLength(bytes: Buffer): number | undefined {
  const flags = bytes[3];
  if (bytes.length < FIXED_HEADER_BYTES || (flags & RESERVED_FLAGS) !== 0) return undefined;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  let at = FIXED_HEADER_BYTES;
  if ((flags & HAS_EXTRA) !== 0) {
    if (bytes.length < at + 2) return undefined;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.indexOf(0, at);
    if (zero === -1) return undefined;
    at = zero + 1;
  }
  if ((flags & HAS_HEADER_CRC) !== 0) {
    if (bytes.length < at + 2) return undefined;
    if (bytes.readUInt16LE(at) !== crc32(bytes.subarray(0, at)) % 2 ** 16) return undefined;
    at += 2;
  }
  return at <= bytes.length ? at : undefined;
}

/** A stream that can be looked into at any offset behind those that were let go. */
class StoredWindow extends ByteWindow {
  /** How many stored bytes were inflated of members that cannot be read. */
  triedInVain = 0;
  readonly #iterator: AsyncIterator<Uint8Array>;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    super();
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** The bytes at an offset; fewer than `length` only at the end of the stream. */
  async peek(offset: number, length: number): Promise<Buffer> {
    while (offset + length > this.end) {
      const next = await this.#iterator.next();
      if (next.done === true) break;
      this.add(next.value);
    }
    const bytes = this.slice(offset, offset + length);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}

/** What came of a step. */
interface InflateStep {
  readonly chunks: readonly Uint8Array[];
  /** Stored bytes of the step that belong to the data; all of them unless it ends. */
  readonly used: number;
  readonly isEnd: boolean;
}

/**
 * Inflates data step by step. What a step gives depends on the steps only, as all of a step that
 * fails is lost; a stream of node:zlib loses what nobody has read yet.
 */
class SteppedInflate {
  readonly #decoder: InflateRaw = createInflateRaw({ chunkSize: STEP_BYTES });

  /** Takes stored bytes. Passes on the error of the decoder, which is useless then. */
  async take(bytes: Uint8Array): Promise<InflateStep> {
    const decoder = this.#decoder;
    const before = decoder.bytesWritten;
    const chunks: Uint8Array[] = [];
    const collect = (): void => {
      for (let chunk = read(decoder); chunk !== null; chunk = read(decoder)) chunks.push(chunk);
    };
    const isEnd = await new Promise<boolean>((resolve, reject) => {
      decoder.on("readable", collect);
      decoder.once("error", reject);
      // Where bytes are left over at the end of the data, they count as never written.
      decoder.once("end", () => {
        resolve(true);
      });
      decoder.write(bytes, (error) => {
        if (error instanceof Error) return;
        collect();
        resolve(false);
      });
    });
    decoder.removeAllListeners("readable").removeAllListeners("error").removeAllListeners("end");
    return { chunks, used: decoder.bytesWritten - before, isEnd };
  }

  close(): void {
    this.#decoder.destroy();
  }
}

/** What is ready. */
function read(decoder: InflateRaw): Uint8Array | null {
  return decoder.read() as Uint8Array | null; // a zlib stream is not in object mode
}
