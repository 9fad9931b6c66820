import * as https from "node:https";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import type { Proxy } from "./proxy-settings.ts";
import { openTunnel } from "./tunnel.ts";

/** Keeps connections of TLS through a proxy open, for `https.request`. */
export class TunnelAgent extends https.Agent {
  readonly #proxy: Proxy;
  readonly #timeoutMs: number;

  /** @param timeoutMs How long the proxy may take to make a connection. */
  constructor(proxy: Proxy, timeoutMs: number, options: https.AgentOptions) {
    super(options);
    this.#proxy = proxy;
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(
    options: https.RequestOptions,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { host, port, servername } = options;
    const target = { hostname: host ?? "", port: Number(port) };
    openTunnel(this.#proxy, target, this.#timeoutMs).then(
      (socket) => callback(null, connect({ socket, host: target.hostname, servername })),
      // Nothing is looked at besides the error.
      (error: Error) => callback(error, undefined as never),
    );
    return undefined;
  }
}
