import { LF } from "../bytes/ascii.ts";
import { closeSync, openSync, writeSync } from "node:fs";
import {
  beginEvent,
  beginLine,
  endEvents,
  endLine,
  goDuration,
  outcomeEvents,
  outcomeLine,
  type TakeEvent,
  type TakeLine,
} from "./memgator-lines.ts";
import type { Outcome } from "./outcome.ts";
import type { Session, SessionEnd, SessionObserver } from "./session.ts";
import type { Archive } from "./route/archive.ts";
import { ioError, outputError } from "../files/io-error.ts";

const FLUSH_AFTER_MS = 200;
const FLUSH_AT_LENGTH = 256 * 1024;

/**
 * Writes what archives answered to a file, in the form of MemGator's log with timings.
 *
 * The line that names a session and the one that names its URI are written together, so that who
 * reads the log joins answers and URIs with certainty, however many sessions are under way. Lines
 * are collected and written a few times a second; a line is never torn, unless the disk is full,
 * and then it has its own end. Several processes may write to one file: each write has whole lines.
 *
 * Memory: what was not written yet, at most 256 KiB.
 */
export class MemgatorLogFile implements SessionObserver {
  readonly #path: string;
  readonly #onError: (error: Error) => void;
  readonly #now: () => Date;
  /** When archives fell asleep, in milliseconds since 1970, by their ids. */
  readonly #sleeping = new Map<string, number>();
  #file: number;
  /** Whether the last write failed, and whether it did within a line. */
  #isFailing = false;
  #isTorn = false;
  #isClosed = false;
  #pending = "";
  #stampMs = 0;
  #stamp = "";
  #timer: NodeJS.Timeout | undefined;

  /**
   * Opens the file, and appends to what it has.
   *
   * @param options.onError told when lines cannot be written, once until they can be again; they are
   *   lost, the service goes on.
   * @throws MM_IO
   */
  constructor(
    path: string,
    options: {
      readonly onError?: ((error: Error) => void) | undefined;
      readonly now?: (() => Date) | undefined;
    } = {},
  ) {
    this.#path = path;
    this.#onError = options.onError ?? (() => undefined);
    this.#now = options.now ?? (() => new Date());
    this.#file = this.#open();
  }

  began(session: Session): void {
    // In one piece: another process may write to the same file.
    beginEvent(session, ({ id }, members) =>
      this.#add("BENCHMARK", `${id} {${members}}\nINFO: ${this.#time()} ${beginLine(session)}`),
    );
  }

  answered(session: Session, outcome: Outcome): void {
    outcomeEvents(session, outcome, this.#takeEvent);
    outcomeLine(outcome, this.#takeLine);
  }

  ended(session: Session, end: SessionEnd): void {
    endEvents(session, end, this.#takeEvent);
    this.#add("INFO", endLine(session, end));
  }

  /** An archive failed so often that it is left alone. */
  slept(archive: Archive, failures: number): void {
    if (!this.#sleeping.has(archive.id)) this.#sleeping.set(archive.id, this.#now().getTime());
    this.#add("INFO", `${archive.id} => Dormant after ${failures} consecutive failures`);
  }

  /** An archive is asked again. */
  woke(archive: Archive): void {
    const since = this.#sleeping.get(archive.id) ?? this.#now().getTime();
    this.#sleeping.delete(archive.id);
    const afterMs = this.#now().getTime() - since;
    this.#add("INFO", `${archive.id} => Awake after ${goDuration(afterMs)}`);
  }

  /**
   * Closes the file and opens it anew by its name: call it when the file was moved away.
   *
   * @throws MM_IO; the old file stays in use then.
   */
  reopen(): void {
    this.flush();
    const file = this.#open();
    closeSync(this.#file);
    this.#file = file;
  }

  /** Writes what is pending. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const bytes = Buffer.from(this.#isTorn ? `\n${this.#pending}` : this.#pending);
    this.#pending = "";
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(this.#file, bytes, at);
      if (at > 0) this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(ioError(error, this.#path));
      this.#isFailing = true;
    }
    if (at > 0) this.#isTorn = bytes[at - 1] !== LF;
  }

  /** Writes what is pending; what comes later is not written. */
  close(): void {
    this.flush();
    this.#isClosed = true;
    closeSync(this.#file);
  }

  readonly #takeLine: TakeLine = (kind, text) => this.#add(kind, text);

  readonly #takeEvent: TakeEvent = ({ id }, members) =>
    this.#add("BENCHMARK", `${id} {${members}}`);

  #add(kind: string, text: string): void {
    if (this.#isClosed) return;
    this.#pending += `${kind}: ${this.#time()} ${text}\n`;
    if (this.#pending.length >= FLUSH_AT_LENGTH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** Local time, as Go's `log` writes it; made once a millisecond. */
  #time(): string {
    const now = this.#now();
    const ms = now.getTime();
    if (ms !== this.#stampMs) {
      this.#stampMs = ms;
      const date = `${now.getFullYear()}/${two(now.getMonth() + 1)}/${two(now.getDate())}`;
      const clock = `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
      this.#stamp = `${date} ${clock}.${String(now.getMilliseconds()).padStart(3, "0")}000`;
    }
    return this.#stamp;
  }

  #open(): number {
    try {
      return openSync(this.#path, "a");
    } catch (error) {
      throw outputError(error, this.#path);
    }
  }
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
