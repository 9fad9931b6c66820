import { type ArchiveAnswers, isLogTag, LOG_TAG, type LogCounts } from "./log-tally.ts";
import { MONTH_MARK } from "../analyze/original-key.ts";
import { TopList } from "../analyze/top-list.ts";

export interface ArchiveRow extends ArchiveAnswers {
  readonly hitShare: number;
  readonly missShare: number;
  readonly errorShare: number;
}

/** A report on the archives and the requests in the logs of an aggregator. */
export interface LogReport {
  readonly counts: LogCounts;
  readonly archives: readonly ArchiveRow[];
  readonly all: ArchiveRow;
  /** Distinct requested originals whose holding is known, and those of them that are held. */
  readonly asked: number;
  readonly askedAndHeld: number;
  /** Distinct requested originals whose holding is unknown, and their share of all requested originals. */
  readonly unknown: number;
  readonly unknownShare: number;
  readonly overlap: Overlap;
  /** The most requested URIs that are not held: candidates for seeds. */
  readonly missing: readonly MissingRow[];
}

export interface Overlap {
  /** The source of memento counts: an index, or the responses of archives. */
  readonly source: "index" | "answers";
  readonly magnitudes: readonly string[];
  /**
   * Originals by magnitude of mementos (rows) and of requests (columns). Null if unknown: neither
   * archived nor accessed; and, without an index, archived but not accessed.
   */
  readonly cells: readonly (readonly (number | null)[])[];
}

interface MissingRow {
  readonly uri: string;
  readonly surt: string;
  readonly requests: number;
}

/** Combines the counts of logs into a report. */
export function logReport(
  counts: LogCounts,
  archives: readonly ArchiveAnswers[],
  overlap: LogOverlap,
  source: Overlap["source"],
): LogReport {
  const { asked, askedAndHeld, unknown } = overlap;
  const all = { archive: "All", requests: 0, hits: 0, misses: 0, errors: 0, sleeps: 0 };
  for (const row of archives) {
    for (const name of ["requests", "hits", "misses", "errors", "sleeps"] as const) {
      all[name] += row[name];
    }
  }
  return {
    counts,
    archives: archives.map((row) => withShares(row)),
    all: withShares(all),
    asked,
    askedAndHeld,
    unknown,
    unknownShare: unknown / Math.max(1, asked + unknown),
    overlap: {
      source,
      magnitudes: MAGNITUDES,
      cells: overlap.cells.map((row, archived) =>
        row.map((cell, accessed) => {
          const isUnknown = accessed === 0 && (archived === 0 || source === "answers");
          return isUnknown ? null : cell;
        }),
      ),
    },
    missing: overlap.missing
      .best()
      .map(({ name, surt, rank }) => ({ uri: name, surt, requests: rank })),
  };
}

function withShares(row: ArchiveAnswers): ArchiveRow {
  const { requests, hits, misses, errors } = row;
  const share = (part: number): number => (requests === 0 ? 0 : part / requests);
  return { ...row, hitShare: share(hits), missShare: share(misses), errorShare: share(errors) };
}

/** A requested URI that is not held. */
export interface MissingUri {
  /** Its most frequent spelling. */
  readonly name: string;
  readonly rank: number;
  readonly surt: string;
}

/** Orders of magnitude: Zero, Ones (1 to 9), Tens (10 to 99), and so on. */
export const MAGNITUDES: readonly string[] =
  "Zero Ones Tens Hundreds Thousands 10K+ 100K+ 1M+ 10M+".split(" ");

interface OverlapOptions {
  /** Whether captures determine the holdings; otherwise responses of archives do. */
  readonly hasIndex: boolean;
  /** Whether only one archive counts; originals never requested from it are then not unknown. */
  readonly ofOneArchive: boolean;
  /** The maximum number of missing URIs. */
  readonly top: number;
  /** Archives that never respond, and are ignored. */
  readonly silent: ReadonlySet<string>;
}

/**
 * Computes the overlap of archived and accessed originals from sorted entries of logs and, if given, an
 * index (see LOG_TAG).
 *
 * One pass; holds a grid and the list of the most requested missing URIs.
 */
export class LogOverlap {
  /** Originals by magnitude of mementos (rows) and of requests (columns). */
  readonly cells: number[][] = MAGNITUDES.map(() => MAGNITUDES.map(() => 0));
  readonly missing: TopList<MissingUri>;
  /** Distinct requested originals whose holding is known, and those of them that are held. */
  asked = 0;
  askedAndHeld = 0;
  /** Distinct requested originals whose holding is unknown. */
  unknown = 0;
  readonly #options: OverlapOptions;
  readonly #decoder = new TextDecoder();
  #original = new Uint8Array(0);
  #captures = 0;
  #requests = 0;
  #most = 0;
  readonly #missedBy = new Set<string>();
  readonly #openAt = new Set<string>();
  #uri = "";
  #uriRequests = 0;

  constructor(options: OverlapOptions) {
    this.#options = options;
    this.missing = new TopList(options.top);
  }

  /** Adds the next key, `key[0, length)`, with its count. */
  add(key: Uint8Array, length: number, count: number): void {
    const mark = key.indexOf(MONTH_MARK);
    if (!this.#isCurrent(key, mark)) {
      this.end();
      this.#original = new Uint8Array(key.subarray(0, mark));
    }
    const tag = key[mark + 1];
    if (!isLogTag(tag)) {
      this.#captures += count;
      return;
    }
    const detail = (): string => this.#decoder.decode(key.subarray(mark + 2, length));
    if (tag === LOG_TAG.hit) {
      this.#most = Math.max(this.#most, Number(detail()));
    } else if (tag === LOG_TAG.miss) {
      this.#missedBy.add(detail());
    } else if (tag === LOG_TAG.open) {
      this.#openAt.add(detail());
    } else {
      this.#requests += count;
      if (count <= this.#uriRequests) return;
      this.#uri = detail();
      this.#uriRequests = count;
    }
  }

  /** Counts the last original. */
  end(): void {
    if (this.#original.length === 0) return;
    const { hasIndex, ofOneArchive } = this.#options;
    const archived = hasIndex ? this.#captures : this.#most;
    if (hasIndex || archived > 0 || this.#isMissing()) this.#count(archived);
    else if (this.#requests > 0 && (this.#openAt.size > 0 || !ofOneArchive)) this.unknown++;
    this.#original = new Uint8Array(0);
    this.#captures = this.#requests = this.#most = this.#uriRequests = 0;
    this.#missedBy.clear();
    this.#openAt.clear();
    this.#uri = "";
  }

  /**
   * Whether every queried archive has responded without a memento. A failed archive must have responded
   * to another request. An ambiguous response may have had mementos.
   */
  #isMissing(): boolean {
    if (this.#missedBy.size === 0) return false;
    const { silent } = this.#options;
    return [...this.#openAt].every((archive) => this.#missedBy.has(archive) || silent.has(archive));
  }

  #count(archived: number): void {
    const requests = this.#requests;
    this.cells[magnitude(archived)][magnitude(requests)]++;
    if (requests === 0) return;
    this.asked++;
    if (archived > 0) this.askedAndHeld++;
    else if (this.missing.accepts(requests)) {
      const surt = this.#decoder.decode(this.#original);
      this.missing.offer({ name: this.#uri, rank: requests, surt });
    }
  }

  #isCurrent(key: Uint8Array, mark: number): boolean {
    const original = this.#original;
    if (mark !== original.length) return false;
    for (let i = mark - 1; i >= 0; i--) if (key[i] !== original[i]) return false;
    return true;
  }
}

/** 0 for 0, 1 for 1 to 9, 2 for 10 to 99, and so on; an index into {@link MAGNITUDES}. */
export function magnitude(count: number): number {
  return count === 0 ? 0 : Math.min(String(count).length, MAGNITUDES.length - 1);
}
