import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import type { Certificate } from "./certificates.ts";

export interface ForwardProxy {
  /** `127.0.0.1:3128` */
  readonly address: string;
  /** Requests so far: `GET http://a.test/x` or `CONNECT a.test:443`. */
  readonly requests: string[];
}

/**
 * A local proxy that resolves only the given hosts, until the test ends. Others are unreachable.
 *
 * @param hosts local ports by `name:port`.
 * @param user the required user name and password.
 * @param certificate makes it a TLS proxy.
 */
export async function forwardProxy(
  hosts: Readonly<Record<string, number>>,
  user?: string,
  certificate?: Certificate,
): Promise<ForwardProxy> {
  const requests: string[] = [];
  const expected = user === undefined ? undefined : `Basic ${btoa(user)}`;
  const portOf = (incoming: IncomingMessage, authority: string): number => {
    requests.push(`${incoming.method} ${incoming.url}`);
    if (incoming.headers["proxy-authorization"] !== expected) return -407;
    return hosts[authority] ?? -502;
  };
  const forward = (incoming: IncomingMessage, response: ServerResponse): void => {
    const [, authority = "", path = ""] = /^http:\/\/([^/]*)(.*)$/.exec(incoming.url ?? "") ?? [];
    const port = portOf(incoming, authority.includes(":") ? authority : `${authority}:80`);
    if (port < 0) {
      response.writeHead(-port).end();
      return;
    }
    const { "proxy-authorization": _secret, ...headers } = incoming.headers;
    const outgoing = request({ port, path, method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    outgoing.end();
  };
  const server =
    certificate === undefined
      ? createServer(forward)
      : createSecureServer({ ...certificate }, forward);
  const sockets = new Set<Duplex>();
  server.on("connect", (incoming: IncomingMessage, client: Duplex) => {
    const port = portOf(incoming, incoming.url ?? "");
    client.on("error", () => undefined);
    if (port < 0) {
      client.end(`HTTP/1.1 ${-port} No\r\nConnection: close\r\n\r\n`);
      return;
    }
    const host = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      host.pipe(client).pipe(host);
    });
    host.on("error", () => client.destroy());
    for (const socket of [client, host]) sockets.add(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** The port of an address. */
export function portOf(url: string): number {
  return Number(new URL(url).port);
}
