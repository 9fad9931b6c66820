import { Readable, Writable } from "node:stream";
import type { Io } from "../../src/cli/common/io.ts";
import { main } from "../../src/cli/main.ts";
import { Interrupt } from "../../src/interruption.ts";

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliWorld {
  readonly stdin?: string | Uint8Array;
  readonly env?: Record<string, string>;
  readonly isTTY?: boolean;
  readonly interrupt?: Interrupt;
  readonly stdout?: Writable;
}

/**
 * For property tests that run commands many times on a few lines: commands reserve their memory limit up
 * front, and freeing 512 MiB each time takes longer than the work.
 */
export const SMALL_MEMORY: readonly string[] = ["--memory", "16m"];

/** Runs a command line in this process and returns its output and exit code. */
export async function runCli(argv: readonly string[], world: CliWorld = {}): Promise<CliResult> {
  const { io, written } = testIo(world);
  const code = await main(argv, io);
  return { code, stdout: written.stdout(), stderr: written.stderr() };
}

export function testIo(world: CliWorld = {}): {
  io: Io;
  written: { stdout(): string; stderr(): string };
} {
  const blocks: Buffer[] = [];
  let messages = "";
  const io: Io = {
    stdin: Readable.from([Buffer.from(world.stdin ?? "")], { objectMode: false }),
    stdout:
      world.stdout ??
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          blocks.push(Buffer.from(chunk));
          done();
        },
      }),
    stderr: {
      isTTY: world.isTTY ?? false,
      columns: 80,
      write(text: string) {
        messages += text;
      },
    },
    env: world.env ?? {},
    interrupt: world.interrupt ?? new Interrupt(),
    now: () => performance.now(),
  };
  return {
    io,
    written: { stdout: () => Buffer.concat(blocks).toString(), stderr: () => messages },
  };
}
