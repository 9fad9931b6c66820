import { appendFileSync } from "node:fs";
import { MementoMapError, quote } from "../../errors.ts";
import type { OptionTable } from "./command-line.ts";
import type { Io } from "./io.ts";
import { outputError } from "../../files/output-file.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { pathPrefix } from "../../http/target.ts";
import { TrustedProxies } from "../../publish/serve/trusted-proxies.ts";
import { parseWhole } from "./options.ts";
import { listen, type Listening, type RequestHandler } from "../../http/listen.ts";
import type { RequestEntry } from "../../http/log.ts";

/** @throws `MM_USAGE` */
export function parsePort(text: string): number {
  const port = parseWhole(text);
  if (port <= 65_535) return port;
  throw new MementoMapError("MM_USAGE", `not a port of 0 to 65535: ${quote(text)}`);
}

/**
 * The public address of a service.
 *
 * @throws `MM_USAGE`
 */
export function parseBase(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new MementoMapError(
    "MM_USAGE",
    `not a web address: ${quote(text)}; write https://archive.example.org`,
  );
}

/** What a service can write to its log. */
export const SERVER_LOGS = ["requests", "events", "nothing"] as const;

/** Options of every service: where it is looked after. */
export const MONITORING_OPTIONS = {
  "combined-log": {
    value: "FILE",
    help: "Write requests to this file too, in the Combined Log Format of Apache and nginx; - for standard output.",
  },
  "metrics-port": {
    value: "N",
    help: "Answer /metrics (and /health) on this port, and /metrics no longer on the other; 0 takes any that is free.",
    parse: parsePort,
  },
  "metrics-host": {
    value: "ADDRESS",
    default: "127.0.0.1",
    help: "The address that --metrics-port listens on.",
  },
} as const satisfies OptionTable;

/**
 * The log of `--combined-log`, if one is wanted.
 *
 * @throws MM_IO when it cannot be written from the start
 */
export function accessLogOf(
  path: string | undefined,
  { stdout }: Pick<Io, "stdout">,
  onError: (reason: string) => void,
): AccessLog | undefined {
  if (path === undefined) return undefined;
  if (path === "-") return new AccessLog(stdout, (error) => onError(String(error)));
  try {
    appendFileSync(path, "");
  } catch (error) {
    throw outputError(error, path);
  }
  return new AccessLog(path, (error) => onError(outputError(error, path).describe()));
}

/**
 * Refuses logs that would be appended to what the service reads, or to another file that is not a log.
 *
 * @throws MM_USAGE
 */
export async function guardLogs(
  logs: readonly (string | undefined)[],
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const named = logs.filter((path) => path !== undefined);
  await guardOutputs(
    named.map((path) => ({ path, kind: "log" })),
    { inputs },
  );
}

/** Options of every service: the proxies before it. */
export const PROXY_OPTIONS = {
  prefix: {
    value: "PATH",
    help: "The path that a proxy has the service below, such as /mementos; requests may come with it or without.",
    parse: parsePathPrefix,
  },
  "trust-proxy": {
    value: "LIST",
    help: "Proxies whose Forwarded or X-Forwarded-For, -Proto, -Host and -Prefix are taken: addresses and networks (10.0.0.0/8) apart by commas; loopback, private, any.",
    parse: parseProxies,
  },
} as const satisfies OptionTable;

/** @throws `MM_USAGE` */
function parsePathPrefix(text: string): string {
  const prefix = pathPrefix(text);
  if (/^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/.test(prefix)) return prefix;
  throw new MementoMapError("MM_USAGE", `not a path: ${quote(text)}; write /mementos`);
}

/** @throws `MM_USAGE` */
function parseProxies(text: string): readonly string[] {
  return new TrustedProxies(text.split(",").map((proxy) => proxy.trim())).proxies;
}

/** Serves `/metrics` and `/health` on a port of their own, where one is named. */
export async function listenForMonitoring(
  { monitoring }: { readonly monitoring: RequestHandler },
  values: { readonly "metrics-port": number | undefined; readonly "metrics-host": string },
): Promise<Listening | undefined> {
  const port = values["metrics-port"];
  if (port === undefined) return undefined;
  return listen(monitoring, {
    port,
    host: values["metrics-host"],
    options: { port: "--metrics-port", host: "--metrics-host" },
  });
}

/** What a service writes to standard output when it is ready. */
export function listeningLine(
  { url }: { readonly url: string },
  monitoring: { readonly url: string } | undefined,
  isJson: boolean,
): string {
  return isJson ? `${JSON.stringify({ url, metrics: monitoring?.url })}\n` : `${url}\n`;
}

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
