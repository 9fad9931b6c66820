import { appendFileSync } from "node:fs";
import { internalFault } from "../../errors.ts";
import { outputError } from "../../files/output-file.ts";
import { type ConnectionLimits, listen, type RequestHandler } from "../../http/listen.ts";
import { BufferedLines, JsonLog, type Log, type RequestEntry } from "../../http/log.ts";
import { type GuardedOutput, guardOutputs } from "../../maps/output-guard.ts";
import { interrupted, type Io } from "./io.ts";
import { quote } from "../../errors.ts";
import type { OptionTable } from "./command-line.ts";
import { pathPrefix } from "../../http/target.ts";
import { TrustedProxies } from "../../http/forwarded.ts";
import { misuse } from "./options.ts";

/** Common to services: the settings file. */
export const CONFIG_OPTION = {
  value: "FILE",
  help: "A JSON file of settings, by the names of these options.",
} as const;

/** Common to services: the listening address. */
export const HOST_OPTION = {
  value: "ADDRESS",
  default: "127.0.0.1",
  help: "The address to listen on; 0.0.0.0 or :: for all.",
} as const;

/** Common to services: monitoring. */
export const MONITORING_OPTIONS = {
  "access-log": {
    value: "FILE",
    help: "Log requests to this file, in the Combined Log Format of Apache and nginx; - for standard output.",
    parse: parseAccessLog,
  },
  "metrics-port": {
    value: "[HOST:]PORT",
    help: "Serve /metrics (and /health) on this port, by default of 127.0.0.1, and remove /metrics from the main port; 0 selects any free port.",
    parse: parseMetricsPort,
  },
} as const satisfies OptionTable;

/** Rejects the keywords of earlier versions, which are unlikely file names. */
function parseAccessLog(text: string): string {
  if (text === "requests" || text === "events" || text === "nothing") {
    throw misuse(
      `not a file: ${text}; name a file for requests, or - for standard output; omit the option to log only events`,
    );
  }
  return text;
}

function parseMetricsPort(text: string): { host: string; port: number } {
  const [, host = "127.0.0.1", port = ""] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === "" || Number(port) > 65_535) {
    throw misuse(`not a port: ${quote(text)}; write 9100 or 0.0.0.0:9100`);
  }
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** Common to services: reverse proxies. */
export const PROXY_OPTIONS = {
  prefix: {
    value: "PATH",
    help: "The path prefix at which a proxy exposes the service, such as /mementos; optional in requests.",
    parse: parsePathPrefix,
  },
  "trust-proxy": {
    value: "LIST",
    help: "Proxies whose Forwarded or X-Forwarded-For, -Proto, -Host and -Prefix are trusted: addresses and networks (10.0.0.0/8) separated by commas; loopback, private, any.",
    parse: parseProxies,
  },
} as const satisfies OptionTable;

/** @throws `MM_USAGE` */
export function parsePathPrefix(text: string): string {
  const prefix = pathPrefix(text);
  if (/^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/.test(prefix)) return prefix;
  throw misuse(`not a path: ${quote(text)}; write /mementos`);
}

/** @throws `MM_USAGE` */
function parseProxies(text: string): readonly string[] {
  return new TrustedProxies(text.split(",").map((proxy) => proxy.trim())).proxies;
}

interface ServiceLogOptions {
  /** The file of `--access-log`. */
  readonly accessLog?: string | undefined;
  /** Written with each line. */
  readonly members?: Readonly<Record<string, unknown>> | undefined;
}

/** The log of a service. Flush it at the end. */
interface ServiceLog {
  readonly log: JsonLog;
  readonly flush: () => void;
}

/**
 * Opens the log of a service: events as lines of JSON on standard error, and requests in the access log,
 * if configured.
 *
 * @throws MM_IO if the access log cannot be opened
 */
export function openServiceLog(io: Io, options: ServiceLogOptions = {}): ServiceLog {
  const { members, accessLog: path } = options;
  const accessLog =
    path === undefined
      ? undefined
      : openAccessLog(path, io, (reason) =>
          log.event("error", "the access log cannot be written", { reason }),
        );
  const log: JsonLog = new JsonLog((text) => void io.stderr.write(text), {
    requests: false,
    accessLog,
    members,
  });
  return {
    log,
    flush() {
      accessLog?.flush();
      log.flush();
    },
  };
}

/** The handler of reload requests: logs failures. */
export function reloader(log: Log, reload: () => Promise<void>): () => void {
  return () => {
    reload().catch((error: unknown) => {
      log.event("error", "reloading failed", { reason: internalFault(error, "MM_IO").describe() });
    });
  };
}

interface ServiceAddresses {
  readonly url: string;
  /** The URL of the monitoring port, if any. */
  readonly metrics: string | undefined;
}

interface RunServiceOptions {
  readonly port: number;
  readonly host: string;
  /** The address of `/metrics`, if not the main port. */
  readonly metrics: { readonly port: number; readonly host: string } | undefined;
  readonly isJson: boolean;
  readonly limits?: Partial<ConnectionLimits>;
  readonly log: Log;
  /** Called when the service is ready; by default, its address is written to standard output. */
  readonly onReady?: ((addresses: ServiceAddresses) => void) | undefined;
  /** Called on a signal to stop, before pending requests end. */
  readonly onStopping?: (() => void) | undefined;
}

/**
 * Serves until a signal to stop, then finishes pending requests.
 *
 * @throws MM_IO if a port is in use or not permitted.
 */
export async function runService(
  service: RequestHandler & { readonly monitoring: RequestHandler },
  io: Io,
  { port, host, metrics, isJson, limits, log, onReady, onStopping }: RunServiceOptions,
): Promise<void> {
  const options = { port: "--metrics-port", host: "--metrics-port" };
  const monitoring = metrics && (await listen(service.monitoring, { ...metrics, options }));
  try {
    const server = await listen(service, {
      port,
      host,
      limits,
      onError: (error) => log.event("error", "connection rejected", { reason: error.describe() }),
    });
    const addresses = { url: server.url, metrics: monitoring?.url };
    if (onReady === undefined) io.stdout.write(listeningLine(addresses, isJson));
    else onReady(addresses);
    await interrupted(io);
    log.event("info", "stopping");
    onStopping?.();
    await server.stop();
  } finally {
    await monitoring?.stop();
  }
}

export function listeningLine({ url, metrics }: ServiceAddresses, isJson: boolean): string {
  return isJson ? `${JSON.stringify({ url, metrics })}\n` : `${url}\n`;
}

/**
 * Rejects output files that the service also reads, and existing ones of another kind.
 *
 * @throws MM_USAGE; MM_IO if a folder does not exist
 */
export async function guardServiceFiles(
  { logs, learnt }: { readonly logs: Files; readonly learnt?: string | undefined },
  inputs: Files,
): Promise<void> {
  const outputs: readonly GuardedOutput[] = [
    ...logs.map((path) => ({ path, kind: "log" as const })),
    { path: learnt, kind: "learnt" },
  ];
  await guardOutputs(
    outputs.filter(({ path }) => path !== undefined),
    { inputs },
  );
}

type Files = readonly (string | undefined)[];

interface AccessLog {
  add(entry: RequestEntry): void;
  flush(): void;
}

/**
 * Writes a line per request to a file, or to standard output for `-`, in the Combined Log Format of
 * Apache and nginx.
 *
 * The file is reopened for each write, so that it can be rotated at any time; several processes may
 * write to it.
 *
 * @param onError called on the first of a series of failed writes, whose lines are lost.
 * @throws MM_IO if the file cannot be opened
 */
export function openAccessLog(
  path: string,
  { stdout }: Pick<Io, "stdout">,
  onError: (reason: string) => void,
): AccessLog {
  const append = (lines: string): void => {
    if (path === "-") stdout.write(lines);
    else appendFileSync(path, lines, { mode: 0o640 });
  };
  try {
    append("");
  } catch (error) {
    throw outputError(error, path);
  }
  let isFailing = false;
  const lines = new BufferedLines((text) => {
    try {
      append(text);
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(outputError(error, path).describe());
      isFailing = true;
    }
  });
  return {
    add: (entry) => lines.add(combinedLine(entry, new Date())),
    flush: () => lines.flush(),
  };
}

/** `192.0.2.1 - - [16/Nov/2026:03:00:00 +0000] "GET / HTTP/1.1" 200 512 "REFERER" "USER-AGENT"` */
export function combinedLine(entry: RequestEntry, now: Date): string {
  const { remote, method, target, httpVersion, status, bytes, referer, userAgent } = entry;
  const [, day, month, year, time] = now.toUTCString().split(" ");
  const request = quoted(`${method} ${target} HTTP/${httpVersion}`);
  return `${remote === "" ? "-" : remote} - - [${day}/${month}/${year}:${time} +0000] ${request} ${status} ${bytes} ${quoted(referer ?? "-")} ${quoted(userAgent ?? "-")}`;
}

/**
 * Escapes quotes, backslashes and unprintable characters as Apache does. Characters up to 255 are bytes,
 * as Node reads headers.
 */
function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^ -~]/g, (character) =>
    character === '"' || character === "\\"
      ? `\\${character}`
      : Buffer.from(character, character <= "\u00FF" ? "latin1" : "utf8")
          .toString("hex")
          .replaceAll(/../g, String.raw`\x$&`),
  );
  return `"${escaped}"`;
}
