import { formatAmount, formatBytes, formatDuration } from "../../format.ts";
import { type Input, openInput } from "../../files/input-file.ts";
import type { Io } from "./io.ts";

interface ProgressOptions {
  /** The current action, such as `reading`. */
  readonly label: string;
  /** The total number of bytes; without it neither a bar nor the remaining time is shown. */
  readonly total?: number | undefined;
  readonly quiet?: boolean | undefined;
}

const INTERVAL_MS = 200;
const BAR_WIDTH = 24;
const MIN_BAR_WIDTH = 6;
const ERASE_LINE = "\r\u001b[2K";

/**
 * A progress line on the terminal; nothing if stderr is not a terminal.
 *
 * Plain text without colour, so `NO_COLOR` needs no handling. Drawn at most five times a second, from
 * {@link add}; no timer keeps the process alive.
 */
export class Progress {
  readonly #io: Io;
  readonly #label: string;
  /** Settable, because the number of bytes may be known only after the start. */
  total: number | undefined;
  /** Bytes processed. */
  done = 0;
  readonly #isShown: boolean;
  readonly #startedAt: number;
  #drawnAt: number;
  #isDrawn = false;

  constructor(io: Io, { label, total, quiet = false }: ProgressOptions) {
    this.#io = io;
    this.#label = label;
    this.total = total;
    this.#isShown = io.stderr.isTTY === true && !quiet && io.env["TERM"] !== "dumb";
    this.#startedAt = this.#drawnAt = io.now();
  }

  /** Counts processed bytes. Cheap: call it once per chunk. */
  add(bytes: number): void {
    this.done += bytes;
    const now = this.#isShown ? this.#io.now() : 0;
    if (now - this.#drawnAt < INTERVAL_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    // One less than the width: a full line wraps on some terminals, and then cannot be erased.
    const columns = (this.#io.stderr.columns ?? 80) - 1;
    this.#io.stderr.write(ERASE_LINE + this.#line(now, columns).slice(0, columns));
  }

  /** Erases the line. Call it whatever the outcome, before any other output. */
  end(): void {
    if (this.#isDrawn) this.#io.stderr.write(ERASE_LINE);
    this.#isDrawn = false;
  }

  #line(now: number, columns: number): string {
    const { done, total } = this;
    const bytesPerMs = done / Math.max(1, now - this.#startedAt);
    const rate = `${formatBytes(Math.round(bytesPerMs * 1000))}/s`;
    if (!total) return `${this.#label} ${formatBytes(done)}  ${rate}`;
    const left = formatDuration(Math.max(0, total - done) / bytesPerMs);
    const numbers = `${formatBytes(done)} of ${formatBytes(total)}  ${rate}  ${left} left`;
    const room = columns - `${this.#label} [] ${numbers}`.length;
    return `${this.#label} ${bar(done / total, room)}${numbers}`;
  }
}

/** A bar and a blank, or nothing if the numbers leave too little room. */
function bar(share: number, room: number): string {
  const width = Math.min(BAR_WIDTH, room);
  if (width < MIN_BAR_WIDTH) return "";
  const full = Math.round(Math.min(1, share) * width);
  return `[${"━".repeat(full)}${" ".repeat(width - full)}] `;
}

/** A line of the summary at the end of a run. */
export type SummaryLine = readonly [label: string, value: string, remark?: string];

/** The environment of one command, with messages that work alike in all commands. */
export interface CommandIo extends Io {
  /** Writes a warning, even if quiet. */
  warn(message: string): void;
  /** Writes a message while the command runs, unless quiet. */
  note(message: string): void;
  /** @param total the total number of bytes, if known */
  progress(label: string, total?: number): Progress;
  /** Opens an input, and shows the progress of reading it. */
  open(path: string | undefined, label: string): Promise<Input>;
  /** Writes the summary of a run with its duration, unless quiet. */
  summary(summary: Summary, ms: number): void;
}

/** The summary of a run: as JSON, and as text, either a sentence or a list with time and memory. */
export interface Summary {
  readonly json: object;
  readonly text: string | readonly SummaryLine[];
}

export function commandIo(
  io: Io,
  { quiet, json: isJson }: { readonly quiet: boolean; readonly json: boolean },
): CommandIo {
  const { stdout, stderr, env, interrupt, program, onHangUp } = io;
  const say = (text: string): void => void stderr.write(`${text}\n`);
  const progressOf = (label: string, total?: number): Progress =>
    new Progress(io, { label, total, quiet });
  return {
    get stdin() {
      return io.stdin;
    },
    stdout,
    stderr,
    env,
    interrupt,
    program,
    onHangUp,
    now: () => io.now(),
    warn(message) {
      say(isJson ? JSON.stringify({ warning: message }) : `mementomap: warning: ${message}`);
    },
    note(message) {
      if (!quiet && !isJson) say(message);
    },
    progress: progressOf,
    async open(path, label) {
      const progress = progressOf(label);
      const onRead = (bytes: number): void => progress.add(bytes);
      const input = await openInput(path, io, {
        signal: interrupt.signal,
        onRead,
      });
      progress.total = input.size;
      return {
        ...input,
        chunks: ended(input.chunks, progress),
      };
    },
    summary({ json, text }, ms) {
      if (quiet) return;
      const peakMemoryBytes = process.resourceUsage().maxRSS * 1024;
      if (isJson)
        say(
          JSON.stringify({
            ...json,
            seconds: ms / 1e3,
            peakMemoryBytes,
          }),
        );
      else if (typeof text === "string") say(text);
      else {
        const took: SummaryLine[] = [
          ["time", formatDuration(ms)],
          ["memory", formatBytes(peakMemoryBytes), "peak"],
        ];
        say(alignedList([...text, ...took]).join("\n"));
      }
    },
  };
}

/** Yields the chunks, and erases the progress line after the last one. */
async function* ended(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* chunks;
  } finally {
    progress.end();
  }
}

function alignedList(lines: readonly SummaryLine[]): string[] {
  const labels = Math.max(...lines.map(([label]) => label.length));
  const values = Math.max(...lines.map(([, value]) => value.length));
  return lines.map(([label, value, remark = ""]) =>
    `${label.padEnd(labels)}  ${value.padStart(values)}  ${remark}`.trimEnd(),
  );
}

/** Warns about skipped lines of lists. */
export function warnSkippedLines(io: CommandIo, count: number): void {
  if (count === 0) return;
  const what = count === 1 ? "that is neither a URI nor a SURT" : "that are neither URIs nor SURTs";
  io.warn(`skipped ${formatAmount(count, "line")} ${what}`);
}
