import type { Archive } from "./route/archive.ts";
import type { Outcome } from "./outcome.ts";
import { nanosecondsText, type Session, type SessionEnd } from "./session.ts";

/*
 * What happens in a session, in the words of MemGator's log and monitor. A dozen archives answer at
 * every question, so texts are put together without anything in between.
 */

/** Takes the members of an event: `"origin": "ia", "role": "timemapfetch", …`. */
export type TakeEvent = (session: Session, members: string) => void;

/** Takes a line of MemGator's log without the time. */
export type TakeLine = (kind: "INFO" | "ERROR", text: string) => void;

/** The start of a session. Its event and its line belong together: nothing goes between them. */
export function beginEvent(session: Session, take: TakeEvent): void {
  const { startedAt } = session;
  take(session, members('"AGGREGATOR"', "createsess", "Session created", startedAt, startedAt));
}

export function beginLine(session: Session): string {
  return `Aggregating Mementos for ${session.uri}`;
}

/**
 * What became of asking one archive: fetched, then how many mementos were in it; or what failed. A
 * TimeGate's answer is told in the same words, as MemGator does.
 *
 * `"cache"` at the end, which is not MemGator's, tells where an answer came from that did not come
 * from the archive itself.
 */
export function outcomeEvents(session: Session, outcome: Outcome, take: TakeEvent): void {
  const { archive, startedAt, endedAt, mementos, status, origin } = outcome;
  const { id, name } = labelsOf(archive);
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

/** The line about one archive's answer that stands beside its events. */
export function outcomeLine(outcome: Outcome, take: TakeLine): void {
  const { archive, result, status, mementos, fault } = outcome;
  if (isAnswer(outcome)) {
    take("INFO", `${archive.id} => Success: ${mementos} mementos`);
  } else if (status !== undefined && status !== 200) {
    take("INFO", `${archive.id} => Response error: ${status}`);
  } else {
    const kind = status === undefined ? "Network" : "Response read";
    take("ERROR", `${PLACE}${archive.id} => ${kind} error: ${oneLine(fault ?? result)}`);
  }
}

/** The end of a session. */
export function endEvents(session: Session, end: SessionEnd, take: TakeEvent): void {
  const { answeredAt, endedAt, mementos } = end;
  const sorted = `${mementos} Mementos accumulated and sorted`;
  take(session, members('"AGGREGATOR"', "aggregate", sorted, answeredAt, endedAt));
  const { kind, startedAt } = session;
  take(session, members('"SESSION"', kind, "Complete session", startedAt, endedAt));
}

export function endLine(session: Session, { mementos, endedAt }: SessionEnd): string {
  return `Total Mementos: ${mementos} in ${goDuration(endedAt - session.startedAt)}`;
}

/** An answer in which mementos were looked for; MemGator takes a 404 for an error. */
function isAnswer({ result, status }: Outcome): boolean {
  return result === "hit" || (result === "miss" && status !== 404);
}

/** Errors have a file and a line of MemGator's program in front, which its readers pass over. */
const PLACE = "main.go:0: ";

function failureOf(status: number | undefined, name: string): string {
  if (status === undefined) return `Network error in ${name}`;
  if (status === 200) return `Response read error in ${name}`;
  return `Response error in ${name}, Status: ${status}`;
}

/** @param origin JSON; @param info what stands in JSON between quotes. */
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

interface Labels {
  /** JSON, with its quotes. */
  readonly id: string;
  /** What stands in JSON between quotes. */
  readonly name: string;
}

const LABELS = new WeakMap<Archive, Labels>();

function labelsOf(archive: Archive): Labels {
  const known = LABELS.get(archive);
  if (known !== undefined) return known;
  const name = JSON.stringify(oneLine(archive.name)).slice(1, -1);
  const labels = { id: JSON.stringify(archive.id), name };
  LABELS.set(archive, labels);
  return labels;
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
