import { once } from "node:events";
import type { Writable } from "node:stream";
import type { Interrupt } from "../../interruption.ts";
import type { Program } from "../../aggregate/service/cluster.ts";
import { foreseenError } from "../../errors.ts";
import { isClosedPipe } from "../../files/output-file.ts";
import type { BlockSink } from "../../bytes/block-writer.ts";

/** The destination of messages: standard error, or a test. */
interface MessageSink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The environment of a command; it uses nothing else of the process. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Whether standard input is a terminal. */
  readonly isStdinTTY?: boolean | undefined;
  readonly stdout: Writable;
  readonly stderr: MessageSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupt: Interrupt;
  /** How to start this program again; without it there are no worker processes. */
  readonly program?: Program | undefined;
  /**
   * Calls the listener on SIGHUP, for example after log rotation; the returned function unsubscribes.
   */
  readonly onHangUp?: ((listener: () => void) => () => void) | undefined;
  /** Milliseconds from any fixed point. */
  now(): number;
}

/** Files by role. */
export type NamedFiles = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The exit statuses of the process. Part of the interface: scripts rely on them. */
export const ExitCode = {
  ok: 0,
  /** Success with a negative answer: absent, different, invalid. */
  negative: 1,
  /** Invalid use, bad input, or an I/O error. */
  failed: 2,
  interrupted: 130,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/**
 * Writes to standard output and waits for the write to finish.
 *
 * Fails with the system's `EPIPE` error if the reader closed the pipe; `main` then exits silently.
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

/** Waits until a stream is flushed or has failed; failures are reported by each write. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write("", () => resolve());
  });
}

/**
 * The creation time that outputs must state, for reproducible builds, in milliseconds: from
 * `SOURCE_DATE_EPOCH`, in seconds since 1970.
 */
export function sourceDate({ env }: Io): number | undefined {
  const epoch = env["SOURCE_DATE_EPOCH"];
  return epoch !== undefined && /^\d{1,12}$/.test(epoch) ? Number(epoch) * 1000 : undefined;
}

const FLUSH_AT_LENGTH = 64 * 1024;
const encoder = new TextEncoder();

/** Writes lines in large blocks and waits for the sink after each. Lines before a failure are written. */
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
