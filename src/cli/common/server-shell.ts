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

/** The option of every service: where its settings are. */
export const CONFIG_OPTION = {
  value: "FILE",
  help: "A JSON file of settings, by the names of these options.",
} as const;

/** The option of every service: where it listens. */
export const HOST_OPTION = {
  value: "ADDRESS",
  default: "127.0.0.1",
  help: "The address to listen on; 0.0.0.0 or :: for all.",
} as const;

/** Options of every service: where it is looked after. */
export const MONITORING_OPTIONS = {
  "access-log": {
    value: "FILE",
    help: "Log requests to this file, in the Combined Log Format of Apache and nginx; - for standard output.",
    parse: parseAccessLog,
  },
  "metrics-port": {
    value: "[HOST:]PORT",
    help: "Serve /metrics (and /health) on this port, of 127.0.0.1 unless a host is named, and /metrics no longer on the main port; 0 selects any free port.",
    parse: parseMetricsPort,
  },
} as const satisfies OptionTable;

/** The words that this option took before; nobody wants a file of that name. */
function parseAccessLog(text: string): string {
  if (text === "requests" || text === "events" || text === "nothing") {
    throw misuse(
      `not a file: ${text}; name a file for requests, - for standard output, or leave the option out for events alone`,
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

/** Options of every service: the proxies before it. */
export const PROXY_OPTIONS = {
  prefix: {
    value: "PATH",
    help: "The path below which a proxy exposes the service, such as /mementos; requests may include it or not.",
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
 * Opens the log of a service: events as lines of JSON on standard error, and requests in the access log
 * where one is named.
 *
 * @throws MM_IO when the access log cannot be written from the start
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

/** What to do when the process is told to reload: failures go to the log. */
export function reloader(log: Log, reload: () => Promise<void>): () => void {
  return () => {
    reload().catch((error: unknown) => {
      log.event("error", "reloading failed", { reason: internalFault(error, "MM_IO").describe() });
    });
  };
}

interface ServiceAddresses {
  readonly url: string;
  /** Of the port for monitoring, where there is one. */
  readonly metrics: string | undefined;
}

interface RunServiceOptions {
  readonly port: number;
  readonly host: string;
  /** Where `/metrics` is served, if not on the main port. */
  readonly metrics: { readonly port: number; readonly host: string } | undefined;
  readonly isJson: boolean;
  readonly limits?: Partial<ConnectionLimits>;
  readonly log: Log;
  /** Called when it is ready; by default it writes its address to standard output. */
  readonly onReady?: ((addresses: ServiceAddresses) => void) | undefined;
  /** Called when it is told to stop, before requests under way end. */
  readonly onStopping?: (() => void) | undefined;
}

/**
 * Serves until the process is told to stop and the requests under way have ended.
 *
 * @throws MM_IO when a port is taken or not allowed.
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
 * Refuses files that a service would write over or append to although it reads them, or although they
 * are of another kind.
 *
 * @throws MM_USAGE; MM_IO when the folder of one does not exist
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
 * Writes a line for each request to a file, or to standard output for `-`, in the Combined Log Format of
 * Apache and nginx.
 *
 * The file is opened by its name each time, so that it can be moved away at any time; several processes
 * may write to it.
 *
 * @param onError told when lines cannot be written, once until they can be again; they are lost.
 * @throws MM_IO when it cannot be written from the start
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
 * As Apache writes what clients sent: quotes, backslashes and what cannot be printed are escaped. Characters up to 255
 * are bytes, as Node reads headers.
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
