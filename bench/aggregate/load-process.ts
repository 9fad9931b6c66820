import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { nativeProgram } from "./native/native-program.ts";

/** What to ask a server, and how. */
export interface LoadPlan {
  readonly port: number;
  /** A file of targets, one a line, with a tab and the number of mementos to expect behind each. */
  readonly lookups: string;
  readonly clients: number;
  /** How many lines of the file are used; default all. */
  readonly first?: number | undefined;
  /** Where in the file they begin; default at its start. */
  readonly skip?: number | undefined;
  /** How long the clients ask, again from the start at the end of the file; or once through it. */
  readonly seconds?: number | undefined;
  /** The time over which the clients begin. */
  readonly rampMs: number;
}

/** What came of it; times in milliseconds unless they say seconds. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Processor time of the clients. */
  readonly cpuSeconds: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Connections that ended without an answer. */
  readonly failures: number;
  /** What became of those connections: `ECONNRESET`, `closed` or `other`. */
  readonly failureReasons: Readonly<Record<string, number>>;
  /** Mementos the answers counted. */
  readonly mementos: number;
  readonly missedMementos: number;
  /** Lookups whose answer had fewer mementos than there are. */
  readonly missedLookups: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

let program: Promise<string> | undefined;

/** Runs a plan in a process of its own. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const { port, clients, seconds = 0, rampMs, skip = 0, first = 0, lookups } = plan;
  const numbers = [port, clients, seconds, rampMs, skip, first].map(String);
  const path = await (program ??= nativeProgram("load"));
  const { stdout } = await promisify(execFile)(path, [...numbers, lookups]);
  return JSON.parse(stdout) as LoadResult;
}
