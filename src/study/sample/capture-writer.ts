import { writeDecimal } from "../../bytes/bytes.ts";
import { type YearRow, YEARS } from "./archive-shape.ts";
import type { Random } from "../../bytes/random.ts";

/** What captures of one original have in common. */
interface Original {
  readonly surt: string;
  /** The URL without its scheme: `www.example.pt/a?b=1`. */
  readonly address: string;
  readonly mime: string;
}

const CHUNK_BYTES = 1 << 18;
/** Room for the longest line; keys are a dozen short names at most. */
const LINE_ROOM = 4096;
const ENCODER = new TextEncoder();
const BASE32 = ENCODER.encode("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
const DIGEST_LENGTH = 32;

const PLAIN_URL = ENCODER.encode(' {"url": "http://');
const SECURE_URL = ENCODER.encode(' {"url": "https://');
/** Revisits have no status of their own, as pywb writes them. */
const REVISIT = ENCODER.encode('", "mime": "warc/revisit", "digest": "');
const LENGTH = ENCODER.encode('", "length": "');
const OFFSET = ENCODER.encode('", "offset": "');
const FILE = ENCODER.encode('", "filename": "');
const FILE_END = ENCODER.encode('.warc.gz"}\n');

/** Sites move to https from this year on. */
const SECURE_YEAR = 2014;
/** How often a page is the same as when it was captured before. The share is ours. */
const UNCHANGED_SHARE = 0.2;

/**
 * Writes lines of a CDXJ index as bytes into chunks.
 *
 * Call {@link begin} for an original, then {@link capture} once for each of its mementos, and
 * {@link take} whenever {@link isFull}. Holds one chunk.
 */
export class CaptureWriter {
  readonly #random: Random;
  readonly #times: CaptureTimes;
  /** The bytes between URL and digest, by MIME type, then by status. */
  readonly #middles = new Map<string, Map<string, Uint8Array>>();
  readonly #digest = new Uint8Array(DIGEST_LENGTH);
  readonly #key = new Uint8Array(LINE_ROOM / 4);
  #keyLength = 0;
  readonly #address = new Uint8Array(LINE_ROOM / 4);
  #addressLength = 0;
  #mime = "";
  #middlesOfMime = new Map<string, Uint8Array>();
  #fate = 0;
  #isSecured = false;
  #share = 0;
  #time = -1;
  #chunk = new Uint8Array(CHUNK_BYTES);
  #used = 0;

  constructor(random: Random, times: CaptureTimes) {
    this.#random = random;
    this.#times = times;
  }

  get isFull(): boolean {
    return this.#used > CHUNK_BYTES - LINE_ROOM;
  }

  begin({ surt, address, mime }: Original): void {
    this.#keyLength = writeAscii(surt, this.#key);
    this.#key[this.#keyLength++] = 0x20;
    this.#addressLength = writeAscii(address, this.#address);
    this.#mime = mime;
    this.#middlesOfMime = this.#middles.get(mime) ?? new Map<string, Uint8Array>();
    this.#middles.set(mime, this.#middlesOfMime);
    // Drawn once: a page that is gone is gone in all its captures.
    this.#fate = this.#random.real() * 100;
    this.#isSecured = this.#random.chance(0.4);
    this.#share = 0;
    this.#time = -1;
  }

  /** Writes the next capture of the original; `left` are still to come, this one included. */
  capture(left: number): void {
    const random = this.#random;
    const times = this.#times;
    const isFirst = this.#time < 0;
    this.#share = nextOrdered(random, this.#share, left);
    this.#time = Math.max(this.#time + 1, times.at(this.#share));
    const year = times.year(this.#share);
    const status = statusOf(year, this.#fate);
    const isRevisit = !isFirst && status === "200" && random.chance(year.revisits / 100);
    if (isFirst || !(isRevisit || random.chance(UNCHANGED_SHARE))) this.#newDigest();

    const chunk = this.#chunk;
    let at = copy(this.#key, this.#keyLength, chunk, this.#used);
    const timeAt = at;
    at = times.write(chunk, at, this.#time);
    const opening = this.#isSecured && year.year >= SECURE_YEAR ? SECURE_URL : PLAIN_URL;
    at = copy(opening, opening.length, chunk, at);
    at = copy(this.#address, this.#addressLength, chunk, at);
    const middle = isRevisit ? REVISIT : this.#middle(status);
    at = copy(middle, middle.length, chunk, at);
    at = copy(this.#digest, DIGEST_LENGTH, chunk, at);
    at = copy(LENGTH, LENGTH.length, chunk, at);
    const bits = random.uint32();
    at = writeDecimal(
      isRevisit ? 400 + (bits & 0xff) : 500 + (bits & 0xff) * (bits >>> 24),
      chunk,
      at,
    );
    at = copy(OFFSET, OFFSET.length, chunk, at);
    at = writeDecimal(random.uint32() >>> 2, chunk, at);
    at = copy(FILE, FILE.length, chunk, at);
    // Files are named for the day of the crawl and a serial number.
    chunk.copyWithin(at, timeAt, timeAt + 8);
    chunk[at + 8] = 0x2d;
    at = writeDecimal(10_000 + ((bits >>> 8) & 0x7ff), chunk, at + 9);
    this.#used = copy(FILE_END, FILE_END.length, chunk, at);
  }

  /** What was written since it was last taken; the caller may keep it. */
  take(): Uint8Array {
    const written = this.#chunk.subarray(0, this.#used);
    this.#chunk = new Uint8Array(CHUNK_BYTES);
    this.#used = 0;
    return written;
  }

  #middle(status: string): Uint8Array {
    let bytes = this.#middlesOfMime.get(status);
    if (bytes === undefined) {
      bytes = ENCODER.encode(`", "mime": "${this.#mime}", "status": "${status}", "digest": "`);
      this.#middlesOfMime.set(status, bytes);
    }
    return bytes;
  }

  #newDigest(): void {
    for (let i = 0; i < DIGEST_LENGTH;) {
      let bits = this.#random.uint32();
      for (let n = 0; n < 6 && i < DIGEST_LENGTH; n++) {
        this.#digest[i++] = BASE32[bits & 31];
        bits >>>= 5;
      }
    }
  }
}

function statusOf(year: YearRow, fate: number): string {
  let bound = year.clientErrors;
  // Mostly 404, now and then 403.
  if (fate < bound) return fate < bound * 0.9 ? "404" : "403";
  bound += year.redirects;
  if (fate < bound) return fate < bound - year.redirects * 0.4 ? "302" : "301";
  bound += year.serverErrors;
  return fate < bound ? "500" : "200";
}

function copy(source: Uint8Array, length: number, target: Uint8Array, at: number): number {
  for (let i = 0; i < length; i++) target[at + i] = source[i];
  return at + length;
}

function writeAscii(text: string, target: Uint8Array): number {
  for (let i = 0; i < text.length; i++) target[i] = text.charCodeAt(i);
  return text.length;
}

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

/**
 * When pages were captured: as many in each year as in the paper.
 *
 * Times are seconds since the start of the first year. Holds 8 bytes a day.
 */
export class CaptureTimes {
  readonly #years: readonly YearRow[];
  /** The share of mementos before the end of each year. */
  readonly #upTo: Float64Array;
  /** The second at which each year starts; one more for the end. */
  readonly #start: Float64Array;
  /** `YYYYMMDD` of each day. */
  readonly #days: Uint8Array;

  constructor(startYear: number, endYear: number) {
    this.#years = YEARS.filter(({ year }) => year >= startYear && year <= endYear);
    const total = this.#years.reduce((sum, { mementos }) => sum + mementos, 0);
    let seen = 0;
    this.#upTo = Float64Array.from(this.#years, ({ mementos }) => (seen += mementos) / total);
    const first = this.#years[0]?.year ?? startYear;
    const origin = Date.UTC(first, 0, 1);
    const secondsTo = (year: number): number => (Date.UTC(year, 0, 1) - origin) / 1000;
    this.#start = Float64Array.from({ length: this.#years.length + 1 }, (_, i) =>
      secondsTo(first + i),
    );
    // A year more than needed: captures in a row at the very end may run over it.
    const days = secondsTo(first + this.#years.length + 1) / DAY_SECONDS;
    this.#days = new Uint8Array(days * 8);
    for (let day = 0; day < days; day++) {
      const text = new Date(origin + day * DAY_MS).toISOString();
      const digits = text.slice(0, 10).replaceAll("-", "");
      for (let i = 0; i < 8; i++) this.#days[day * 8 + i] = digits.charCodeAt(i);
    }
  }

  /** The time below which the given share of all captures lies. Rises with the share. */
  at(share: number): number {
    const year = this.#yearIndex(share);
    const before = year === 0 ? 0 : this.#upTo[year - 1];
    const within = (share - before) / (this.#upTo[year] - before);
    const start = this.#start[year];
    return Math.floor(start + within * (this.#start[year + 1] - start));
  }

  #yearIndex(share: number): number {
    const last = this.#upTo.length - 1;
    let year = last;
    while (year > 0 && share < this.#upTo[year - 1]) year--;
    return year;
  }

  /** The statistics of the year in which {@link at} lies. */
  year(share: number): YearRow {
    return this.#years[this.#yearIndex(share)];
  }

  /** Writes the 14 digits of a time and returns the offset behind them. */
  write(target: Uint8Array, offset: number, seconds: number): number {
    const day = Math.floor(seconds / DAY_SECONDS);
    const days = this.#days;
    for (let i = 0; i < 8; i++) target[offset + i] = days[day * 8 + i];
    const second = seconds - day * DAY_SECONDS;
    const minute = Math.floor(second / 60);
    const hour = Math.floor(minute / 60);
    writePair(target, offset + 8, hour);
    writePair(target, offset + 10, minute - hour * 60);
    writePair(target, offset + 12, second - minute * 60);
    return offset + 14;
  }
}

function writePair(target: Uint8Array, offset: number, value: number): void {
  const tens = Math.floor(value / 10);
  target[offset] = 0x30 + tens;
  target[offset + 1] = 0x30 + value - tens * 10;
}

/** The next of `left` sorted uniform draws in (0, 1), given the one before it. */
function nextOrdered(random: Random, before: number, left: number): number {
  const u = 1 - random.real();
  return 1 - (1 - before) * (left === 1 ? u : u ** (1 / left));
}
