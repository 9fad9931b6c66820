import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { listen } from "../../src/http/listen.ts";
import { SocketForward } from "../../src/http/socket-forward.ts";
import { Stop } from "../../src/aggregate/upstream.ts";
import { scratchDir } from "../support/scratch.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The address of a server that forwards all to another one, and answers 299 itself where that fails. */
async function forwarding(answer: Answer): Promise<string> {
  const socket = join(scratchDir(), "owner.socket");
  const owner = await listen(
    {
      handle(request, response) {
        answer(request, response);
        return true;
      },
      handleUnknown: () => undefined,
    },
    { socket },
  );
  const forward = new SocketForward(socket, { connections: 4, timeoutMs: 10_000 });
  const front = createServer((request, response) => {
    const signal = new Stop();
    response.once("close", () => signal.abort(undefined));
    forward.forward({
      request,
      response,
      headers: ["x-own", "1"],
      signal,
      onFailed: () => void response.writeHead(299).end(),
    });
  });
  await new Promise<void>((resolve) => {
    front.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    forward.close();
    front.closeAllConnections();
    front.close();
    await owner.stop();
  });
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
}

/** What a client gets: the status, and how many bytes before the end or the connection was cut. */
function ask(url: string): Promise<{ status: number; bytes: number; isCut: boolean }> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      const end = (isCut: boolean): void =>
        resolve({ status: response.statusCode ?? 0, bytes, isCut });
      response.on("end", () => end(false));
      response.on("error", () => end(true));
    }).on("error", reject);
  });
}

const MIB = 2 ** 20;

describe.skipIf(process.platform === "win32")("a request that is forwarded", () => {
  it("arrives as it was sent, and its answer too", async () => {
    const url = await forwarding(({ url: target, method, headers }, response) => {
      const { "x-own": own, prefer, host } = headers;
      response.writeHead(203, { "X-A": ["1", "2"], "Content-Type": "text/plain" });
      response.end(JSON.stringify({ target, method, own, prefer, isHost: host !== undefined }));
    });
    const answer = await fetch(`${url}/timemap/link/http://a.test//b%2F?c=d&e`, {
      headers: { Prefer: "routing=off", "X-Own": "forged" },
    });
    expect(answer.status).toBe(203);
    expect(answer.headers.get("x-a")).toBe("1, 2");
    expect(await answer.json()).toEqual({
      target: "/timemap/link/http://a.test//b%2F?c=d&e",
      method: "GET",
      own: "1",
      prefer: "routing=off",
      isHost: true,
    });
    expect((await fetch(url, { method: "HEAD" })).status).toBe(203);
  });

  it("gets a long answer whole", async () => {
    const url = await forwarding((_request, response) => {
      for (let count = 0; count < 24; count++) response.write(Buffer.alloc(MIB / 2));
      response.end();
    });
    expect(await ask(url)).toEqual({ status: 200, bytes: 12 * MIB, isCut: false });
  });

  it("is answered here where the other process dies before a short answer is whole", async () => {
    const url = await forwarding((_request, response) => {
      response.writeHead(200, { "Content-Length": String(MIB) });
      response.write(Buffer.alloc(MIB / 2), () => response.destroy());
    });
    expect(await ask(url)).toEqual({ status: 299, bytes: 0, isCut: false });
  });

  it("is cut where the other process dies within a long answer", async () => {
    const url = await forwarding((_request, response) => {
      response.writeHead(200, { "Content-Length": String(9 * MIB) });
      response.write(Buffer.alloc(4 * MIB), () => response.destroy());
    });
    expect(await ask(url)).toMatchObject({ status: 200, isCut: true });
  });

  it("is answered here where nobody listens", async () => {
    const url = await forwarding((request) => request.socket.destroy());
    expect(await ask(url)).toMatchObject({ status: 299 });
  });
});
