import { appendFileSync } from "node:fs";
import { MementoMapError, quote } from "../../errors.ts";
import type { OptionTable } from "./command.ts";
import type { Io } from "./io.ts";
import { outputError } from "../../files/io-error.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { AccessLog } from "../../publish/serve/access-log.ts";
import { pathPrefix } from "../../http/target.ts";
import { TrustedProxies } from "../../publish/serve/trusted-proxies.ts";
import { parseWhole } from "./sizes.ts";

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

/**
 * What a service says on standard error.
 *
 * @throws `MM_USAGE`
 */
/** What a service can write to its log. */
export const SERVER_LOGS = ["requests", "events", "nothing"] as const;

/** Options of every service: where it is looked after. */
export const MONITORING_OPTIONS = {
  "combined-log": {
    type: "string",
    value: "FILE",
    help: "Write requests to this file too, in the Combined Log Format of Apache and nginx; - for standard output.",
  },
  "metrics-port": {
    type: "string",
    value: "N",
    help: "Answer /metrics (and /health) on this port, and /metrics no longer on the other; 0 takes any that is free.",
    parse: parsePort,
  },
  "metrics-host": {
    type: "string",
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
 * Refuses logs that would be appended to what the service reads, or to another file that is no log.
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
    type: "string",
    value: "PATH",
    help: "The path that a proxy has the service below, such as /mementos; requests may come with it or without.",
    parse: parsePathPrefix,
  },
  "trust-proxy": {
    type: "string",
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

/** {@link parseWhole} as it stands in a table of options. */
export function parseZeroUp(text: string): number {
  return parseWhole(text);
}
