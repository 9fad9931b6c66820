import { tryParseDatetime } from "../memento/datetime.ts";
import {
  type AskLimits,
  faultOf,
  type Finding,
  isAnswered,
  NOTHING_FOUND,
  type Question,
} from "./ask-archive.ts";
import { askTimeGate } from "./ask-timegate.ts";
import { askTimeMap } from "./ask-timemap.ts";
import type { FailureReason } from "../http/failure-reason.ts";
import type { Upstream } from "./upstream.ts";

/*
 * An archive has a TimeMap and a TimeGate. Each may be missing, or broken while the other works, so
 * that one answers for the other where it can.
 */

/**
 * Asks an archive for all mementos of an original: its TimeMap. Where the list of archives names
 * none, the TimeGate is asked for its address.
 *
 * @throws MM_HTTP, MM_REFUSED or MM_BAD_URI when there is no answer.
 */
export async function askForAll(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
): Promise<Finding> {
  const { timemap, timegate } = question.archive;
  if (timemap !== undefined) {
    return askTimeMap(upstream, question, limits, timemap + question.uri);
  }
  if (timegate === undefined) return NO_ENDPOINT;
  const finding = await askTimeGate(upstream, question, LATEST, timegate);
  if (finding.timemap !== undefined) {
    return askTimeMap(upstream, question, limits, finding.timemap);
  }
  if (finding.mementos === undefined) return finding;
  const fault = "it has no TimeMap; its TimeGate names these mementos, and may know more";
  return { ...finding, code: "MM_NOT_FOUND", failure: "no-endpoint", fault };
}

/**
 * Asks an archive for the mementos around a moment: its TimeGate, or its TimeMap where the TimeGate
 * is missing or of no use.
 *
 * @throws MM_HTTP, MM_REFUSED or MM_BAD_URI when there is no answer.
 */
export async function askForClosest(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  datetime: number,
): Promise<Finding> {
  const { timemap, timegate } = question.archive;
  if (timegate === undefined) return askForAll(upstream, question, limits);
  const found = await attempt(() => askTimeGate(upstream, question, datetime, timegate));
  if (isAnswered(found) || timemap === undefined || question.signal.aborted) return found;
  const isWorthAsking = found.failure === undefined || !ALSO_OF_TIMEMAP.has(found.failure);
  // What is kept costs the archive nothing, whatever is wrong with it.
  const cacheControl = isWorthAsking ? question.cacheControl : "only-if-cached";
  const instead = { ...question, cacheControl };
  const all = await attempt(() => askTimeMap(upstream, instead, limits, timemap + question.uri));
  return isAnswered(all) ? all : found;
}

/** What is wrong with the TimeGate for these reasons is wrong with the TimeMap too, most likely. */
const ALSO_OF_TIMEMAP: ReadonlySet<FailureReason> = new Set([
  "dns",
  "connect",
  "connect-timeout",
  "tls",
  "timeout",
  "queue-full",
  "queue-timeout",
  "bad-request",
  "local",
  "closed",
  "aborted",
]);

/** TimeGates give the last memento for it. */
const LATEST = tryParseDatetime("99991231235959") ?? 0;

const NO_ENDPOINT: Finding = {
  ...NOTHING_FOUND,
  code: "MM_NOT_FOUND",
  failure: "no-endpoint",
  fault: "it has neither a TimeMap nor a TimeGate",
};

/** A fault becomes a finding, so that something else can be tried. */
async function attempt(ask: () => Promise<Finding>): Promise<Finding> {
  try {
    return await ask();
  } catch (error) {
    return { ...NOTHING_FOUND, ...faultOf(error) };
  }
}
