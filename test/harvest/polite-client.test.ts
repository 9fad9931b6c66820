import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { wholeText } from "../../src/input/cdx-json.ts";
import type { PoliteOptions } from "../../src/harvest/polite-client.ts";
import { PoliteClient } from "../../src/harvest/polite-client.ts";
import { ProxySettings } from "../../src/http/proxy.ts";
import { forwardProxy, portOf } from "../support/forward-proxy.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { scriptedServer } from "../support/scripted-server.ts";

const FAST: PoliteOptions = {
  intervalMs: 0,
  backOff: { retries: 1, firstMs: 1, longestMs: 1 },
};

/** What a server answers, and whether it says where that ends. */
async function answerOf(api: string, options: PoliteOptions = FAST): Promise<[string, boolean]> {
  const client = new PoliteClient(api, options);
  try {
    return await client.get(api, async ({ chunks, source, isEndMarked }) => [
      await wholeText(chunks, source),
      isEndMarked,
    ]);
  } finally {
    client.close();
  }
}

/** A server that closes connections to say that an answer is over. */
async function oldServer(answers: readonly Uint8Array[], head: string): Promise<string> {
  let turn = 0;
  const server = createTcpServer((socket) => {
    socket.once("data", () => {
      socket.write(`HTTP/1.0 200 OK\r\n${head}\r\n`);
      socket.end(answers[turn++]);
    });
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("PoliteClient", () => {
  it("undoes gzip, and asks for nothing else", async () => {
    const server = await scriptedServer((_request, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync("answer"));
    });
    expect(await answerOf(server.url)).toEqual(["answer", true]);
    expect(server.requests[0].headers["accept-encoding"]).toBe("gzip");
  });

  it("refuses other codings", async () => {
    const server = await scriptedServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "br" }).end("x");
    });
    await expect(answerOf(server.url)).rejects.toMatchObject({ code: "MM_REFUSED" });
    expect(server.requests).toHaveLength(1);
  });

  it("asks again for what is compressed and lacks its end", async () => {
    const whole = gzipSync("answer ".repeat(1000));
    const retries: string[] = [];
    const api = await oldServer([whole.subarray(0, 20), whole], "Content-Encoding: gzip\r\n");
    const onRetry = (reason: string): void => void retries.push(reason);
    expect(await answerOf(api, { ...FAST, onRetry })).toEqual(["answer ".repeat(1000), true]);
    expect(retries).toEqual(["the compressed response is truncated"]);
  });

  it("says where nothing marks the end", async () => {
    expect(await answerOf(await oldServer([Buffer.from("answer")], ""))).toEqual(["answer", false]);
  });

  it("sends the password that is in an address, and shows it to nobody", async () => {
    const server = await scriptedServer((request, response) => {
      const isKnown = request.headers.authorization === `Basic ${btoa("me:secret")}`;
      response.writeHead(isKnown ? 200 : 401).end();
    });
    await answerOf(server.url.replace("//", "//me:secret@"));
    const refusal = answerOf(server.url.replace("//", "//you:secret@"));
    await expect(refusal).rejects.toMatchObject({ position: { source: server.url } });
    await expect(refusal).rejects.toThrow("the server answered 401 Unauthorized");
  });

  it.each(["http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/", "file:///etc/"])(
    "follows no redirect to %s",
    async (location) => {
      const server = await scriptedServer((_request, response) => {
        response.writeHead(302, { location }).end();
      });
      const asking = answerOf(server.url);
      await expect(asking).rejects.toMatchObject({ code: "MM_REFUSED" });
      expect(server.requests).toHaveLength(1);
    },
  );

  it("follows redirects on the same server, and others where that is allowed", async () => {
    const other = await serveOnLoopback((_url, response) => response.end("answer"));
    const server = await scriptedServer((request, response) => {
      const location = request.url === "/" ? "/there" : other;
      response.writeHead(302, { location }).end();
    });
    await expect(answerOf(server.url)).rejects.toThrow("private address 127.0.0.1");
    expect(server.requests).toHaveLength(2);
    expect(await answerOf(server.url, { ...FAST, allowsPrivate: true })).toEqual(["answer", true]);
  });

  it("goes through a proxy, but not to this machine", async () => {
    const server = await serveOnLoopback((url, response) => response.end(url.search));
    const proxy = await forwardProxy({ "cdx.test:80": portOf(server) }, "me:secret");
    const env = { HTTP_PROXY: `http://me:secret@${proxy.address}` };
    const options = { ...FAST, proxies: ProxySettings.of(env) };
    expect(await answerOf("http://cdx.test/cdx?url=a", options)).toEqual(["?url=a", true]);
    expect(await answerOf(`${server}/?here`, options)).toEqual(["?here", true]);
    expect(proxy.requests).toEqual(["GET http://cdx.test/cdx?url=a"]);
  });

  it("follows no redirect to a private address through a proxy either", async () => {
    const server = await serveOnLoopback((_url, response) => {
      response.writeHead(302, { location: "http://10.0.0.1/" }).end();
    });
    const proxy = await forwardProxy({ "cdx.test:80": portOf(server), "10.0.0.1:80": 9 });
    const options = { ...FAST, proxies: ProxySettings.of({ ALL_PROXY: proxy.address }) };
    await expect(answerOf("http://cdx.test/", options)).rejects.toMatchObject({
      code: "MM_REFUSED",
      position: { source: "http://cdx.test/" },
    });
    expect(proxy.requests).toEqual(["GET http://cdx.test/"]);
  });

  it.each(["https://cdx.test/", "http://cdx.test/"])(
    "says at once that it is the proxy that refuses %s, without its password",
    async (url) => {
      const proxy = await forwardProxy({}, "me:secret");
      const proxies = ProxySettings.of({ ALL_PROXY: `http://me:wrong@${proxy.address}` });
      await expect(answerOf(url, { ...FAST, proxies })).rejects.toThrow(
        `the proxy http://${proxy.address} requires authentication; write http://USER:PASSWORD@HOST:PORT`,
      );
      expect(proxy.requests).toHaveLength(1);
    },
  );
});
