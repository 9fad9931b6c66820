import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { availableParallelism, loadavg } from "node:os";
import { expect, onTestFinished } from "vitest";
import { spawnCli } from "../support/spawn-cli.ts";

/** A service in a process of its own, on one core, with 512 MB of heap. */
export interface Attacked {
  readonly url: string;
  readonly port: number;
  readonly isAlive: () => boolean;
  readonly stderr: () => string;
  /** The most memory that it has had, in MB; undefined where the system does not tell. */
  readonly peakMb: () => number | undefined;
}

/** Starts `serve` or `aggregate --serve` on a free port; the test's end is its end. */
export async function attacked(argv: readonly string[], preload = ""): Promise<Attacked> {
  const options = `--max-old-space-size=512 ${preload}`;
  const { child, done } = spawnCli([...argv, "--port", "0"], undefined, { NODE_OPTIONS: options });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    void done.then((result) => reject(new Error(result.stderr)));
  });
  const url = /http:\/\/[^\s"]+/.exec(line)?.[0].replace(/\/$/, "") ?? "";
  if (existsSync("/usr/bin/taskset")) {
    execFileSync("taskset", ["-acp", "0", String(child.pid)], { stdio: "ignore" });
  }
  return {
    url,
    port: Number(new URL(url).port),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    stderr: () => stderr,
    peakMb() {
      const path = `/proc/${child.pid}/status`;
      if (!existsSync(path)) return undefined;
      const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(path, "utf8")) ?? [];
      return Math.round(Number(kib) / 1024);
    },
  };
}

/** An answer; status 0 where there was none. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ms: number;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
  readonly timeoutMs?: number;
}

/** A request of a client that waits for at most ten seconds. */
export function ask(
  { port }: Attacked,
  path: string,
  { headers = {}, agent, timeoutMs = 10_000 }: AskOptions = {},
): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve) => {
    const answer = (status: number, body: string, of: Answer["headers"]): void =>
      resolve({ status, body, headers: of, ms: performance.now() - began });
    const all = {
      host: "127.0.0.1",
      port,
      path,
      headers,
      ...(agent === undefined ? {} : { agent }),
    };
    const request = get({ ...all, timeout: timeoutMs }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
      response.once("end", () => answer(response.statusCode ?? 0, body, response.headers));
      response.once("error", () => answer(0, body, {}));
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => answer(0, "", {}));
  });
}

/** Connections that send bytes and read nothing, until the test ends. */
export function unread(
  { port }: Attacked,
  count: number,
  bytes: (number: number) => string,
): readonly Socket[] {
  return Array.from({ length: count }, (_, number) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined); // being cut is what an attacker expects
    socket.pause().write(bytes(number), "latin1");
    onTestFinished(() => void socket.destroy());
    return socket;
  });
}

/** A GET as it is sent. */
export function getting(target: string, headers: string = ""): string {
  return `GET ${target} HTTP/1.1\r\nHost: a.example\r\n${headers}\r\n`;
}

/** What a service of 512 MB may take, with what is not heap. */
const MOST_MB = 900;
/** On a machine that does nothing else; what is measured is printed. */
const SLOWEST_MS = 5000;

/**
 * Attacks a service while another client asks it for `/health`, and for `honest` if given, all the time: the service
 * lives, answers every request of that client in time, and stays within its memory.
 */
export async function bystander<Result>(
  service: Attacked,
  name: string,
  attack: () => Promise<Result>,
  honest: readonly string[] = [],
): Promise<Result> {
  const agent = new Agent({ keepAlive: true });
  const answers: Answer[] = [];
  let isOver = false;
  const client = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      answers.push(await ask(service, "/health", { agent }));
      const other = honest[turn % Math.max(1, honest.length)];
      if (other !== undefined) answers.push(await ask(service, other));
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
  })();
  const result = await attack().finally(() => {
    isOver = true;
  });
  await client;
  agent.destroy();
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const p99 = Math.round(times[Math.floor(times.length * 0.99)] ?? 0);
  const lost = answers.filter(({ status }) => status === 0 || status >= 500).length;
  const peak = service.peakMb();
  const of = `${answers.length} requests of another client`;
  process.stdout.write(`attack: ${name}: ${of}, p99 ${p99} ms, ${lost} lost, ${peak ?? "?"} MB\n`);
  if (lost > 0) process.stdout.write(service.stderr().slice(-2000));
  expect({ isAlive: service.isAlive(), lost }).toEqual({ isAlive: true, lost: 0 });
  const busy = Math.max(1, loadavg()[0] / availableParallelism());
  expect(p99).toBeLessThan(SLOWEST_MS * busy);
  expect(peak ?? 0).toBeLessThan(MOST_MB);
  return result;
}

/** Lets the attack last. */
export function lasting(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
