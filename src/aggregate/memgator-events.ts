import { closeSync, openSync, writeSync } from "node:fs";
import type { Archive } from "./route/archive.ts";
import {
  nanosecondsText,
  type Outcome,
  type Session,
  type SessionEnd,
  type SessionObserver,
} from "./session.ts";
import { LF } from "../bytes/bytes.ts";
import { ioError } from "../errors.ts";
import { outputError } from "../files/output-file.ts";

/* Session events, in the words of MemGator's log and monitor. */

/** Receives the members of an event: `"origin": "ia", "role": "timemapfetch", …`. */
export type TakeEvent = (session: Session, members: string) => void;

/** The start of a session. */
export function beginEvent(session: Session, take: TakeEvent): void {
  const { startedAt } = session;
  take(session, members('"AGGREGATOR"', "createsess", "Session created", startedAt, startedAt));
}

/**
 * The outcome of querying one archive: fetched, then the number of mementos; or the error. TimeGate
 * responses use the same words, as in MemGator's log.
 *
 * `"cache"` at the end, which MemGator does not have, is the origin of an answer that did not come from
 * the archive itself.
 */
export function outcomeEvents(session: Session, outcome: Outcome, take: TakeEvent): void {
  const { archive, startedAt, endedAt, mementos, status, origin } = outcome;
  const id = JSON.stringify(archive.id);
  const name = JSON.stringify(oneLine(archive.name)).slice(1, -1);
  const cache = origin === undefined || origin === "network" ? "" : `, "cache": "${origin}"`;
  if (!isAnswer(outcome)) {
    const failure = failureOf(status, name);
    take(session, members(id, "timemapfetch", failure, startedAt, endedAt) + cache);
    return;
  }
  const fetched = `TimeMap fetched from ${name}`;
  take(session, members(id, "timemapfetch", fetched, startedAt, endedAt) + cache);
  const extracted = `${mementos} Mementos extracted from ${name}`;
  take(session, members(id, "extractmementos", extracted, endedAt, endedAt) + cache);
}

/** The log line that accompanies the events of one archive's answer, without the time. */
function outcomeLine(outcome: Outcome): readonly [kind: "INFO" | "ERROR", text: string] {
  const { archive, result, status, mementos, fault } = outcome;
  if (isAnswer(outcome)) return ["INFO", `${archive.id} => Success: ${mementos} mementos`];
  if (status !== undefined && status !== 200) {
    return ["INFO", `${archive.id} => Response error: ${status}`];
  }
  const kind = status === undefined ? "Network" : "Response read";
  return ["ERROR", `${PLACE}${archive.id} => ${kind} error: ${oneLine(fault ?? result)}`];
}

/** The end of a session. */
export function endEvents(session: Session, end: SessionEnd, take: TakeEvent): void {
  const { answeredAt, endedAt, mementos } = end;
  const sorted = `${mementos} Mementos accumulated and sorted`;
  take(session, members('"AGGREGATOR"', "aggregate", sorted, answeredAt, endedAt));
  const { kind, startedAt } = session;
  take(session, members('"SESSION"', kind, "Complete session", startedAt, endedAt));
}

/** Whether the archive answered with mementos or none; MemGator treats a 404 as an error. */
function isAnswer({ result, status }: Outcome): boolean {
  return result === "hit" || (result === "miss" && status !== 404);
}

/** MemGator's errors begin with a file and a line of its source, which parsers skip. */
const PLACE = "main.go:0: ";

function failureOf(status: number | undefined, name: string): string {
  if (status === undefined) return `Network error in ${name}`;
  if (status === 200) return `Response read error in ${name}`;
  return `Response error in ${name}, Status: ${status}`;
}

/** @param origin JSON; @param info content of a JSON string. */
function members(
  origin: string,
  role: string,
  info: string,
  startedAt: number,
  endedAt: number,
): string {
  const duration = goDuration(endedAt - startedAt);
  return `"origin": ${origin}, "role": "${role}", "info": "${info} - Duration: ${duration}", "start": ${nanosecondsText(startedAt)}, "end": ${nanosecondsText(endedAt)}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[^\P{Cc}]+/gu, " ");
}

/** A duration as Go writes it: `1.2s`, `15.04ms`, `1m2.5s`. */
function goDuration(ms: number): string {
  if (ms <= 0) return "0s";
  if (ms < 1) return `${decimalText(ms * 1000)}µs`;
  if (ms < 1000) return `${decimalText(ms)}ms`;
  const seconds = ms / 1000;
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${decimalText(seconds)}s`;
  const hours = Math.floor(minutes / 60);
  const rest = `${minutes % 60}m${decimalText(seconds % 60)}s`;
  return hours === 0 ? rest : `${hours}h${rest}`;
}

function decimalText(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

const FLUSH_AFTER_MS = 200;
const FLUSH_AT_LENGTH = 256 * 1024;

/**
 * Logs the answers of archives to a file, in the format of MemGator's log with timings.
 *
 * The lines that name a session and its URI are written together, so that readers can match answers
 * to URIs even if sessions interleave. Lines are buffered and written a few times a second. A line is
 * torn only if the disk is full; it is then terminated by a line break. Several processes may write to
 * one file: each write has whole lines.
 *
 * Memory: pending lines, at most 256 KiB.
 */
export class MemgatorLogFile implements SessionObserver {
  readonly #path: string;
  readonly #onError: (error: Error) => void;
  readonly #now: () => Date;
  /** When the circuit breakers of archives opened, in milliseconds since 1970, by the ids of archives. */
  readonly #dormantSince = new Map<string, number>();
  #file: number;
  /** Whether the last write failed, and whether it did within a line. */
  #isFailing = false;
  #isTorn = false;
  #isClosed = false;
  #pending = "";
  #timer: NodeJS.Timeout | undefined;

  /**
   * Opens the file for appending.
   *
   * @param options.onError called when lines cannot be written, once until writing succeeds again; the
   *   lines are lost, the service continues.
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
    const line = `INFO: ${this.#time()} Aggregating Mementos for ${session.uri}`;
    // In one write: other processes may write to the same file.
    beginEvent(session, ({ id }, members) => this.#add("BENCHMARK", `${id} {${members}}\n${line}`));
  }

  answered(session: Session, outcome: Outcome): void {
    outcomeEvents(session, outcome, this.#takeEvent);
    this.#add(...outcomeLine(outcome));
  }

  ended(session: Session, end: SessionEnd): void {
    endEvents(session, end, this.#takeEvent);
    const took = goDuration(end.endedAt - session.startedAt);
    this.#add("INFO", `Total Mementos: ${end.mementos} in ${took}`);
  }

  /** The circuit breaker of an archive opened. */
  slept(archive: Archive, failures: number): void {
    if (!this.#dormantSince.has(archive.id))
      this.#dormantSince.set(archive.id, this.#now().getTime());
    this.#add("INFO", `${archive.id} => Dormant after ${failures} consecutive failures`);
  }

  /** The circuit breaker of an archive closed. */
  woke(archive: Archive): void {
    const since = this.#dormantSince.get(archive.id) ?? this.#now().getTime();
    this.#dormantSince.delete(archive.id);
    const afterMs = this.#now().getTime() - since;
    this.#add("INFO", `${archive.id} => Awake after ${goDuration(afterMs)}`);
  }

  /**
   * Closes the file and opens it again by its name: call it after the file was moved.
   *
   * @throws MM_IO; the old file stays in use.
   */
  reopen(): void {
    this.flush();
    const file = this.#open();
    closeSync(this.#file);
    this.#file = file;
  }

  /** Writes pending lines. */
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

  /** Writes pending lines; later ones are dropped. */
  close(): void {
    this.flush();
    this.#isClosed = true;
    closeSync(this.#file);
  }

  readonly #takeEvent: TakeEvent = ({ id }, members) =>
    this.#add("BENCHMARK", `${id} {${members}}`);

  #add(kind: string, text: string): void {
    if (this.#isClosed) return;
    this.#pending += `${kind}: ${this.#time()} ${text}\n`;
    if (this.#pending.length >= FLUSH_AT_LENGTH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** Local time, as Go's `log` writes it. */
  #time(): string {
    const now = this.#now();
    const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map(two).join("/");
    const clock = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(":");
    return `${date} ${clock}.${String(now.getMilliseconds()).padStart(3, "0")}000`;
  }

  #open(): number {
    try {
      return openSync(this.#path, "a", 0o640);
    } catch (error) {
      throw outputError(error, this.#path);
    }
  }
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
