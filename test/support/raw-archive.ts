import { createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { LookupFunction } from "node:net";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import type { GetRequest, TakeBody } from "../../src/http/client.ts";
import type { ResponseHead } from "../../src/http/http-client.ts";
import { NodeClient } from "../../src/http/node-client.ts";
import type { ProxySettings } from "../../src/http/proxy.ts";

/** A local archive with responses given byte for byte. */
export interface RawArchive {
  readonly origin: string;
  readonly archive: WholeArchive;
  /** The raw heads of all requests so far. */
  readonly heads: string[];
  /** Connections made so far. */
  readonly connections: () => number;
}

/** Sends bytes one at a time, yielding to the event loop in between. */
export function drip(socket: Socket, bytes: string): void {
  if (bytes === "") return;
  socket.setNoDelay(true).write(bytes.slice(0, 1), "latin1");
  setImmediate(drip, socket, bytes.slice(1));
}

/** `answer` is called for every request with the connection and the index of the request. */
export async function rawArchive(
  answer: (socket: Socket, number: number, head: string) => void,
  members: Partial<WholeArchive> = {},
): Promise<RawArchive> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined); // disconnects are part of many tests
    socket.once("close", () => sockets.delete(socket));
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
        const head = text.slice(0, end);
        text = text.slice(end + 4);
        heads.push(head);
        answer(socket, heads.length - 1, head);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    archive: archiveAt(origin, members),
    heads,
    connections: () => connections,
  };
}

/** An archive with both endpoints. */
export interface WholeArchive extends Archive {
  readonly timemap: string;
  readonly timegate: string;
}

function archiveAt(origin: string, members: Partial<WholeArchive> = {}): WholeArchive {
  return {
    id: "raw",
    name: "Raw",
    timemap: `${origin}/timemap/`,
    timegate: `${origin}/timegate/`,
    probability: undefined,
    mementomap: undefined,
    timeoutMs: undefined,
    from: undefined,
    until: undefined,
    concurrency: undefined,
    rate: undefined,
    ...members,
  };
}

/** A complete HTTP/1.1 response. */
export function httpAnswer(
  status: number,
  body: string = "",
  headers: Readonly<Record<string, string>> = {},
): string {
  const fields = Object.entries({ "Content-Length": String(body.length), ...headers });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${status} X\r\n${lines}\r\n${body}`;
}

/** Options of a test client. */
interface GettingOptions {
  /** Origins for which private addresses are allowed. */
  readonly trusted?: readonly string[];
  readonly allowsPrivate?: boolean;
  readonly lookup?: LookupFunction;
  readonly proxies?: ProxySettings | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  readonly totalTimeoutMs?: number;
}

/** A response, with one character per byte of the body. */
interface Gotten extends ResponseHead {
  readonly body: string;
}

export type Get = (
  request: Partial<GetRequest> & { url: string },
  take?: TakeBody,
) => Promise<Gotten>;

/** A client configured as for archives, closed when the test ends. */
export function getting(options: GettingOptions = {}): Get {
  const { trusted, headers = {}, ...others } = options;
  const client = new NodeClient({ trustedOrigins: trusted, headers, connections: 1, ...others });
  onTestFinished(() => client.close());
  return async (request, take) => {
    const { headersTimeoutMs = 30_000, totalTimeoutMs = 60_000 } = options;
    let body = "";
    const taker: TakeBody = () => (chunk) => (body += Buffer.from(chunk).toString("latin1"));
    const until = performance.now() + totalTimeoutMs;
    const all = { maxBytes: 1_000_000, headersTimeoutMs, until, ...request };
    const head = await client.get(all, take ?? taker);
    return { ...head, body };
  };
}
