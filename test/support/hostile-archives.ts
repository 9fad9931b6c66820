import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import { certificateAuthority } from "./certificates.ts";
import { linkTimeMap } from "./scripted-upstream.ts";
import { archive } from "./sessions.ts";

/** A kind of misbehaviour, and the failure that the service reports for it. */
export interface Misbehaviour {
  readonly name: string;
  /** The failure in `X-MementoMap-Missing`; `hit` or `miss` if the response is usable. */
  readonly says: string;
  /** Called for every request of a connection, or for every connection. */
  readonly onRequest?: ((socket: Socket, head: string, port: number) => void) | undefined;
  readonly onConnect?: ((socket: Socket) => void) | undefined;
  readonly tls?: { readonly cert: string; readonly key: string } | "none" | undefined;
}

const DAY_MS = 86_400_000;
const authority = certificateAuthority("Nobody");
const GZIP = "Content-Encoding: gzip\r\n";
const TIMEMAP = linkTimeMap("http://example.org/", "http://a.example/web/", ["20140101000000"]);

function http(
  body: string | Uint8Array = "",
  { status = 200, fields = "", length = Buffer.byteLength(body) } = {},
): Buffer {
  const type = "Content-Type: application/link-format\r\n";
  const head = `HTTP/1.1 ${status} X\r\n${type}${fields}Content-Length: ${length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
}

function sends(bytes: string | Uint8Array, andThen: (socket: Socket) => void = () => undefined) {
  return (socket: Socket): void => {
    socket.write(bytes, () => andThen(socket));
  };
}

function redirects(location: string): (socket: Socket) => void {
  const head = `HTTP/1.1 302 X\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
  return sends(Buffer.from(head, "latin1"));
}

/** Repeats a chunk as fast as it is read, until the connection is closed. */
function repeats(first: string | Uint8Array, then: string | Uint8Array): (socket: Socket) => void {
  return (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(then));
    };
    socket.on("drain", more);
    socket.write(first);
    more();
  };
}

const CHUNKED = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n";
const mementoLink = (uri: string, date: string): string =>
  `<${uri}>; rel="memento"; datetime="${date}"`;
const DATE = "Wed, 01 Jan 2014 00:00:00 GMT";

/** Names are also host names in an archive list. */
export const MISBEHAVIOURS: readonly Misbehaviour[] = [
  // DNS, through redirects: the address of the archive itself works.
  { name: "nxdomain", says: "dns", onRequest: redirects("http://no-such-host.invalid/") },
  { name: "no-addresses", says: "dns", onRequest: redirects("http://empty.test/") },
  { name: "resolver-throws", says: "internal", onRequest: redirects("http://throws.test/") },
  {
    name: "resolver-garbage",
    says: "private-address",
    onRequest: redirects("http://garbage.test/"),
  },
  { name: "private-name", says: "private-address", onRequest: redirects("http://private.test/") },
  { name: "many-addresses", says: "private-address", onRequest: redirects("http://many.test/") },
  { name: "long-name", says: "dns", onRequest: redirects(`http://${"a".repeat(300)}.invalid/`) },
  // TCP
  { name: "reset-at-connect", says: "reset", onConnect: (socket) => socket.resetAndDestroy() },
  { name: "close-at-connect", says: "reset", onConnect: (socket) => socket.end() },
  { name: "reset-at-request", says: "reset", onRequest: (socket) => socket.resetAndDestroy() },
  {
    name: "reset-in-head",
    says: "reset",
    onRequest: sends("HTTP/1.1 200 OK\r\nContent-", (socket) => socket.resetAndDestroy()),
  },
  {
    name: "reset-in-body",
    says: "reset",
    onRequest: sends(http("<http", { length: 100 }), (socket) => socket.resetAndDestroy()),
  },
  { name: "half-close", says: "reset", onRequest: (socket) => socket.end() },
  { name: "silence", says: "timeout", onRequest: () => undefined },
  { name: "silence-in-body", says: "timeout", onRequest: sends(http("<", { length: 100 })) },
  {
    name: "drip-head",
    says: "timeout",
    onRequest: (socket) => drip(socket, "HTTP/1.1 200 OK\r\nX: ", "a"),
  },
  {
    name: "drip-body",
    says: "timeout",
    onRequest: (socket) => drip(socket, http("", { length: 100_000 }), "<"),
  },
  { name: "greets-first", says: "bad-http", onConnect: sends("220 mail.example ESMTP\r\n") },
  // TLS
  {
    name: "tls-garbage",
    says: "tls",
    tls: "none",
    onConnect: sends("HTTP/1.1 400 No TLS\r\n\r\n"),
  },
  { name: "tls-stall", says: "connect-timeout", tls: "none", onConnect: () => undefined },
  { name: "tls-self-signed", says: "tls", tls: authority.issue(["127.0.0.1"]) },
  {
    name: "tls-expired",
    says: "tls",
    tls: authority.issue(["127.0.0.1"], {
      from: new Date(Date.now() - 10 * DAY_MS),
      until: new Date(Date.now() - DAY_MS),
    }),
  },
  { name: "tls-other-name", says: "tls", tls: authority.issue(["other.example"]) },
  {
    name: "tls-reset",
    says: "reset",
    tls: "none",
    onConnect: (socket) => void socket.once("data", () => socket.resetAndDestroy()),
  },
  // HTTP
  { name: "http-0.9", says: "bad-http", onRequest: sends(TIMEMAP, (socket) => socket.end()) },
  { name: "bad-status-line", says: "bad-http", onRequest: sends("HTTP/1.1 2000 OK\r\n\r\n") },
  { name: "http-3.1", says: "bad-http", onRequest: sends("HTTP/3.1 200 OK\r\n\r\n") },
  {
    name: "interim-flood",
    says: "bad-http",
    onRequest: repeats("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(20)),
  },
  { name: "continue", says: "bad-http", onRequest: sends("HTTP/1.1 100 Continue\r\n\r\n") },
  {
    name: "upgrade",
    says: "bad-http",
    onRequest: sends("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"),
  },
  {
    name: "huge-header",
    says: "header-limit",
    onRequest: repeats("HTTP/1.1 200 OK\r\nX: ", "x".repeat(16_384)),
  },
  {
    name: "many-headers",
    says: "header-limit",
    onRequest: repeats("HTTP/1.1 200 OK\r\n", "X: y\r\n".repeat(1000)),
  },
  {
    name: "nul-in-header",
    says: "bad-http",
    onRequest: sends("HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n"),
  },
  {
    name: "cr-in-header",
    says: "bad-http",
    onRequest: sends("HTTP/1.1 200 OK\r\nX: a\rLocation: b\r\nContent-Length: 0\r\n\r\n"),
  },
  {
    name: "two-lengths",
    says: "bad-http",
    onRequest: sends("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
  },
  {
    name: "length-and-chunks",
    says: "bad-http",
    onRequest: sends(`${CHUNKED}Content-Length: 3\r\n\r\n0\r\n\r\n`),
  },
  {
    name: "negative-length",
    says: "bad-http",
    onRequest: sends("HTTP/1.1 200 X\r\nContent-Length: -1\r\n\r\n"),
  },
  { name: "chunk-garbage", says: "bad-http", onRequest: sends(`${CHUNKED}\r\nzz\r\n<a>`) },
  { name: "chunk-cut", says: "reset", onRequest: sends(`${CHUNKED}\r\n9\r\n<a`, (s) => s.end()) },
  {
    name: "endless-chunks",
    says: "body-limit",
    onRequest: repeats(`${CHUNKED}\r\n`, chunk(",".repeat(64)).repeat(512)),
  },
  {
    name: "endless-body",
    says: "body-limit",
    onRequest: repeats("HTTP/1.1 200 X\r\n\r\n", `,`.repeat(65_536)),
  },
  {
    name: "trailers",
    says: "hit",
    onRequest: sends(chunkedWith(TIMEMAP, "X-A: b\r\nLink: <c>\r\n")),
  },
  {
    name: "extra-answers",
    says: "hit",
    onRequest: sends(Buffer.concat([http(TIMEMAP), http("second")])),
  },
  { name: "closed-after", says: "hit", onRequest: sends(http(TIMEMAP), (socket) => socket.end()) },
  { name: "status-204", says: "status-204", onRequest: sends("HTTP/1.1 204 X\r\n\r\n") },
  { name: "status-206", says: "status-206", onRequest: sends(http(TIMEMAP, { status: 206 })) },
  { name: "status-304", says: "status-304", onRequest: sends("HTTP/1.1 304 X\r\n\r\n") },
  { name: "status-599", says: "status-599", onRequest: sends(http("", { status: 599 })) },
  {
    name: "retry-for-ever",
    says: "status-429",
    onRequest: sends(http("", { status: 429, fields: "Retry-After: 99999999999999999999\r\n" })),
  },
  {
    name: "retry-in-9999",
    says: "status-503",
    onRequest: sends(
      http("", { status: 503, fields: "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n" }),
    ),
  },
  // Encodings
  {
    name: "bad-gzip",
    says: "bad-encoding",
    onRequest: sends(http("no gzip at all", { fields: GZIP })),
  },
  {
    name: "cut-gzip",
    says: "bad-encoding",
    onRequest: sends(http(gzipSync(TIMEMAP).subarray(0, 40), { fields: GZIP })),
  },
  {
    name: "gzip-bomb",
    says: "body-limit",
    onRequest: sends(http(gzipSync(Buffer.alloc(64 * 2 ** 20, ",")), { fields: GZIP })),
  },
  {
    name: "brotli-as-gzip",
    says: "bad-encoding",
    onRequest: sends(http(brotliCompressSync(TIMEMAP), { fields: GZIP })),
  },
  {
    name: "zstd",
    says: "bad-encoding",
    onRequest: sends(http("x", { fields: "Content-Encoding: zstd\r\n" })),
  },
  {
    name: "coding-named-nonsense",
    says: "bad-encoding",
    onRequest: sends(
      http("x", { fields: "Content-Encoding: \x01, gzip, \xff\r\n".replace("\x01", "a") }),
    ),
  },
  // Redirects
  { name: "redirect-circle", says: "redirect", onRequest: (socket, head) => circle(socket, head) },
  { name: "redirect-to-file", says: "redirect", onRequest: redirects("file:///etc/passwd") },
  { name: "redirect-to-nothing", says: "redirect", onRequest: redirects("") },
  {
    name: "redirect-to-private",
    says: "private-address",
    onRequest: redirects("http://10.0.0.1/"),
  },
  {
    name: "redirect-to-metadata",
    says: "private-address",
    onRequest: redirects("http://169.254.169.254/"),
  },
  { name: "redirect-latin-1", says: "redirect", onRequest: (socket, head) => latin1(socket, head) },
  {
    name: "redirect-without-location",
    says: "status-302",
    onRequest: sends(http("", { status: 302 })),
  },
  {
    name: "choices-without-location",
    says: "status-300",
    onRequest: sends(http("", { status: 300 })),
  },
  // Links
  { name: "html", says: "bad-timemap", onRequest: sends(http("<html><body>Hello</body></html>")) },
  { name: "empty", says: "bad-timemap", onRequest: sends(http("")) },
  { name: "binary", says: "bad-timemap", onRequest: sends(http(Buffer.alloc(5000, 0xfe))) },
  {
    name: "endless-link",
    says: "bad-timemap",
    onRequest: sends(http(`<http://a/${"x".repeat(100_000)}`)),
  },
  {
    name: "too-many-mementos",
    says: "memento-limit",
    onRequest: repeats(`${CHUNKED}\r\n`, chunk(`${mementoLink("http://a/", DATE)},\n`.repeat(500))),
  },
  {
    name: "year-99999",
    says: "bad-timemap",
    onRequest: sends(http(mementoLink("http://a/", "Wed, 01 Jan 99999 00:00:00 GMT"))),
  },
  {
    name: "javascript",
    says: "miss",
    onRequest: sends(http(mementoLink("javascript:alert(1)", DATE))),
  },
  {
    name: "newline-in-uri",
    says: "hit",
    onRequest: sends(http(mementoLink("http://a/\r\nX-Injected: 1", DATE))),
  },
  {
    name: "pages-in-a-circle",
    says: "hit",
    onRequest: sends(http(`${TIMEMAP},\n</next>; rel="timemap next"; from="${DATE}"`)),
  },
  {
    name: "pages-without-end",
    says: "page-limit",
    onRequest: (socket, head, port) => {
      const next = `</${head.length}${Math.random()}>; rel="timemap"; from="${DATE}"; until="${DATE}"`;
      socket.write(http(`${TIMEMAP.replaceAll("a.example", `127.0.0.1:${port}`)},\n${next}`));
    },
  },
];

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function chunkedWith(body: string, trailers: string): string {
  return `${CHUNKED}Trailer: X-A\r\n\r\n${chunk(body)}0\r\n${trailers}\r\n`;
}

function drip(socket: Socket, first: string | Uint8Array, then: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(then), 50);
  socket.once("close", () => clearInterval(timer));
}

function circle(socket: Socket, head: string): void {
  redirects(head.includes("GET /a ") ? "/b" : "/a")(socket);
}

/** A redirect to the raw byte E9 must be followed unchanged; its target then redirects to an invalid scheme. */
function latin1(socket: Socket, head: string): void {
  if (head.startsWith("GET /caf%E9 ")) redirects("gopher://reached/")(socket);
  else if (head.startsWith("GET /caf")) socket.write(http(TIMEMAP));
  else redirects("/caf\xe9")(socket);
}

/** A hostile archive on its own port. */
export interface HostileArchive extends Misbehaviour {
  readonly archive: Archive;
}

/** Starts them all. */
export function startHostileArchives(): Promise<HostileArchive[]> {
  return Promise.all(MISBEHAVIOURS.map(startHostileArchive));
}

async function startHostileArchive(misbehaviour: Misbehaviour): Promise<HostileArchive> {
  const { name, tls, onConnect, onRequest } = misbehaviour;
  const converse = (socket: Socket): void => {
    socket.on("error", () => undefined); // disconnects are expected
    if (onConnect !== undefined) {
      onConnect(socket);
      socket.resume();
      return;
    }
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
        const head = text.slice(0, end);
        text = text.slice(end + 4);
        onRequest?.(socket, head, (server.address() as AddressInfo).port);
      }
    });
  };
  const server: Server =
    tls === undefined || tls === "none"
      ? createTcpServer({ allowHalfOpen: true }, converse)
      : createTlsServer(tls, converse).on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const scheme = tls === undefined ? "http" : "https";
  const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...misbehaviour,
    archive: archive(name, url),
  };
}
