import { connect, type Socket } from "node:net";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { inTurn, sendReply } from "../../src/http/send.ts";
import type { Reply } from "../../src/http/reply.ts";
import { rawExchange } from "../support/raw-http.ts";

/** A server that answers as a test says; counts the replies that were begun and not yet ended. */
async function answering(
  answer: (target: string) => Reply,
  maxChunkMs?: number,
): Promise<{ readonly url: string; readonly most: () => number; readonly ended: () => number }> {
  let [open, most, ended] = [0, 0, 0];
  const server = createServer((request, response) => {
    inTurn(request, response, () => {
      open += 1;
      most = Math.max(most, open);
      response.prependOnceListener("close", () => {
        open -= 1;
        ended += 1;
      });
      sendReply(response, answer(request.url ?? ""), maxChunkMs).catch(() => undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, most: () => most, ended: () => ended };
}

function reply(body: Reply["body"]): Reply {
  return { status: 200, headers: { "Content-Type": "text/plain" }, body };
}

function deaf(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined).pause();
  onTestFinished(() => void socket.destroy());
  return socket;
}

const requests = (count: number): string =>
  Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`).join("");

describe("sendReply", () => {
  it("sends texts, bytes and streams of any length", async () => {
    const long = "0123456789".repeat(50_000);
    const bodies: Readonly<Record<string, () => Reply["body"]>> = {
      "/text": () => long,
      "/bytes": () => Buffer.from(long),
      "/short": () => "short",
      "/stream": async function* () {
        for (let at = 0; at < long.length; at += 1000) yield Buffer.from(long.slice(at, at + 1000));
      },
    };
    const { url } = await answering((target) => reply(bodies[target]?.()));
    for (const path of ["/text", "/bytes", "/stream"]) {
      expect(await (await fetch(url + path)).text()).toBe(long);
    }
    expect(await (await fetch(`${url}/short`)).text()).toBe("short");
  });

  it("answers 500 where headers cannot be sent, and cuts a body that fails", async () => {
    const { url } = await answering((target) =>
      target === "/bad"
        ? { status: 200, headers: { "X-Bad": "line\nline" } }
        : reply(
            (async function* () {
              yield Buffer.from("some");
              throw new Error("the rest cannot be read");
            })(),
          ),
    );
    expect((await fetch(`${url}/bad`)).status).toBe(500);
    await expect(fetch(`${url}/cut`).then((response) => response.text())).rejects.toThrow(
      "terminated",
    );
  });

  it("makes one response at a time for pipelined requests, in their order", async () => {
    const { url, most } = await answering((target) => reply(`${target} `));
    const last = "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const answer = await rawExchange(url, requests(500) + last);
    const expected = Array.from({ length: 500 }, (_, i) => `/${i} `).concat("/last ");
    expect(answer.match(/^\/\w+ /gm)).toEqual(expected);
    expect(most()).toBe(1);
  });

  it("makes no more than one response for a client that pipelines and does not read", async () => {
    let begun = 0;
    const { url, most } = await answering(() => {
      begun += 1;
      return reply("x".repeat(8 * 2 ** 20));
    });
    const clients = Array.from({ length: 5 }, () => deaf(url));
    for (const client of clients) client.write(requests(1000));
    await expect.poll(() => begun).toBe(5);
    expect((await (await fetch(url)).text()).length).toBe(8 * 2 ** 20);
    expect(begun).toBe(6);
    expect(most()).toBeLessThanOrEqual(6);
  });

  it("disconnects a reader that takes too little, and releases what it held", async () => {
    let released = 0;
    const { url, ended } = await answering(
      () => ({ ...reply("x".repeat(64 * 2 ** 20)), release: async () => void (released += 1) }),
      50,
    );
    deaf(url).write(requests(1));
    await expect.poll(() => ended()).toBe(1);
    await expect.poll(() => released).toBe(1);
  });
});
