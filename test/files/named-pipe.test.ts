import { execFileSync } from "node:child_process";
import { createWriteStream, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openInput } from "../../src/files/input-file.ts";
import { scratchDir } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { spawnCli } from "../support/spawn-cli.ts";

function makePipe(): string {
  const path = join(scratchDir(), "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

function openFiles(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      return []; // closed meanwhile
    }
  });
}

describe.skipIf(process.platform === "win32")("a named pipe", () => {
  it.each([
    ["as it is", (bytes: Buffer) => bytes],
    ["decompressed", (bytes: Buffer) => gzipSync(bytes)],
  ])("is read to its end, %s", async (_how, stored) => {
    const path = makePipe();
    const text = Buffer.from("com,a)/ 2014 {}\n".repeat(20_000));
    const input = await openInput(path, { stdin: process.stdin });
    expect(input).toMatchObject({ name: path, size: undefined });
    createWriteStream(path).end(stored(text));
    const chunks: Uint8Array[] = [];
    for await (const chunk of input.chunks) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(text)).toBe(true);
  });

  // Only Linux tells which files a process has open.
  it.skipIf(process.platform !== "linux")(
    "that nobody writes to does not keep a command from ending",
    async () => {
      const path = makePipe();
      const { child, done } = spawnCli(["generate", path]);
      await until(() => openFiles(child.pid).includes(path));
      child.kill("SIGTERM");
      expect(await done).toMatchObject({
        code: 130,
        stdout: "",
        stderr: "mementomap: stopped by SIGTERM [MM_INTERRUPTED]\n",
      });
    },
  );
});
