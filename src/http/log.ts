/** Severity of an event. */
export type Level = "info" | "error";

/** The log entry of a completed request. */
export interface RequestEntry {
  readonly method: string;
  /** As sent, never decoded. */
  readonly target: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
  readonly remote: string;
  readonly httpVersion: string;
  /** Headers as sent; undefined if absent. */
  readonly userAgent: string | undefined;
  readonly referer: string | undefined;
}

/** The log of a server. */
export interface Log {
  event(level: Level, message: string, members?: Readonly<Record<string, unknown>>): void;
  request?(entry: RequestEntry): void;
}

/** Discards all entries. */
export const SILENT_LOG: Log = { event: () => undefined };

const FLUSH_AFTER_MS = 200;
const FLUSH_AT_LENGTH = 64 * 1024;

/**
 * Buffers lines and writes them a few times a second: one write per line would cost more than most requests.
 * Call {@link flush} before exit.
 */
export class BufferedLines {
  readonly #write: (text: string) => void;
  #pending = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  add(line: string): void {
    this.#pending += `${line}\n`;
    if (this.#pending.length >= FLUSH_AT_LENGTH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text !== "") this.#write(text);
  }
}

/**
 * Writes a line of JSON for each event and, optionally, each request. Call {@link flush} before exit.
 *
 * @example
 * ```ts
 * import { JsonLog } from "mementomap/server";
 *
 * const log = new JsonLog((text) => console.log(JSON.parse(text).msg));
 * log.event("info", "started");
 * log.flush();
 * ```
 * ```
 * started
 * ```
 */
export class JsonLog implements Log {
  readonly request?: (entry: RequestEntry) => void;
  readonly #lines: BufferedLines;
  readonly #now: () => Date;
  readonly #members: Readonly<Record<string, unknown>> | undefined;

  constructor(
    write: (text: string) => void,
    options: {
      /** Whether requests are logged as well as events; default true. */
      readonly requests?: boolean;
      /** Receives all requests, whether they are logged here or not. */
      readonly accessLog?: { add(entry: RequestEntry): void } | undefined;
      /** Added to each line, for example to identify the process. */
      readonly members?: Readonly<Record<string, unknown>> | undefined;
      readonly now?: () => Date;
    } = {},
  ) {
    this.#lines = new BufferedLines(write);
    this.#now = options.now ?? (() => new Date());
    this.#members = options.members;
    const { requests = true, accessLog } = options;
    if (requests || accessLog !== undefined) {
      this.request = (entry) => {
        accessLog?.add(entry);
        if (!requests) return;
        this.#add("info", "request", entry);
      };
    }
  }

  event(level: Level, message: string, members: Readonly<Record<string, unknown>> = {}): void {
    this.#add(level, message, members);
    this.flush();
  }

  flush(): void {
    this.#lines.flush();
  }

  #add(level: Level, msg: string, members: object): void {
    const line = { time: this.#now(), level, msg, ...this.#members, ...members };
    this.#lines.add(JSON.stringify(line));
  }
}
