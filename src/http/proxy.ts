import { once } from "node:events";
import { isIP, type Socket } from "node:net";
import * as http from "node:http";
import * as https from "node:https";
import { asError, isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { Networks } from "./networks.ts";
import { bareHost } from "./private-address.ts";

/** An HTTP proxy. */
export interface Proxy {
  /** For messages: without the password. */
  readonly name: string;
  /** Whether connections to the proxy use TLS. */
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`, if its URL has a user name. */
  readonly authorization: string | undefined;
}

/** The members of `URL` that select the proxy. */
export type ProxiedAddress = Pick<URL, "protocol" | "hostname" | "port">;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Selects a proxy by the environment variables of curl and Go: `HTTPS_PROXY` and `HTTP_PROXY` by the scheme of the
 * request, `ALL_PROXY` as the fallback, and `NO_PROXY` for hosts to connect to directly. Lower-case names take
 * precedence.
 *
 * Requests to localhost never use a proxy, which would connect to its own machine.
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
   * The settings of an environment; undefined if it names no proxy.
   *
   * @throws MM_USAGE for a proxy that is not an http or https URL.
   */
  static of(env: Environment): ProxySettings | undefined {
    const settings = new ProxySettings(env);
    return settings.#http === undefined && settings.#https === undefined ? undefined : settings;
  }

  /** The proxy for a URL; undefined for a direct connection. */
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

/** Whether to connect directly to a host and port. */
type Exception = (host: string, port: string) => boolean;

const LOOPBACK = new Networks(["127.0.0.0/8", "::1"]);

function isThisMachine(host: string): boolean {
  return LOOPBACK.has(host) || host === "localhost" || host.endsWith(".localhost");
}

/** The name and value of a variable, in lower or upper case. */
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
    // The value is left out: it may contain a password.
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

/** The `Authorization` value for the user name and password of a URL; undefined if it has neither. */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  // Decodes arbitrary bytes; a percent sign without two hex digits stands for itself.
  const user = `${username}:${password}`.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return `Basic ${Buffer.from(user, "latin1").toString("base64")}`;
}

/**
 * Parses `*`; `example.org`, which includes subdomains; `.example.org`, subdomains only; an address; or a range such
 * as `10.0.0.0/8`. Names and addresses may have a port.
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
  return (host, actualPort) => (port === undefined || port === actualPort) && isBelow(host);
}

/** Status codes of a proxy for hosts that it cannot reach. */
const UNREACHABLE: ReadonlySet<number> = new Set([502, 503, 504]);

export interface TunnelOptions {
  readonly timeoutMs: number;
  /** Cancels the attempt. */
  readonly signal: AbortSignal;
}

/**
 * Opens a tunnel to a host through a proxy (`CONNECT`), for a TLS connection.
 *
 * @throws MM_HTTP when the proxy cannot reach the host; an error of {@link proxyError} when the proxy itself fails.
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
    // By default Node would use the `Host` of the request.
    servername: isIP(proxy.hostname) === 0 ? proxy.hostname : "",
    agent: false,
    signal,
  });
  const timer = setTimeout(() => {
    request.destroy(proxyError(proxy, `did not connect within ${timeoutMs / 1000} s`));
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

/** The arguments of a request's `connect` event. */
type Connected = [response: http.IncomingMessage, stream: Socket, head: Buffer];

/** The code of errors of the proxy itself, not of the host behind it. */
export const PROXY_ERROR_CODE = "ERR_PROXY";

/** The code of proxy errors that persist until the settings change. */
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

/** The error for a proxy that responds with its own error status. */
export function proxyAnswered(proxy: Proxy, status: number): Error {
  const text =
    status === 407
      ? "requires authentication; write http://USER:PASSWORD@HOST:PORT"
      : `rejected the connection (status ${status})`;
  const error = proxyError(proxy, text);
  return status < 500 ? Object.assign(error, { code: PROXY_REFUSAL_CODE }) : error;
}
