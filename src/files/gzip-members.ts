import { crc32, createInflateRaw, type InflateRaw } from "node:zlib";
import { ByteWindow } from "../bytes/byte-window.ts";
import { addDamage, type Damage, type DamageLog, type StreamPart } from "../bytes/damage.ts";
import { systemCode } from "../errors.ts";

/** Stored bytes to inflate at a time. */
const STEP_BYTES = 1 << 16;
/** Members of up to this many stored bytes are output whole or not at all. */
const HELD_BYTES = 1 << 20;
/** Limit on their inflated size, which only malicious members exceed. */
const MAX_WITHHELD_BYTES = 1 << 26;
const TRAILER_BYTES = 8;

/** An error in a member. */
interface Fault {
  readonly why: string;
  /** Where it was detected. */
  readonly offset: number;
  /** Whether the data before it was output. */
  readonly isOutput: boolean;
  /** Output of the member to use if no other member follows. */
  readonly rest?: readonly StreamPart[] | undefined;
}

const NO_END = "unexpected end";
const MEMBER: StreamPart = { kind: "member" };

/**
 * Decodes the gzip members of a file, and skips damaged ones: records the damage, emits a gap, and
 * continues with the next readable member. Also marks the start of each member.
 *
 * A member of up to 1 MiB, such as a WARC record or an index block, is output whole or not at all: if
 * its checksum is wrong, any of it may be wrong. A larger one is inflated and output in steps of
 * 64 KiB, because it may be the only one; the failing step and the rest of the member are lost. The
 * same applies to a smaller member if the file has no other. If the file ends within a member, all of
 * the data before the end is output.
 *
 * Holds 1 MiB of stored bytes, to search for the next member when damage is detected late, a chunk,
 * and the inflated data of a member of 1 MiB.
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
        : { why: "preceded by zeros", offset: at, isOutput: false };
    if (typeof end === "number") {
      at = end;
      continue;
    }
    stored.failedBytes += end.offset - start;
    // A member that failed at once is tried again in smaller steps, to measure the cost.
    const from = end.offset === at ? at : start + 1;
    const next = await findMember(stored, Math.max(from, stored.start));
    if (next === undefined && end.rest !== undefined) yield* end.rest;
    const skipped = { source, ...describeDamage(end, start, next, stored.end) };
    addDamage(damage, skipped);
    yield { kind: "gap", damage: skipped };
    if (next === undefined) return;
    at = next;
  }
}

/** Yields the readable data of a member; returns its end, or the error. */
async function* readMember(
  stored: StoredWindow,
  offset: number,
  stepBytes: number = STEP_BYTES,
): AsyncGenerator<StreamPart, number | Fault, undefined> {
  const headerLength = gzipHeaderLength(await stored.peek(offset, STEP_BYTES));
  if (headerLength === undefined) {
    return { why: "no gzip header", offset, isOutput: false };
  }
  const dataStart = offset + headerLength;
  const inflate = new SteppedInflate();
  let withheld: StreamPart[] | undefined = [MEMBER];
  let checksum = 0;
  let length = 0;
  let at = dataStart;
  const fault = (why: string, rest?: readonly StreamPart[]): Fault => {
    const isOutput = withheld === undefined;
    return { why, offset: at === dataStart ? offset : at, isOutput, rest };
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

/** Skips zero padding. */
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

function describeDamage(
  { why, offset, isOutput, rest }: Fault,
  start: number,
  next: number | undefined,
  end: number,
): Omit<Damage, "source"> {
  if (next === undefined && why === NO_END) {
    const message = `the file is truncated in the gzip member at byte ${start}`;
    return { offset: end, bytes: 0, message };
  }
  // Data that was output does not count as skipped.
  const from = isOutput || (next === undefined && rest !== undefined) ? offset : start;
  const noticed = offset === start ? "" : `, detected at byte ${offset}`;
  const lost = next === undefined ? ", and no readable one follows: the rest is lost" : "";
  const message = `the gzip member at byte ${start} is damaged${noticed} (${why})${lost}`;
  return { offset: from, bytes: Math.max(0, (next ?? end) - from), message };
}

const MAGIC = Buffer.of(0x1f, 0x8b, 0x08);
const SEARCHED_BYTES = 1 << 20;
/** Small, so that little is inflated unnecessarily. */
const SEARCH_STEP_BYTES = 1 << 12;
/** Limit on bytes inflated unsuccessfully: an initial budget, plus a multiple of the bytes passed. */
const FAILED_BUDGET = 1 << 24;
const FAILED_RATIO = 16;

/**
 * Finds the next gzip member at or after an offset, skipping bytes that only look like one and other
 * damaged members: these do not inflate. Undefined if there is none. Drops the bytes searched.
 *
 * Accidental damage stays far below the limit on attempts. In a malicious file, where members that fail
 * late begin every few bytes, those beyond the limit are skipped untried.
 */
async function findMember(stored: StoredWindow, offset: number): Promise<number | undefined> {
  let from = offset;
  for (;;) {
    from = Math.max(from, Math.ceil((stored.failedBytes - FAILED_BUDGET) / FAILED_RATIO));
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

/** Whether a member is whole, or readable for two steps: its header takes at most one. */
async function canBeRead(stored: StoredWindow, offset: number): Promise<boolean> {
  const member = readMember(stored, offset, SEARCH_STEP_BYTES);
  const { done, value } = await member.next();
  await member.return(0);
  // It ends without output only on an error.
  const sound = done === true && typeof value === "object" ? value.offset - offset : undefined;
  if (sound === undefined || sound >= 2 * STEP_BYTES) return true;
  stored.failedBytes += sound + SEARCH_STEP_BYTES;
  return false;
}

const FIXED_HEADER_BYTES = 10;
const HAS_HEADER_CRC = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;
const RESERVED_FLAGS = 0xe0;

/** The length of a member's header; undefined if it is missing or incomplete. */
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

/** Random access to the part of a stream that has not been dropped. */
class StoredWindow extends ByteWindow {
  /** Stored bytes inflated from unreadable members. */
  failedBytes = 0;
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

/** The result of a step. */
interface InflateStep {
  readonly chunks: readonly Uint8Array[];
  /** Stored bytes of the step that belong to the member; all of them unless it ends. */
  readonly used: number;
  readonly isEnd: boolean;
}

/**
 * Inflates data step by step. A failing step has no output at all, so results are deterministic; a
 * stream of node:zlib loses whatever has not been read yet.
 */
class SteppedInflate {
  readonly #decoder: InflateRaw = createInflateRaw({ chunkSize: STEP_BYTES });

  /** Inflates stored bytes. After an error the decoder is unusable. */
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
      // Bytes after the end of the data do not count as written.
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

/** Reads available output. */
function read(decoder: InflateRaw): Uint8Array | null {
  return decoder.read() as Uint8Array | null; // a zlib stream is not in object mode
}
