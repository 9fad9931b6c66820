import { once } from "node:events";
import { isIP, type Socket } from "node:net";
import * as http from "node:http";
import * as https from "node:https";
import { asError, isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { Networks } from "./networks.ts";
import { bareHost } from "./private-address.ts";

/** A server that requests are sent through. */
export interface Proxy {
  /** For messages: without the password. */
  readonly name: string;
  /** Whether it is spoken to over TLS. */
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`, where its address names a user. */
  readonly authorization: string | undefined;
}

/** The members of `URL` that decide which proxy is used. */
export type ProxiedAddress = Pick<URL, "protocol" | "hostname" | "port">;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Which requests go through which proxy, by the variables that curl and Go know: `HTTPS_PROXY` and
 * `HTTP_PROXY` by the scheme of the request, `ALL_PROXY` where that is not set, and `NO_PROXY` for
 * hosts to be reached without. Names in lower case come first.
 *
 * This machine is never reached through a proxy, which would take itself for it.
 */
export class ProxySettings {
  readonly #http: Proxy | undefined;
  readonly #https: Proxy | undefined;
  readonly #exceptions: readonly Exception[];

  private constructor(env: Environment) {
    const all = proxyOf(env, "ALL_PROXY");
    this.#http = proxyOf(env, "HTTP_PROXY") ?? all;
    this.#https = proxyOf(env, "HTTPS_PROXY") ?? all;
    const [, list = ""] = variable(env, "NO_PROXY") ?? [];
    this.#exceptions = list
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(exceptionOf);
  }

  /**
   * The settings of an environment; undefined where it names no proxy.
   *
   * @throws MM_USAGE for a proxy that is not an address of http or https.
   */
  static of(env: Environment): ProxySettings | undefined {
    const settings = new ProxySettings(env);
    return settings.#http === undefined && settings.#https === undefined ? undefined : settings;
  }

  /** The proxy for an address; undefined where it is to be reached directly. */
  proxyFor({ protocol, hostname, port }: ProxiedAddress): Proxy | undefined {
    const isSecure = protocol === "https:";
    const proxy = isSecure ? this.#https : this.#http;
    if (proxy === undefined) return undefined;
    const host = bareHost(hostname).toLowerCase();
    if (isThisMachine(host)) return undefined;
    const number = port === "" ? (isSecure ? "443" : "80") : port;
    return this.#exceptions.some((isException) => isException(host, number)) ? undefined : proxy;
  }
}

/** Whether a host, and the port it is asked at, is to be reached directly. */
type Exception = (host: string, port: string) => boolean;

const LOOPBACK = new Networks(["127.0.0.0/8", "::1"]);

function isThisMachine(host: string): boolean {
  return LOOPBACK.has(host) || host === "localhost" || host.endsWith(".localhost");
}

/** The value of a variable and the name it was found by. */
function variable(env: Environment, name: string): [name: string, value: string] | undefined {
  for (const each of [name.toLowerCase(), name]) {
    const value = env[each];
    if (value !== undefined && value !== "") return [each, value];
  }
  return undefined;
}

function proxyOf(env: Environment, name: string): Proxy | undefined {
  const [found, text] = variable(env, name) ?? [];
  if (found === undefined || text === undefined) return undefined;
  const address = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    // Without the text: it may have a password.
    throw new MementoMapError(
      "MM_USAGE",
      `${found} is not the URL of a proxy; write http://HOST:PORT, or https:// for TLS`,
    );
  }
  const isSecure = url.protocol === "https:";
  return {
    name: url.origin,
    isSecure,
    hostname: bareHost(url.hostname),
    port: Number(url.port) || (isSecure ? 443 : 80),
    authorization: basicAuthorization(url),
  };
}

/** What an address with a user name and a password is asked with; undefined where it has none. */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  // Any bytes may be encoded; a percent sign that encodes none stands for itself.
  const user = `${username}:${password}`.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return `Basic ${Buffer.from(user, "latin1").toString("base64")}`;
}

/**
 * `*`; `example.org`, also for what is below it; `.example.org`, only for that; an address or a range
 * of addresses, `10.0.0.0/8`; and behind names and addresses perhaps a port.
 */
function exceptionOf(text: string): Exception {
  if (text === "*") return () => true;
  const [, address = "", bits] = /^\[?([\da-f.:]+?)\]?(\/\d+)$/i.exec(text) ?? [];
  if (isIP(address) !== 0) {
    const range = new Networks();
    if (range.add(`${address}${bits}`)) return (host) => range.has(host);
    throw new MementoMapError("MM_USAGE", `NO_PROXY has ${quote(text)}, which is not a range`);
  }
  const withPort = isIP(text) === 6 ? null : /^(.*):(\d+)$/.exec(text);
  const [, named = text, port] = withPort ?? [];
  const name = named
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/^\*(?=\.)/, "")
    .toLowerCase();
  const isBelow = (host: string): boolean =>
    name.startsWith(".") ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
  return (host, asked) => (port === undefined || port === asked) && isBelow(host);
}

/** What the proxy says of hosts that it does not reach. */
const UNREACHABLE: ReadonlySet<number> = new Set([502, 503, 504]);

export interface TunnelOptions {
  readonly timeoutMs: number;
  /** Aborted when nobody wants it any more. */
  readonly signal: AbortSignal;
}

/**
 * Opens a connection to a host through a proxy (`CONNECT`), for TLS to be spoken in it.
 *
 * @throws MM_HTTP when the proxy does not reach the host; an error of {@link proxyError} when it is the
 *   proxy that fails.
 */
export async function openTunnel(
  proxy: Proxy,
  target: { readonly hostname: string; readonly port: number },
  { timeoutMs, signal }: TunnelOptions,
): Promise<Socket> {
  const { hostname, port } = target;
  const { authorization } = proxy;
  const authority = `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`;
  const request = (proxy.isSecure ? https : http).request({
    host: proxy.hostname,
    port: proxy.port,
    method: "CONNECT",
    path: authority,
    headers: {
      Host: authority,
      ...(authorization === undefined ? {} : { "Proxy-Authorization": authorization }),
    },
    // Node would take the `Host` of the request.
    servername: isIP(proxy.hostname) === 0 ? proxy.hostname : "",
    agent: false,
    signal,
  });
  const timer = setTimeout(() => {
    request.destroy(proxyError(proxy, `made no connection within ${timeoutMs / 1000} s`));
  }, timeoutMs);
  request.end();
  try {
    const [{ statusCode = 0 }, stream, head] = (await once(request, "connect")) as Connected;
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) stream.unshift(head);
      return stream;
    }
    stream.destroy();
    if (!UNREACHABLE.has(statusCode)) throw proxyAnswered(proxy, statusCode);
    const message = `the proxy ${proxy.name} cannot reach the host (status ${statusCode})`;
    const position = { source: authority };
    throw new MementoMapError("MM_HTTP", message, { position, reason: "connect" });
  } catch (error) {
    throw unreachable(proxy, asError(error));
  } finally {
    clearTimeout(timer);
  }
}

/** What the event `connect` of a request is emitted with. */
type Connected = [response: http.IncomingMessage, stream: Socket, head: Buffer];

/** The code of errors that are the proxy's, and say nothing about the host behind it. */
export const PROXY_ERROR_CODE = "ERR_PROXY";

/** The code of those that stay until the settings change. */
export const PROXY_REFUSAL_CODE = "ERR_PROXY_REFUSAL";

/** An error of the proxy itself. */
function proxyError({ name }: Proxy, message: string, cause?: unknown): Error {
  const error = new Error(`the proxy ${name} ${message}`, { cause });
  return Object.assign(error, { code: PROXY_ERROR_CODE });
}

/** An error of the connection to a proxy. */
export function unreachable(proxy: Proxy, error: Error): Error {
  const { code } = error as NodeJS.ErrnoException; // undefined for others
  const isKnown = code === PROXY_ERROR_CODE || code === PROXY_REFUSAL_CODE;
  if (isKnown || isMementoMapError(error)) return error;
  return proxyError(proxy, `cannot be reached (${code ?? error.message})`, error);
}

/** An error of a proxy that answers with a status of its own. */
export function proxyAnswered(proxy: Proxy, status: number): Error {
  const text =
    status === 407
      ? "wants to know who asks; write http://USER:PASSWORD@HOST:PORT"
      : `refuses the connection with status ${status}`;
  const error = proxyError(proxy, text);
  return status < 500 ? Object.assign(error, { code: PROXY_REFUSAL_CODE }) : error;
}
