/** How grave an event is. */
export type Level = "info" | "error";

/** What is noted about a request when it has ended. */
export interface RequestEntry {
  readonly method: string;
  /** As sent, never decoded. */
  readonly target: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
  readonly remote: string;
  readonly httpVersion: string;
  /** Headers as sent; undefined for those that were not. */
  readonly userAgent: string | undefined;
  readonly referer: string | undefined;
}

/** Where a server says what it does. */
export interface Log {
  event(level: Level, message: string, members?: Readonly<Record<string, unknown>>): void;
  request?(entry: RequestEntry): void;
}

/** Says nothing. */
export const SILENT_LOG: Log = { event: () => undefined };

const FLUSH_AFTER_MS = 200;
const FLUSH_AT_LENGTH = 64 * 1024;

/**
 * Collects lines and writes them a few times a second: a write for each would cost more than most
 * requests do. Call {@link flush} before the end.
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
 * Writes a line of JSON for each event and, if wanted, each request. Call {@link flush} before the end.
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
      /** Whether requests are written with the events; default true. */
      readonly requests?: boolean;
      /** Receives requests too, whether they are written here or not. */
      readonly accessLog?: { add(entry: RequestEntry): void } | undefined;
      /** Written with each line, such as which process it is from. */
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
