import { createServer, type AddressInfo, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { connector } from "../../src/http/connect.ts";
import { ConnectionPool } from "../../src/http/connection-pool.ts";
import type { Hop, ResponseHandler } from "../../src/http/connection.ts";
import { networkFailure } from "../../src/http/network-failure.ts";

/** A server that gets each piece of each connection, until the test ends; gives its port. */
async function rawServer(onData: (socket: Socket, text: string) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => onData(socket, bytes.toString("latin1")));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function poolTo(port: number, connections: number): ConnectionPool {
  const pool = new ConnectionPool({
    target: { hostname: "127.0.0.1", port, isSecure: false },
    host: "a.test",
    connect: connector({ timeoutMs: 1000 }),
    connections,
    maxHeadBytes: 10_000,
    keptMs: 5000,
    maxKeptMs: 5000,
  });
  onTestFinished(() => pool.destroy());
  return pool;
}

/** Asks, and gives what becomes of it: the body, or the reason why there is none. */
function ask(
  pool: ConnectionPool,
  path: string,
  onData: (hop: Hop | undefined, handler: ResponseHandler) => void = () => undefined,
): Promise<string> {
  return new Promise((resolve) => {
    let body = "";
    let hop: Hop | undefined;
    const handler: ResponseHandler = {
      isUnwanted: false,
      onConnect: (under) => {
        hop = under;
      },
      onHead: () => undefined,
      onData: (chunk) => {
        body += Buffer.from(chunk).toString("latin1");
        onData(hop, handler);
        return true;
      },
      onComplete: () => resolve(body),
      onError: (error) => resolve(networkFailure(error, "").reason),
    };
    pool.dispatch({ method: "GET", path, headers: [] }, handler);
  });
}

/**
 * A server in a thread, which goes on while this one is busy. It sends pieces for each request of a connection, and
 * perhaps ends the first connection.
 */
async function serverOfPieces(
  answers: readonly (readonly string[])[],
  endsFirst = false,
): Promise<number> {
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    const server = require("node:net").createServer((socket) => {
      socket.setNoDelay(true).on("error", () => undefined);
      if (workerData.endsFirst) setTimeout(() => socket.end(), 5);
      workerData.endsFirst = false;
      let requests = 0;
      socket.on("data", async () => {
        for (const piece of workerData.answers[requests++] ?? []) {
          socket.write(piece);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      });
    });
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(code, { eval: true, workerData: { answers, endsFirst } });
  onTestFinished(async () => {
    await worker.terminate();
  });
  return new Promise((resolve) => {
    worker.once("message", resolve);
  });
}

function beBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("connections to a server", () => {
  it("are not used again when a request was ended by the last piece of its answer", async () => {
    const port = await rawServer((socket) => socket.write(OK));
    const pool = poolTo(port, 1);
    expect(await ask(pool, "/1", (hop, handler) => hop?.abort(handler))).toBe("internal");
    expect(await ask(pool, "/2")).toBe("ok");
  });

  it("are not used when they were ended before they had a request", async () => {
    const pool = poolTo(await serverOfPieces([[OK]], true), 1);
    await new Promise<void>((resolve) => {
      const ended: ResponseHandler = {
        isUnwanted: true,
        onConnect: (hop) => hop.abort(ended),
        onHead: () => undefined,
        onData: () => true,
        onComplete: () => undefined,
        onError: () => resolve(),
      };
      pool.dispatch({ method: "GET", path: "/", headers: [] }, ended);
    });
    beBusy(300);
    expect(await ask(pool, "/")).toBe("ok");
  });

  it("are not made for requests that nobody wants any more", async () => {
    const attempts: ((error: Error) => void)[] = [];
    const pool = new ConnectionPool({
      target: { hostname: "a.test", port: 80, isSecure: false },
      host: "a.test",
      connect: (_target, _onread, callback) => void attempts.push(callback),
      connections: 1,
      maxHeadBytes: 10_000,
      keptMs: 5000,
      maxKeptMs: 5000,
    });
    let unwanted = 0;
    const ended = {
      isUnwanted: true,
      onConnect: (hop: Hop) => hop.abort(ended),
      onHead: () => undefined,
      onData: () => true,
      onComplete: () => undefined,
      onError: () => void unwanted++,
    };
    for (let i = 0; i < 5000; i++) {
      pool.dispatch({ method: "GET", path: "/", headers: [] }, ended);
    }
    const wanted = ask(pool, "/");
    const fault = Object.assign(new Error("no"), { code: "ETIMEDOUT" });
    // The first one was being connected, and the second is for the one that is wanted.
    for (let i = 0; i < 2; i++) attempts[i]?.(fault);
    expect([unwanted, attempts.length]).toEqual([5000, 2]);
    expect(await wanted).toBe("connect-timeout");
  });

  it.each(["waits", "comes at once"])(
    "have no answer for a request that %s which was there before it was sent",
    async (which) => {
      const port = await serverOfPieces([[OK, OK.replace("ok", "no")]]);
      const pool = poolTo(port, 1);
      const first = ask(pool, "/1", () => beBusy(300));
      if (which !== "waits") await first;
      // The answer of a new connection, which is the first one there.
      expect(await ask(pool, "/2")).toBe("ok");
    },
  );

  it("have none of those either when one was ended before it was sent", async () => {
    const port = await serverOfPieces([[OK], [OK, OK.replace("ok", "no")]]);
    const pool = poolTo(port, 1);
    expect(await ask(pool, "/1")).toBe("ok");
    let hop: Hop | undefined;
    const ended: ResponseHandler = {
      isUnwanted: false,
      onConnect: (under) => {
        hop = under;
      },
      onHead: () => undefined,
      onData: () => true,
      onComplete: () => undefined,
      onError: () => undefined,
    };
    pool.dispatch({ method: "GET", path: "/", headers: [] }, ended);
    // It would be sent with the next one of these.
    await new Promise(setImmediate);
    hop?.abort(ended);
    const second = ask(pool, "/2", () => beBusy(300));
    const third = ask(pool, "/3");
    // The answer to the second one comes while this is busy.
    setImmediate(() => beBusy(50));
    expect([await second, await third]).toEqual(["ok", "ok"]);
  });
});
