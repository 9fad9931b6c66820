import { once } from "node:events";
import type { Writable } from "node:stream";
import type { Interrupt } from "../../interruption.ts";
import type { Program } from "../../aggregate/service/cluster.ts";
import { foreseenError } from "../../errors.ts";
import { isClosedPipe } from "../../files/output-file.ts";
import type { BlockSink } from "../../bytes/block-writer.ts";

/** Where messages go: standard error, or a test. */
interface MessageSink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Everything a command may touch of the world around it. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Whether somebody would have to type what standard input has. */
  readonly isStdinTTY?: boolean | undefined;
  readonly stdout: Writable;
  readonly stderr: MessageSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupt: Interrupt;
  /** How to start this program again; without it there are no worker processes. */
  readonly program?: Program | undefined;
  /**
   * Calls back when the process is told to reopen its files (SIGHUP), as after a log was rotated;
   * call the function returned to unsubscribe.
   */
  readonly onHangUp?: ((listener: () => void) => () => void) | undefined;
  /** Milliseconds from any fixed point. */
  now(): number;
}

/** Files, by what they were given as. */
export type NamedFiles = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What the process says when it ends. Part of the interface: scripts rely on it. */
export const ExitCode = {
  ok: 0,
  /** Done, and the answer is no: absent, different, invalid. */
  negative: 1,
  /** Wrong use, bad input, or a failing disk. */
  failed: 2,
  interrupted: 130,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/**
 * Writes to standard output and waits until it is taken.
 *
 * Fails with the system's `EPIPE` error when nobody reads any more; `main` ends quietly then.
 */
export function writeOut(stdout: Writable, data: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(data, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(isClosedPipe(error) ? error : (foreseenError(error, "stdout") ?? error));
    });
  });
}

export async function interrupted({ interrupt: { signal } }: Io): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Waits until a stream has passed on what it was given, or has failed: each write reports that. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write("", () => resolve());
  });
}

/**
 * The time that outputs shall say they were made at, where the environment sets one in the manner of
 * reproducible builds: `SOURCE_DATE_EPOCH`, seconds since 1970. In milliseconds.
 */
export function sourceDate({ env }: Io): number | undefined {
  const epoch = env["SOURCE_DATE_EPOCH"];
  return epoch !== undefined && /^\d{1,12}$/.test(epoch) ? Number(epoch) * 1000 : undefined;
}

const FLUSH_AT_LENGTH = 64 * 1024;
const encoder = new TextEncoder();

/** Writes lines in large blocks and waits for the sink after each. What comes before a failure is written. */
export async function writeLines(
  sink: BlockSink,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  let pending = "";
  const flush = async (): Promise<void> => {
    const block = encoder.encode(pending);
    pending = "";
    if (block.length > 0) await sink.write(block);
  };
  try {
    for await (const line of lines) {
      pending += `${line}\n`;
      if (pending.length >= FLUSH_AT_LENGTH) await flush();
    }
  } finally {
    await flush();
  }
}
