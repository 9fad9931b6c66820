import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

/** An aggregator that runs in a process of its own. */
export interface Contestant {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const BIN =
  process.env["MEMENTOMAP_BIN"] ?? fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

/** The path of MemGator's program, or undefined, which is said on the terminal. */
export function findMemGator(): string | undefined {
  const path = process.env["MEMENTOMAP_MEMGATOR"];
  if (path === undefined) {
    console.log("MemGator is not compared with: MEMENTOMAP_MEMGATOR does not name its program\n");
  }
  return path;
}

/** Starts MemGator with a list of archives. */
export async function startMemGator(
  program: string,
  list: string,
  options: readonly string[] = [],
): Promise<Contestant> {
  const port = await freePort();
  const args = ["-a", list, "-H", "127.0.0.1", "-p", String(port), ...options, "server"];
  return started("MemGator", program, args, port);
}

/** Starts our aggregator, as built, with a list of archives. */
export async function startOurs(
  name: string,
  list: string,
  options: readonly string[] = [],
  nodeOptions: readonly string[] = [],
): Promise<Contestant> {
  const port = await freePort();
  const args = ["aggregate", "--serve", "--archives", list, "--port", String(port), ...options];
  return started(name, process.execPath, [...nodeOptions, BIN, ...args], port);
}

/** The name of a program that does only what every aggregator must: see bare-aggregator.mjs. */
export const BARE = "undici alone";

/** Starts that program, with as many workers as there are cores. */
export async function startBare(list: string): Promise<Contestant> {
  const port = await freePort();
  const program = fileURLToPath(new URL("bare-aggregator.mjs", import.meta.url));
  const args = [program, list, String(port), String(availableParallelism())];
  return started(BARE, process.execPath, args, port);
}

async function started(
  name: string,
  program: string,
  args: readonly string[],
  port: number,
): Promise<Contestant> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
  child.on("error", (error) => (said += error.message));
  for (let turn = 0; turn < 600; turn++) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${said}`);
    const isUp = await fetch(`http://127.0.0.1:${port}/about`).then(
      async (response) => (await response.text()) !== "",
      () => false,
    );
    if (isUp) {
      const died = (status: number | null, signal: string | null): void => {
        console.log(`${name} ENDED with ${status ?? signal}: ${said}`);
        process.exitCode = 1;
      };
      child.once("exit", died);
      return {
        name,
        pid: child.pid ?? 0,
        port,
        stop: async () => {
          if (child.exitCode !== null) return;
          child.off("exit", died);
          const ended = once(child, "exit");
          child.kill("SIGTERM");
          await ended;
        },
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill();
  throw new Error(`${name} did not begin to answer: ${said}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
