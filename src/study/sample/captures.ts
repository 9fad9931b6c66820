import type { Random } from "../../bytes/random.ts";
import { datetimeOfEpochMs } from "../../memento/datetime.ts";
import { type YearRow, YEARS } from "./archive-shape.ts";

/** What captures of one original have in common. */
export interface Original {
  readonly surt: string;
  /** The URL without its scheme: `www.example.pt/a?b=1`. */
  readonly address: string;
  readonly mime: string;
  /** In [0, 100), drawn once: a page that is gone is gone in all its captures. */
  readonly fate: number;
  /** Whether the site moved to https. */
  readonly isSecured: boolean;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGEST_LENGTH = 32;
/** Sites move to https from this year on. */
const SECURE_YEAR = 2014;
/** How often a page is the same as when it was captured before. The share is ours. */
const UNCHANGED_SHARE = 0.2;

/** Yields a line of a CDXJ index for each capture of an original, in the order of time. */
export function* captureLines(
  random: Random,
  times: CaptureTimes,
  { surt, address, mime, fate, isSecured }: Original,
  count: number,
): Generator<string, void, undefined> {
  let share = 0;
  let time = -1;
  let digest = "";
  for (let left = count; left > 0; left--) {
    share = nextOrdered(random, share, left);
    time = Math.max(time + 1, times.at(share));
    const year = times.year(share);
    const status = statusOf(year, fate);
    const isFirst = digest === "";
    const isRevisit = !isFirst && status === "200" && random.chance(year.revisits / 100);
    if (isFirst || !(isRevisit || random.chance(UNCHANGED_SHARE))) digest = newDigest(random);
    const bits = random.uint32();
    const length = isRevisit ? 400 + (bits & 0xff) : 500 + (bits & 0xff) * (bits >>> 24);
    const offset = random.uint32() >>> 2;
    const stamp = String(times.datetime(time));
    const scheme = isSecured && year.year >= SECURE_YEAR ? "https" : "http";
    // Revisits have no status of their own, as pywb writes them.
    const type = isRevisit ? '"warc/revisit"' : `"${mime}", "status": "${status}"`;
    // Files are named for the day of the crawl and a serial number.
    const file = `${stamp.slice(0, 8)}-${10_000 + ((bits >>> 8) & 0x7ff)}.warc.gz`;
    yield `${surt} ${stamp} {"url": "${scheme}://${address}", "mime": ${type}, "digest": "${digest}", "length": "${length}", "offset": "${offset}", "filename": "${file}"}\n`;
  }
}

function newDigest(random: Random): string {
  let digest = "";
  while (digest.length < DIGEST_LENGTH) {
    let bits = random.uint32();
    for (let n = 0; n < 6 && digest.length < DIGEST_LENGTH; n++) {
      digest += BASE32[bits & 31];
      bits >>>= 5;
    }
  }
  return digest;
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

/** When pages were captured: as many in each year as in the paper. Times are in seconds since 1970. */
export class CaptureTimes {
  readonly #years: readonly YearRow[];
  /** The share of mementos before the end of each year. */
  readonly #upTo: readonly number[];
  /** When each year starts; one more for the end. */
  readonly #starts: readonly number[];

  constructor(startYear: number, endYear: number) {
    this.#years = YEARS.filter(({ year }) => year >= startYear && year <= endYear);
    const total = this.#years.reduce((sum, { mementos }) => sum + mementos, 0);
    let seen = 0;
    this.#upTo = this.#years.map(({ mementos }) => (seen += mementos) / total);
    const years = [
      ...this.#years.map(({ year }) => year),
      this.#years[this.#years.length - 1].year + 1,
    ];
    this.#starts = years.map((year) => Date.UTC(year, 0, 1) / 1000);
  }

  /** The time below which the given share of all captures lies. Rises with the share. */
  at(share: number): number {
    const index = this.#yearIndex(share);
    const before = index === 0 ? 0 : this.#upTo[index - 1];
    const within = (share - before) / (this.#upTo[index] - before);
    const start = this.#starts[index];
    return Math.floor(start + within * (this.#starts[index + 1] - start));
  }

  /** The statistics of the year in which {@link at} lies. */
  year(share: number): YearRow {
    return this.#years[this.#yearIndex(share)];
  }

  /** The 14 digits of a time. */
  datetime(seconds: number): number {
    return datetimeOfEpochMs(seconds * 1000);
  }

  #yearIndex(share: number): number {
    let year = this.#upTo.length - 1;
    while (year > 0 && share < this.#upTo[year - 1]) year--;
    return year;
  }
}

/** The next of `left` sorted uniform draws in (0, 1), given the one before it. */
function nextOrdered(random: Random, before: number, left: number): number {
  const u = 1 - random.real();
  return 1 - (1 - before) * (left === 1 ? u : u ** (1 / left));
}
