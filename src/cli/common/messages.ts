import { formatAmount, formatBytes, formatDuration } from "../../format.ts";
import { type Input, openInput } from "../../files/input-file.ts";
import type { Io } from "./io.ts";

interface ProgressOptions {
  /** What is done, such as `reading`. */
  readonly label: string;
  /** How many bytes there are in all; without it no bar and no time left are shown. */
  readonly total?: number | undefined;
  readonly quiet?: boolean | undefined;
}

const INTERVAL_MS = 200;
const BAR_WIDTH = 24;
const MIN_BAR_WIDTH = 6;
const ERASE_LINE = "\r\u001b[2K";

/**
 * One line on the terminal that says how far the work is; nothing where stderr is not a terminal.
 *
 * Plain text without colour, so there is nothing for `NO_COLOR` to turn off. Drawn at most five
 * times a second, from {@link add}; no timer keeps the process alive.
 */
export class Progress {
  readonly #io: Io;
  readonly #label: string;
  /** Set it where the number of bytes is known only after the start. */
  total: number | undefined;
  /** Bytes that were worked off. */
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

  /** Counts bytes that were worked off. Cheap: call it once per chunk. */
  add(bytes: number): void {
    this.done += bytes;
    const now = this.#isShown ? this.#io.now() : 0;
    if (now - this.#drawnAt < INTERVAL_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    // One less than there are: a line that fills its row wraps on some terminals, and cannot be erased.
    const columns = (this.#io.stderr.columns ?? 80) - 1;
    this.#io.stderr.write(ERASE_LINE + this.#line(now, columns).slice(0, columns));
  }

  /** Erases the line. Call it whatever the outcome, before anything else is said. */
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

/** A bar and a blank, or nothing where numbers leave too little room. */
function bar(share: number, room: number): string {
  const width = Math.min(BAR_WIDTH, room);
  if (width < MIN_BAR_WIDTH) return "";
  const full = Math.round(Math.min(1, share) * width);
  return `[${"━".repeat(full)}${" ".repeat(width - full)}] `;
}

/** A line of the summary at the end of a run: what, how much, and a remark. */
export type SummaryLine = readonly [label: string, value: string, remark?: string];

/** The world of one command: messages mean the same in all of them. */
export interface CommandIo extends Io {
  /** Tells of something that the user should know even if no summary is wanted. */
  warn(message: string): void;
  /** Tells of something while the work goes on, unless quiet. */
  note(message: string): void;
  /** @param total how many bytes there are in all, where that is known */
  progress(label: string, total?: number): Progress;
  /** Opens an input, and shows how far it is read. */
  open(path: string | undefined, label: string): Promise<Input>;
  /** Tells what a run did, and how long it took, unless quiet. */
  summary(summary: Summary, ms: number): void;
}

/** What a run did: as JSON; and for people as a sentence, or as a list with time and memory. */
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

/** Passes chunks on, and erases the progress after the last one. */
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

/** Warns of lines of a list that were left out. */
export function warnSkippedLines(io: CommandIo, count: number): void {
  if (count === 0) return;
  const what =
    count === 1 ? "is neither a URI nor a SURT, and was" : "are neither URIs nor SURTs, and were";
  io.warn(`${formatAmount(count, "line of the lists", "lines of the lists")} ${what} left out`);
}
