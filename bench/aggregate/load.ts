import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { LoadPlan, LoadResult } from "./load-process.ts";
import { ResponseReader } from "./response-reader.ts";

/*
 * A program that asks a server over and over: a number of clients, each with a connection that is kept,
 * each sending its next request when it has the answer to the last. Bare sockets, because what it
 * costs is taken from what is measured.
 */
const plan = JSON.parse(process.argv[2] ?? "") as LoadPlan;
const lookups = readFileSync(plan.lookups, "utf8").trimEnd().split("\n").slice(0, plan.first);
const requests = lookups.map((line) => {
  const [target = "", expected = "-1"] = line.split("\t");
  const head = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${plan.port}\r\n\r\n`;
  return { bytes: Buffer.from(head, "latin1"), expected: Number(expected) };
});

const statuses: Record<string, number> = {};
const latencies: number[] = [];
let mementos = 0;
let missedMementos = 0;
let missedLookups = 0;
let failures = 0;
const failureReasons: Record<string, number> = {};
let taken = plan.skip ?? 0;
let clientsLeft = plan.clients;

const begun = performance.now();
const cpuBefore = process.cpuUsage();
const deadline = plan.seconds === undefined ? Infinity : begun + plan.seconds * 1000;
for (let i = 0; i < plan.clients; i++) setTimeout(beginClient, (i * plan.rampMs) / plan.clients);

function beginClient(): void {
  let reader = new ResponseReader();
  let asked: (typeof requests)[number] | undefined;
  let sentAt = 0;
  let socket: Socket = open();

  function open(): Socket {
    const opened = connect({ port: plan.port, host: "127.0.0.1", noDelay: true });
    opened.on("data", take);
    let reason = "closed";
    opened.on("error", (error: NodeJS.ErrnoException) => {
      reason = error.code ?? error.message;
    });
    opened.on("close", () => {
      if (asked === undefined) return;
      failures += 1;
      failureReasons[reason] = (failureReasons[reason] ?? 0) + 1;
      asked = undefined;
      reader = new ResponseReader();
      socket = open();
      next();
    });
    return opened;
  }

  function take(chunk: Buffer): void {
    if (!reader.take(chunk)) return;
    const now = performance.now();
    latencies.push(now - sentAt);
    statuses[reader.status] = (statuses[reader.status] ?? 0) + 1;
    mementos += reader.count;
    const missed = (asked?.expected ?? 0) - reader.count;
    if (missed > 0) {
      missedMementos += missed;
      missedLookups += 1;
    }
    asked = undefined;
    if (reader.isLast) {
      socket.destroy();
      socket = open();
    }
    reader.reset();
    next();
  }

  function next(): void {
    const isOver = plan.seconds === undefined && taken >= requests.length;
    if (isOver || performance.now() >= deadline) {
      socket.destroy();
      clientsLeft -= 1;
      if (clientsLeft === 0) finish();
      return;
    }
    asked = requests[taken % requests.length];
    taken += 1;
    sentAt = performance.now();
    socket.write(asked.bytes);
  }

  next();
}

function finish(): void {
  const elapsed = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? Number.NaN;
  const result: LoadResult = {
    requests: latencies.length,
    seconds: elapsed,
    perSecond: latencies.length / elapsed,
    cpuSeconds: (user + system) / 1e6,
    statuses,
    failures,
    failureReasons,
    mementos,
    missedMementos,
    missedLookups,
    p50: percentile(0.5),
    p90: percentile(0.9),
    p99: percentile(0.99),
    max: percentile(1),
  };
  process.send?.(result, () => process.exit(0));
}
