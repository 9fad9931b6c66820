import type { LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { Proxy } from "../../http/proxy-settings.ts";
import { refusedName } from "../../http/refused-name.ts";
import { openTunnel, unreachable } from "../../http/tunnel.ts";

export interface ProxyConnectorOptions {
  readonly timeoutMs: number;
  /** Fails for names that lead where nobody may go. */
  readonly lookup: LookupFunction;
  /** Whether the origin may be anywhere. */
  readonly isTrusted: () => boolean;
}

/**
 * Makes undici connect to an origin through a proxy: by a tunnel for https, and for http to the proxy
 * itself, which requests then have to name the whole address to.
 */
export function proxyConnector(
  proxy: Proxy,
  { timeoutMs, lookup, isTrusted }: ProxyConnectorOptions,
): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  const toProxy = {
    hostname: proxy.hostname,
    host: proxy.hostname,
    protocol: proxy.isSecure ? "https:" : "http:",
    port: String(proxy.port),
  };
  return (options, callback) => {
    const { hostname, protocol } = options;
    const fail = (error: Error): void => callback(error, null);
    const port = Number(options.port) || (protocol === "https:" ? 443 : 80);
    const begin = async (): Promise<void> => {
      const refused = isTrusted() ? undefined : await refusedName(hostname, lookup);
      if (refused !== undefined) {
        fail(refused);
      } else if (protocol === "https:") {
        const httpSocket = await openTunnel(proxy, { hostname, port }, timeoutMs);
        connect({ ...options, httpSocket }, callback);
      } else {
        connect(toProxy, (error, socket) => {
          if (error === null) callback(null, socket);
          else fail(unreachable(proxy, error));
        });
      }
    };
    begin().catch(fail);
  };
}
