import type { Outcome } from "./outcome.ts";
import { nanosecondsText, type Session, type SessionEnd } from "./session.ts";

/** One step of a session, in the words of MemGator. */
export interface MemgatorEvent {
  readonly session: string;
  /** An archive's id, `AGGREGATOR` or `SESSION`. */
  readonly origin: string;
  readonly role: string;
  /** JSON text already, with its quotes. */
  readonly info: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Where an answer came from, if not from the archive itself. Our addition. */
  readonly cache?: string | undefined;
}

/** A line of MemGator's log without the time: `INFO`, `ERROR` or `BENCHMARK`, and what it says. */
export type TakeLine = (kind: "INFO" | "ERROR" | "BENCHMARK", text: string) => void;

/**
 * The steps of one archive's answer: fetched, then how many mementos were in it; or what failed.
 *
 * A TimeGate's answer is told in the same words, as MemGator does.
 */
export function* outcomeEvents(session: Session, outcome: Outcome): Generator<MemgatorEvent> {
  const { archive, startedAt, endedAt, result, status, origin } = outcome;
  const cache = origin === undefined || origin === "network" ? undefined : origin;
  const about = { session: session.id, origin: archive.id, cache };
  const name = archive.name;
  if (result === "hit" || (result === "miss" && status !== 404)) {
    const fetched = `TimeMap fetched from ${name}`;
    yield {
      ...about,
      role: "timemapfetch",
      info: timed(fetched, startedAt, endedAt),
      startedAt,
      endedAt,
    };
    const extracted = `${outcome.mementos} Mementos extracted from ${name}`;
    const info = timed(extracted, endedAt, endedAt);
    yield { ...about, role: "extractmementos", info, startedAt: endedAt, endedAt };
    return;
  }
  const failure = failureOf(status, name);
  yield {
    ...about,
    role: "timemapfetch",
    info: timed(failure, startedAt, endedAt),
    startedAt,
    endedAt,
  };
}

/** The line about one archive's answer that stands beside its events. */
export function outcomeLine(outcome: Outcome, take: TakeLine): void {
  const { archive, result, status, mementos, fault } = outcome;
  if (result === "hit" || (result === "miss" && status !== 404)) {
    take("INFO", `${archive.id} => Success: ${mementos} mementos`);
  } else if (status !== undefined && status !== 200) {
    take("INFO", `${archive.id} => Response error: ${status}`);
  } else {
    const kind = status === undefined ? "Network" : "Response read";
    take("ERROR", `${PLACE}${archive.id} => ${kind} error: ${oneLine(fault ?? result)}`);
  }
}

/** Errors have a file and a line of MemGator's program in front, which its readers pass over. */
const PLACE = "main.go:0: ";

function failureOf(status: number | undefined, name: string): string {
  if (status === undefined) return `Network error in ${name}`;
  if (status === 200) return `Response read error in ${name}`;
  return `Response error in ${name}, Status: ${status}`;
}

/** The start of a session. Its two lines belong together: whatever else is written, not between. */
export function beginEvent(session: Session): MemgatorEvent {
  const { id, startedAt } = session;
  const info = timed("Session created", startedAt, startedAt);
  return {
    session: id,
    origin: "AGGREGATOR",
    role: "createsess",
    info,
    startedAt,
    endedAt: startedAt,
  };
}

export function beginLine(session: Session): string {
  return `Aggregating Mementos for ${session.uri}`;
}

/** The end of a session. */
export function* endEvents(session: Session, end: SessionEnd): Generator<MemgatorEvent> {
  const { answeredAt, endedAt, mementos } = end;
  const info = timed(`${mementos} Mementos accumulated and sorted`, answeredAt, endedAt);
  const about = { session: session.id, endedAt };
  yield { ...about, origin: "AGGREGATOR", role: "aggregate", info, startedAt: answeredAt };
  const { kind: role, startedAt } = session;
  const complete = timed("Complete session", startedAt, endedAt);
  yield { ...about, origin: "SESSION", role, info: complete, startedAt };
}

export function endLine(session: Session, { mementos, endedAt }: SessionEnd): string {
  return `Total Mementos: ${mementos} in ${goDuration(endedAt - session.startedAt)}`;
}

/** `1465… {"origin": …}`, as in the log. */
export function eventLine(event: MemgatorEvent): string {
  return `${event.session} {${members(event)}}`;
}

/** `{"session": "1465…", "origin": …}`, as the monitor sends it. */
export function eventJson(event: MemgatorEvent): string {
  return `{"session": "${event.session}", ${members(event)}}`;
}

function members({ origin, role, info, startedAt, endedAt, cache }: MemgatorEvent): string {
  const more = cache === undefined ? "" : `, "cache": "${cache}"`;
  return `"origin": ${JSON.stringify(origin)}, "role": "${role}", "info": ${info}, "start": ${nanosecondsText(startedAt)}, "end": ${nanosecondsText(endedAt)}${more}`;
}

function timed(text: string, startedAt: number, endedAt: number): string {
  return JSON.stringify(`${oneLine(text)} - Duration: ${goDuration(endedAt - startedAt)}`);
}

function oneLine(text: string): string {
  return text.replaceAll(/[^\P{Cc}]+/gu, " ");
}

/** A duration as Go writes it: `1.2s`, `15.04ms`, `1m2.5s`. */
export function goDuration(ms: number): string {
  if (ms <= 0) return "0s";
  if (ms < 1) return `${trimmed(ms * 1000)}µs`;
  if (ms < 1000) return `${trimmed(ms)}ms`;
  const seconds = ms / 1000;
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${trimmed(seconds)}s`;
  const hours = Math.floor(minutes / 60);
  const rest = `${minutes % 60}m${trimmed(seconds % 60)}s`;
  return hours === 0 ? rest : `${hours}h${rest}`;
}

function trimmed(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
