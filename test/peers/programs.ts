import type { ChildProcess } from "node:child_process";
import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "../support/until.ts";

const execute = promisify(execFile);

/**
 * The path of a program: of a Python package in the virtual environment that `MEMENTOMAP_PEERS`
 * names, or of what is installed. Undefined where it is not.
 */
export function program(name: string): string | undefined {
  const environment = process.env["MEMENTOMAP_PEERS"];
  const own = environment === undefined ? undefined : join(environment, "bin", name);
  if (own !== undefined && existsSync(own)) return own;
  const found = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
  return found === "" ? undefined : found;
}

/** Runs a program to its end and gives what it wrote. */
export async function output(
  command: string,
  args: readonly string[],
  folder: string,
): Promise<string> {
  const { stdout } = await execute(command, args, { cwd: folder, maxBuffer: 2 ** 28 });
  return stdout;
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
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

/** Starts a server and waits until it answers; `stop` ends it. */
export async function startServer(
  command: string,
  args: readonly string[],
  folder: string,
  address: string,
): Promise<{ stop(): void }> {
  const child: ChildProcess = spawn(command, args, { cwd: folder, stdio: "ignore" });
  let isAnswering = false;
  const ask = (): Promise<void> =>
    fetch(address).then(
      () => void (isAnswering = true),
      () => undefined,
    );
  await until(() => ask().then(() => isAnswering || child.exitCode !== null), 60_000).catch(
    () => undefined, // told below
  );
  if (isAnswering) return { stop: () => void child.kill() };
  child.kill();
  throw new Error(`${command} did not begin to answer at ${address}`);
}
