import * as http from "node:http";
import * as https from "node:https";
import { isIP, type Socket } from "node:net";
import { MementoMapError } from "../errors.ts";
import type { Proxy } from "./proxy-settings.ts";

/** What the proxy says of hosts that it does not reach. */
const UNREACHABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Opens a connection to a host through a proxy (`CONNECT`), for TLS to be spoken in it.
 *
 * @throws MM_HTTP when the proxy does not reach the host; an error of {@link proxyError} when it is the
 *   proxy that fails.
 */
export function openTunnel(
  proxy: Proxy,
  target: { readonly hostname: string; readonly port: number },
  timeoutMs: number,
): Promise<Socket> {
  const { hostname, port } = target;
  const authority = `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.isSecure ? https : http).request({
      host: proxy.hostname,
      port: proxy.port,
      method: "CONNECT",
      path: authority,
      headers: { Host: authority, ...proxyHeaders(proxy) },
      servername: serverName(proxy),
      agent: false,
    });
    const timer = setTimeout(() => {
      request.destroy(proxyError(proxy, `made no connection within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    request.once("connect", ({ statusCode = 0 }, stream, head) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) stream.unshift(head);
        resolve(stream);
        return;
      }
      stream.destroy();
      reject(
        UNREACHABLE.has(statusCode)
          ? new MementoMapError(
              "MM_HTTP",
              `the proxy ${proxy.name} does not reach the host (status ${statusCode})`,
              { position: { source: authority }, reason: "connect" },
            )
          : proxyAnswered(proxy, statusCode),
      );
    });
    request.once("error", (error) => {
      clearTimeout(timer);
      reject(unreachable(proxy, error));
    });
    request.end();
  });
}

/** Who a proxy that is spoken to over TLS has to be; Node would take the `Host` of the request. */
export function serverName({ hostname }: Proxy): string {
  return isIP(hostname) === 0 ? hostname : "";
}

/** What every request has that is sent to a proxy itself. */
export function proxyHeaders({ authorization }: Proxy): Record<string, string> {
  return authorization === undefined ? {} : { "Proxy-Authorization": authorization };
}

/** The code of errors that are the proxy's, and say nothing about the host behind it. */
export const PROXY_ERROR_CODE = "ERR_PROXY";

/** The code of those that stay until somebody changes the settings. */
export const PROXY_REFUSAL_CODE = "ERR_PROXY_REFUSAL";

/** An error of the proxy itself. */
export function proxyError({ name }: Proxy, message: string, cause?: unknown): Error {
  const error = new Error(`the proxy ${name} ${message}`, { cause });
  return Object.assign(error, { code: PROXY_ERROR_CODE });
}

/** An error of the connection to a proxy. */
export function unreachable(proxy: Proxy, error: Error): Error {
  const { code } = error as NodeJS.ErrnoException; // undefined for others
  if (code === PROXY_ERROR_CODE || code === PROXY_REFUSAL_CODE) return error;
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
