import type { Random } from "../../bytes/random.ts";
import { datetimeOfEpochMs } from "../../memento/datetime.ts";
import { type YearRow, YEARS } from "./archive-shape.ts";

/** The common properties of all captures of an original. */
export interface Original {
  readonly surt: string;
  /** The URL without its scheme: `www.example.pt/a?b=1`. */
  readonly address: string;
  readonly mime: string;
  /** In [0, 100), drawn once per original: a missing page is missing in all its captures. */
  readonly fate: number;
  /** Whether the site moved to https. */
  readonly isSecured: boolean;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGEST_LENGTH = 32;
/** Sites move to https from this year on. */
const SECURE_YEAR = 2014;
/** The share of captures of unchanged pages. The share is ours. */
const UNCHANGED_SHARE = 0.2;

/** Yields a line of a CDXJ index for each capture of an original, in chronological order. */
export function* captureLines(
  random: Random,
  { surt, address, mime, fate, isSecured }: Original,
  count: number,
): Generator<string, void, undefined> {
  let share = 0;
  let time = -1;
  let digest = "";
  for (let left = count; left > 0; left--) {
    share = nextOrdered(random, share, left);
    const { year, seconds } = timeAt(share);
    time = Math.max(time + 1, seconds);
    const status = statusOf(year, fate);
    const isFirst = digest === "";
    const isRevisit = !isFirst && status === "200" && random.chance(year.revisits / 100);
    if (isFirst || !(isRevisit || random.chance(UNCHANGED_SHARE))) digest = newDigest(random);
    const bits = random.uint32();
    const length = isRevisit ? 400 + (bits & 0xff) : 500 + (bits & 0xff) * (bits >>> 24);
    const offset = random.uint32() >>> 2;
    const stamp = String(datetimeOfEpochMs(time * 1000));
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
  // Mostly 404, sometimes 403.
  if (fate < bound) return fate < bound * 0.9 ? "404" : "403";
  bound += year.redirects;
  if (fate < bound) return fate < bound - year.redirects * 0.4 ? "302" : "301";
  bound += year.serverErrors;
  return fate < bound ? "500" : "200";
}

const MEMENTOS = YEARS.reduce((sum, { mementos }) => sum + mementos, 0);

/** The years with the share of mementos before and after each, and its seconds since 1970. */
const PERIODS = YEARS.map((row, i) => {
  const before = YEARS.slice(0, i).reduce((sum, { mementos }) => sum + mementos, 0);
  return {
    row,
    from: before / MEMENTOS,
    to: (before + row.mementos) / MEMENTOS,
    start: Date.UTC(row.year, 0, 1) / 1000,
    end: Date.UTC(row.year + 1, 0, 1) / 1000,
  };
});

/** The year in which a share of all captures ends, and the second; as many in each year as in the paper. */
function timeAt(share: number): { year: YearRow; seconds: number } {
  const { row, from, to, start, end } =
    PERIODS.findLast((period) => share >= period.from) ?? PERIODS[0];
  return { year: row, seconds: Math.floor(start + ((share - from) / (to - from)) * (end - start)) };
}

/** The next of `left` sorted uniform draws in (0, 1), given the one before it. */
function nextOrdered(random: Random, before: number, left: number): number {
  const u = 1 - random.real();
  return 1 - (1 - before) * (left === 1 ? u : u ** (1 / left));
}
