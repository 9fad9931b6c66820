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

/** Connects to a port at a time, as often as it is told, and writes what each connection got. */
const CLIENT = `
  const [, , port, times, at] = process.argv;
  const connect = () => {
    const socket = require("net").connect(Number(port), "127.0.0.1");
    let text = "";
    socket.on("data", (data) => (text += data));
    socket.on("error", () => undefined);
    socket.on("close", () => console.log(text || "closed"));
  };
  setTimeout(() => { for (let i = 0; i < times; i++) connect(); }, at - Date.now());
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
  for (let i = 0; i < ports; i++) await once(worker, "message");
  return worker;
}

function connections(port: number, times: number, at: number): ChildProcess {
  const args = [script("client.cjs", CLIENT), port, times, at].map(String);
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

/** What the first connections got; fewer, if they get nothing for ten seconds. */
async function output(client: ChildProcess, count: number): Promise<string[]> {
  const lines: string[] = [];
  client.stdout?.on("data", (data: Buffer) => lines.push(...data.toString().trim().split("\n")));
  await until(() => lines.length >= count, 10_000).catch(() => undefined);
  client.kill();
  return lines;
}

function block(untilMs: number): void {
  while (Date.now() < untilMs);
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
      expect(await output(connections(busy, 2, 0), 1)).toEqual(["answer"]);
      // The end of the channel, connections and the signal that a child exited are there at once; Node
      // takes them in this order.
      const start = Date.now();
      const clients = connections(other, 2, start + 1500);
      const answers = output(clients, 2);
      await once(clients, "spawn");
      process.kill(pid, "SIGKILL");
      block(start + 2500);
      expect(await answers).toEqual(["answer", "answer"]);
    } finally {
      killed.process.kill("SIGKILL");
      kept.process.kill("SIGKILL");
      await once(kept.process, "close");
    }
  },
  30_000,
);
