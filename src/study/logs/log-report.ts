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
  /** Distinct originals asked for that are known to be held or not, and those that are held. */
  readonly asked: number;
  readonly askedAndHeld: number;
  /** Distinct originals asked for that are not known to be held or not, and their share of all asked for. */
  readonly unknown: number;
  readonly unknownShare: number;
  readonly overlap: Overlap;
  /** What was asked for most often and is not held: candidates for seeds. */
  readonly missing: readonly MissingRow[];
}

export interface Overlap {
  /** Where the mementos are counted: in an index, or in the answers of archives. */
  readonly source: "index" | "answers";
  readonly magnitudes: readonly string[];
  /**
   * Originals by magnitude of mementos (rows) and of requests (columns). Null where it cannot be
   * known: neither archived nor accessed; and, without an index, archived but not accessed.
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

/** A URI that was asked for and is not there. */
export interface MissingUri {
  /** As it was asked for most often. */
  readonly name: string;
  readonly rank: number;
  readonly surt: string;
}

/** Orders of magnitude: Zero, Ones (1 to 9), Tens (10 to 99), and so on. */
export const MAGNITUDES: readonly string[] =
  "Zero Ones Tens Hundreds Thousands 10K+ 100K+ 1M+ 10M+".split(" ");

interface OverlapOptions {
  /** Whether captures say what is held; else what archives answered does. */
  readonly hasIndex: boolean;
  /** Whether only the answers of one archive count; what was never asked of it is not unknown then. */
  readonly ofOneArchive: boolean;
  /** How many missing URIs to keep. */
  readonly top: number;
  /** Archives that never answer: nothing waits for them. */
  readonly silent: ReadonlySet<string>;
}

/**
 * Takes what logs and, if there is one, an index say of each original, sorted (see LOG_TAG), and
 * finds how archived and accessed go together.
 *
 * One pass; holds a grid and the list of the most wanted.
 */
export class LogOverlap {
  /** Originals by magnitude of mementos (rows) and of requests (columns). */
  readonly cells: number[][] = MAGNITUDES.map(() => MAGNITUDES.map(() => 0));
  readonly missing: TopList<MissingUri>;
  /** Distinct originals asked for that are known to be held or not, and those that are held. */
  asked = 0;
  askedAndHeld = 0;
  /** Distinct originals asked for that are not known to be held or not. */
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

  /** Takes the next key, `key[0, length)`, and its count. */
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

  /** Closes the last original. */
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
   * Whether every archive that was asked has answered, none with a memento. One that failed has not
   * answered, unless it did another time. An answer that could be about this URI or another may have
   * had mementos.
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
