import type { Io } from "./io.ts";
import { formatAmount, formatCount } from "../../errors.ts";

interface ProgressOptions {
  /** Says what is done, such as `reading`. */
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
  readonly #isShown: boolean;
  readonly #startedAt: number;
  #drawnAt: number;
  #isDrawn = false;
  #done = 0;

  constructor(io: Io, options: ProgressOptions) {
    this.#io = io;
    this.#label = options.label;
    this.total = options.total;
    this.#isShown = io.stderr.isTTY === true && options.quiet !== true && io.env["TERM"] !== "dumb";
    this.#startedAt = io.now();
    this.#drawnAt = this.#startedAt;
  }

  /** Counts bytes that were worked off. Cheap: call it once per chunk. */
  add(bytes: number): void {
    this.#done += bytes;
    if (!this.#isShown) return;
    const now = this.#io.now();
    if (now - this.#drawnAt < INTERVAL_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    this.#io.stderr.write(`${ERASE_LINE}${this.#line(now)}`);
  }

  /** Bytes that were worked off. */
  get done(): number {
    return this.#done;
  }

  /** Erases the line. Call it whatever the outcome, before anything else is said. */
  end(): void {
    if (this.#isDrawn) this.#io.stderr.write(ERASE_LINE);
    this.#isDrawn = false;
  }

  #line(now: number): string {
    const elapsedMs = Math.max(1, now - this.#startedAt);
    const bytesPerMs = this.#done / elapsedMs;
    const rate = `${formatSize(Math.round(bytesPerMs * 1000))}/s`;
    const { total } = this;
    if (total === undefined || total === 0) {
      return this.#fitted(`${this.#label} ${formatSize(this.#done)}  ${rate}`);
    }
    const left = formatDuration(Math.max(0, total - this.#done) / bytesPerMs);
    const amount = `${formatSize(this.#done)} of ${formatSize(total)}`;
    const numbers = `${amount}  ${rate}  ${left} left`;
    const room = this.#columns - `${this.#label} [] ${numbers}`.length;
    return this.#fitted(`${this.#label} ${bar(this.#done / total, room)}${numbers}`);
  }

  /** One less than there are: a line that fills its row wraps on some terminals. */
  get #columns(): number {
    return (this.#io.stderr.columns ?? 80) - 1;
  }

  /** Cuts a line to the terminal's width, because a wrapped line cannot be erased. */
  #fitted(line: string): string {
    return line.slice(0, this.#columns);
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

/** Shows what a run did, on stderr, as an aligned list. */
export function showSummary(io: Io, lines: readonly SummaryLine[]): void {
  const labels = Math.max(...lines.map(([label]) => label.length));
  const values = Math.max(...lines.map(([, value]) => value.length));
  for (const [label, value, remark = ""] of lines) {
    const line = `${label.padEnd(labels)}  ${value.padStart(values)}  ${remark}`;
    io.stderr.write(`${line.trimEnd()}\n`);
  }
}

/** Shows what a run did and what it took, on stderr: `what` as JSON, or as an aligned list. */
export function showRun(
  io: Io,
  ms: number,
  what: { readonly json: object; readonly lines: readonly SummaryLine[] },
  isJson: boolean,
): void {
  const peakMemoryBytes = process.resourceUsage().maxRSS * 1024;
  if (isJson) {
    const took = { seconds: ms / 1000, peakMemoryBytes };
    io.stderr.write(`${JSON.stringify({ ...what.json, ...took })}\n`);
    return;
  }
  showSummary(io, [
    ...what.lines,
    ["time", formatDuration(ms)],
    ["memory", formatSize(peakMemoryBytes), "peak"],
  ]);
}

export function formatRate(count: number, ms: number): string {
  return `${formatCount(Math.round((count / ms) * 1000))}/s`;
}

/** Warns of lines of a list that were left out. */
export function warnOfOddLines(io: Io, count: number): void {
  if (count === 0) return;
  const what =
    count === 1 ? "is neither a URI nor a SURT, and was" : "are neither URIs nor SURTs, and were";
  const lines = formatAmount(count, "line of the lists", "lines of the lists");
  io.stderr.write(`mementomap: warning: ${lines} ${what} left out\n`);
}

/** Shows a number of bytes for people: `812 B`, `64.0 KiB`, `1.1 GiB`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  while (value >= 1024 && unit < names.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${names[unit]}`;
}

/** Shows a duration for people: `0.8 s`, `2 min 5 s`, `1 h 3 min`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
