import { OriginalKey } from "../analyze/original-key.ts";
import { MementoMapError } from "../../errors.ts";
import type { KeyTable } from "../../generate/key-table.ts";
import { MemgatorLog, type OpenAnswers } from "../../input/memgator-log.ts";
import { surt } from "../../surt/uri-to-surt.ts";

/*
 * Log entries about an original are sorted together with its captures (see original-key.ts):
 *
 *     original MONTH_MARK tag detail
 *
 * Tags are bytes that no month begins with.
 */

/**
 * The kind of a log entry: a hit with its number of mementos, a miss with its archive, a request with
 * its URI, or an unknown response, with its archive if the archive failed, without it if the response
 * is ambiguous.
 */
export const LOG_TAG = { hit: 0x7b, miss: 0x7c, request: 0x7d, open: 0x7e } as const;

/** Whether the part after the mark of an original comes from a log, not from an index. */
export function isLogTag(byte: number): boolean {
  return byte >= LOG_TAG.hit && byte <= LOG_TAG.open;
}

/** A row of the paper's table of responses by archive. */
export interface ArchiveAnswers {
  readonly archive: string;
  requests: number;
  hits: number;
  misses: number;
  errors: number;
  sleeps: number;
}

/** Counts of the lines of logs. */
export interface LogCounts {
  lines: number;
  /** Lines of another kind. */
  otherLines: number;
  /** Requests to the aggregator. */
  requests: number;
  /** Responses that could belong to more than one URI: counted by archive, not by URI. */
  ambiguous: number;
}

/**
 * Reads the lines of aggregator logs: counts the responses of each archive, and adds the entries about
 * each URI to a table, which `drain` must empty when it is full.
 *
 * @param archive count the hits and misses of this archive only; of all by default.
 */
export class LogTally {
  readonly counts: LogCounts = { lines: 0, otherLines: 0, requests: 0, ambiguous: 0 };
  readonly #archives = new Map<string, ArchiveAnswers>();
  readonly #table: KeyTable;
  readonly #drain: () => void;
  readonly #archive: string | undefined;
  readonly #encoder = new TextEncoder();
  readonly #key = new OriginalKey();
  #log: MemgatorLog;

  constructor(table: KeyTable, drain: () => void, archive?: string) {
    this.#table = table;
    this.#drain = drain;
    this.#archive = archive;
    this.#log = this.#newLog();
  }

  /** Call it before each further file: sessions end with their file. */
  startFile(): void {
    this.#collect();
    this.#log = this.#newLog();
    this.#table.startRun();
  }

  /** Adds the next line, without its line ending. */
  read(line: string): void {
    this.counts.lines++;
    const outcome = this.#log.read(line);
    if (outcome === undefined || outcome.result === "error") return;
    if (this.#archive !== undefined && outcome.archive !== this.#archive) return;
    if (outcome.result === "miss") {
      this.#add(outcome.uri, LOG_TAG.miss, outcome.archive);
    } else {
      this.#add(outcome.uri, LOG_TAG.hit, String(outcome.mementos).padStart(16, "0"));
    }
  }

  /** All archives by share of hits, highest first. Call it after the last line. */
  archives(): ArchiveAnswers[] {
    this.#collect();
    this.#log = this.#newLog();
    const share = ({ hits, requests }: ArchiveAnswers): number => hits / Math.max(1, requests);
    return [...this.#archives.values()].sort(
      (a, b) => share(b) - share(a) || (a.archive < b.archive ? -1 : 1),
    );
  }

  #collect(): void {
    this.#log.end();
    this.counts.ambiguous += this.#log.ambiguous;
    this.counts.otherLines += this.#log.otherLines;
  }

  #newLog(): MemgatorLog {
    return new MemgatorLog({
      asked: (uri) => {
        this.counts.requests++;
        this.#add(uri, LOG_TAG.request, uri);
      },
      answered: (archive, result) => {
        const row = this.#row(archive);
        row.requests++;
        if (result === "hit") row.hits++;
        else if (result === "miss") row.misses++;
        else row.errors++;
      },
      closed: (uri, open) => this.#close(uri, open),
      slept: (archive) => {
        this.#row(archive).sleeps++;
      },
    });
  }

  #close(uri: string, { failed, unsure }: OpenAnswers): void {
    const own = this.#archive;
    const isOwn = (archive: string): boolean => own === undefined || archive === own;
    if (unsure === "any" || unsure.some(isOwn)) this.#add(uri, LOG_TAG.open, "");
    for (const archive of failed) if (isOwn(archive)) this.#add(uri, LOG_TAG.open, archive);
  }

  #row(archive: string): ArchiveAnswers {
    const none = { requests: 0, hits: 0, misses: 0, errors: 0, sleeps: 0 };
    const row = this.#archives.get(archive) ?? { archive, ...none };
    this.#archives.set(archive, row);
    return row;
  }

  #add(uri: string, tag: number, detail: string): void {
    const bytes = this.#encoder.encode(surt(uri));
    const original = this.#key;
    original.setOriginal(bytes, 0, bytes.length);
    const key = Buffer.concat([
      original.bytes.subarray(0, original.originalEnd + 1),
      Uint8Array.of(tag),
      this.#encoder.encode(detail),
    ]);
    if (this.#table.add(key, 0, key.length, 1)) return;
    this.#drain();
    if (this.#table.add(key, 0, key.length, 1)) return;
    throw new MementoMapError(
      "MM_LIMIT",
      `a URI of ${bytes.length} bytes does not fit into memory; increase --memory`,
    );
  }
}
