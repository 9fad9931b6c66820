import { appendFileSync } from "node:fs";
import type { RequestEntry } from "../../http/log.ts";

const FLUSH_AFTER_MS = 200;
const FLUSH_AT_LENGTH = 64 * 1024;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/**
 * Writes a line for each request to a file or a stream, in the Combined Log Format of Apache and nginx.
 *
 * Lines are collected and written a few times a second. The file is opened by its name each time, so
 * that it can be moved away at any time; several processes may write to it.
 */
export class AccessLog {
  readonly #write: (lines: string) => void;
  readonly #onError: (error: unknown) => void;
  #isFailing = false;
  #pending = "";
  #timer: NodeJS.Timeout | undefined;

  /** @param onError told when lines cannot be written, once until they can be again; they are lost. */
  constructor(
    target: string | { write(lines: string): unknown },
    onError: (error: unknown) => void,
  ) {
    this.#write =
      typeof target === "string"
        ? (lines) => appendFileSync(target, lines)
        : (lines) => void target.write(lines);
    this.#onError = onError;
  }

  add(entry: RequestEntry, now: Date = new Date()): void {
    this.#pending += `${combinedLine(entry, now)}\n`;
    if (this.#pending.length >= FLUSH_AT_LENGTH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** Writes what is pending. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text === "") return;
    try {
      this.#write(text);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
    }
  }
}

/** `192.0.2.1 - - [16/Nov/2026:03:00:00 +0000] "GET / HTTP/1.1" 200 512 "REFERER" "USER-AGENT"` */
export function combinedLine(entry: RequestEntry, now: Date): string {
  const { remote, method, target, httpVersion, status, bytes, referer, userAgent } = entry;
  const day = `${two(now.getUTCDate())}/${MONTHS[now.getUTCMonth()]}/${now.getUTCFullYear()}`;
  const time = `${two(now.getUTCHours())}:${two(now.getUTCMinutes())}:${two(now.getUTCSeconds())}`;
  const request = quoted(`${method} ${target} HTTP/${httpVersion}`);
  return `${remote === "" ? "-" : remote} - - [${day}:${time} +0000] ${request} ${status} ${bytes} ${quoted(referer ?? "-")} ${quoted(userAgent ?? "-")}`;
}

/** As Apache writes what clients sent: quotes, backslashes and what cannot be printed are escaped. */
function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^ -~]/g, (character) =>
    character === '"' || character === "\\"
      ? `\\${character}`
      : Array.from(
          Buffer.from(character),
          (byte) => `\\x${byte.toString(16).padStart(2, "0")}`,
        ).join(""),
  );
  return `"${escaped}"`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
