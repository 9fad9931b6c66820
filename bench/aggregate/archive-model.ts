/** An archive that is played: what it holds, how fast it is, how often it fails. */
export interface ModelArchive {
  readonly id: string;
  readonly name: string;
  /** Half of its answers take longer; 0 makes it answer at once. */
  readonly medianMs: number;
  /** The standard deviation of the logarithm of that time. */
  readonly spread: number;
  /** Answers take between these milliseconds, evenly; in place of the two above. */
  readonly betweenMs?: readonly [number, number] | undefined;
  /** The share of requests that go wrong, from 0 to 1. */
  readonly errors: number;
  /** The share of those that are never answered; the others are answered with 503. */
  readonly hangs: number;
}

/** What a model archive does with a request. */
export type Outcome = "answer" | "error" | "hang";

const FIRST_YEAR = 1996;
const YEARS = 24;

/*
 * Everything follows from the archive and the original alone, so that all aggregators meet the same
 * mementos, the same delays and the same failures, whatever else they ask and in whatever order.
 */

/** What becomes of a request for an original. */
export function outcomeOf(archive: ModelArchive, original: string): Outcome {
  if (uniform(archive.id, original, 1) >= archive.errors) return "answer";
  return uniform(archive.id, original, 2) < archive.hangs ? "hang" : "error";
}

/** How long the answer takes: log-normal, or even between two times. */
export function delayMs(archive: ModelArchive, original: string): number {
  if (archive.betweenMs !== undefined) {
    const [least, most] = archive.betweenMs;
    return least + uniform(archive.id, original, 3) * (most - least);
  }
  if (archive.medianMs === 0) return 0;
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(archive.id, original, 3)));
  const normal = radius * Math.cos(2 * Math.PI * uniform(archive.id, original, 4));
  return archive.medianMs * Math.exp(archive.spread * normal);
}

/** How many mementos of a held original the archive has: one to 64, few much more often than many. */
export function mementoCount(id: string, original: string): number {
  return Math.ceil(1 / (1 - uniform(id, original, 5) * (1 - 1 / 64)));
}

/** The times of the mementos of a held original, fourteen digits each, in order and all different. */
export function mementoTimes(id: string, original: string): string[] {
  const count = mementoCount(id, original);
  const span = (YEARS * 365.25 * 86_400) / count;
  const start = Date.UTC(FIRST_YEAR, 0, 1) / 1000;
  return Array.from({ length: count }, (_, i) => {
    const second = start + Math.floor((i + uniform(id, original, 6 + i) * 0.999) * span);
    return new Date(second * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
  });
}

/** A number in [0, 1) that depends on the texts and `draw` alone. */
export function uniform(id: string, original: string, draw: number): number {
  let hash = Math.imul(draw + 1, 0x9e3779b1) ^ 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  for (let i = 0; i < original.length; i++) {
    hash = Math.imul(hash ^ original.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}
