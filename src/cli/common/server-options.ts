import { quote } from "../../errors.ts";
import type { OptionTable } from "./command-line.ts";
import { pathPrefix } from "../../http/target.ts";
import { TrustedProxies } from "../../http/forwarded.ts";
import { misuse, option } from "./options.ts";

/** What a service can write to its log. */
export const SERVER_LOGS = ["requests", "events", "nothing"] as const;

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
  "combined-log": {
    value: "FILE",
    help: "Also log requests to this file, in the Combined Log Format of Apache and nginx; - for standard output.",
  },
  "metrics-port": option.port(
    "Serve /metrics (and /health) on this port, and /metrics no longer on the main port; 0 selects any free port.",
  ),
  "metrics-host": {
    value: "ADDRESS",
    default: "127.0.0.1",
    help: "The address that --metrics-port listens on.",
  },
} as const satisfies OptionTable;

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
