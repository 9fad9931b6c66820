import { type ChildProcess, spawn } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { closeLostConnections } from "../../../src/files/processes/lost-connections.ts";
import { scratchDir } from "../../support/scratch.ts";
import { until } from "../../support/until.ts";

/** Answers at two ports, which are its arguments. */
const WORKER = `
  const listen = (port) => require("net").createServer((socket) => socket.end("answer"))
    .listen(Number(port), "127.0.0.1", () => process.send("listening"));
  process.argv.slice(2).forEach(listen);
`;

/** Connects to a port as often as it is told, when it is told, and writes what each connection got. */
const CLIENT = `
  const [, , port, times] = process.argv;
  const connect = () => {
    const socket = require("net").connect(Number(port), "127.0.0.1");
    let text = "";
    socket.on("data", (data) => (text += data));
    socket.on("error", () => undefined);
    socket.on("close", () => console.log(text || "closed"));
  };
  process.stdin.once("data", () => { for (let i = 0; i < times; i++) connect(); });
  console.error("ready");
`;

function script(name: string, text: string): string {
  const file = join(scratchDir(), name);
  writeFileSync(file, text);
  return file;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // Listens at an address.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function listening(worker: Worker, ports: number): Promise<Worker> {
  closeLostConnections(worker, { longestMs: 60_000, isStopping: () => false, onStuck() {} });
  // Several messages may come at once.
  let left = ports;
  await new Promise<void>((resolve) => {
    worker.on("message", () => {
      left -= 1;
      if (left === 0) resolve();
    });
  });
  return worker;
}

async function connections(port: number, times: number): Promise<ChildProcess> {
  const args = [script("client.cjs", CLIENT), port, times].map(String);
  const client = spawn(process.execPath, args, { stdio: "pipe" });
  await once(client.stderr, "data");
  return client;
}

/** What the first connections got; fewer, if they get nothing for ten seconds. */
async function output(client: ChildProcess, count: number): Promise<string[]> {
  const lines: string[] = [];
  client.stdout?.on("data", (data: Buffer) => lines.push(...data.toString().trim().split("\n")));
  await until(() => lines.length >= count, 10_000).catch(() => undefined);
  client.kill();
  return lines;
}

/** Stands still, so that everything that happens meanwhile is there at once. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it.skipIf(process.platform === "win32")(
  "no connection is left with a worker whose channel has ended, before it is known to have exited",
  async () => {
    const [busy, other] = [await freePort(), await freePort()];
    cluster.schedulingPolicy = cluster.SCHED_RR;
    const exec = script("worker.cjs", WORKER);
    cluster.setupPrimary({ exec, args: [String(busy), String(other)], serialization: "advanced" });
    const killed = await listening(cluster.fork(), 2);
    const kept = await listening(cluster.fork(), 2);
    try {
      const pid = killed.process.pid ?? 0;
      process.kill(pid, "SIGSTOP");
      // One of them is on its way to the worker that stands still: then Node says nothing of its end.
      const first = await connections(busy, 2);
      first.stdin?.write("go");
      expect(await output(first, 1)).toEqual(["answer"]);
      // The end of the channel, connections and the signal that a child exited are there at once; Node
      // takes them in this order.
      const second = await connections(other, 2);
      process.kill(pid, "SIGKILL");
      block(300);
      second.stdin?.write("go");
      block(700);
      expect(await output(second, 2)).toEqual(["answer", "answer"]);
    } finally {
      killed.process.kill("SIGKILL");
      kept.process.kill("SIGKILL");
      await once(kept.process, "close");
    }
  },
  30_000,
);
