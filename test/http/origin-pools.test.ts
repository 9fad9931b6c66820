import { createServer } from "node:http";
import {
  type AddressInfo,
  createServer as createRawServer,
  type LookupFunction,
  type Socket,
} from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as openFiles from "../../src/files/open-files.ts";
import { HttpExchange } from "../../src/http/http-exchange.ts";
import { OriginPools } from "../../src/http/origin-pools.ts";
import { ProxySettings } from "../../src/http/proxy.ts";
import { until, untilSteady } from "../support/until.ts";

vi.mock("../../src/files/open-files.ts", { spy: true });

/** Starts a server at an address of this machine; gives its port. */
async function serverAt(address: string, port: number): Promise<number> {
  const server = createServer((_request, response) => response.end(address));
  await new Promise<void>((resolve) => {
    server.listen(port, address, resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A server that says one thing to whoever says something; gives its port, and who is connected. */
async function rawServer(says: string): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", () => socket.write(says));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** Asks, and gives the reason why there is no answer. */
function failure(pools: OriginPools, url: string): Promise<string> {
  const request = { method: "GET", headers: [], followsRedirects: false, maxBytes: 1000 } as const;
  return new Promise((resolve) => {
    const receiver = {
      onHead: () => undefined,
      onChunk: () => true,
      onEnd: () => resolve("none"),
      onFail: (_error: Error, reason: string) => resolve(reason),
    };
    new HttpExchange(pools, { url, ...request }, receiver, 0).begin();
  });
}

const OPTIONS = { connectTimeoutMs: 5000, connections: 1, allowsPrivate: () => true };

describe("connections to origins", () => {
  it("are all closed at the end, also those that are used no more", async () => {
    const { port, sockets } = await rawServer("");
    const url = `http://127.0.0.1:${port}/`;
    const pools = new OriginPools(OPTIONS);
    const failed = failure(pools, url);
    await until(() => sockets.size === 1);
    pools.trust(url, 5);
    await pools.close();
    expect(await failed).toBe("closed");
    await until(() => sockets.size === 0);
  });

  it("are closed at the end when a proxy is about to make them", async () => {
    const { port, sockets } = await rawServer("");
    const proxies = ProxySettings.of({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    const pools = new OriginPools({ ...OPTIONS, proxies, connectTimeoutMs: 600_000 });
    const failed = failure(pools, "https://a.test/");
    await until(() => sockets.size === 1);
    await pools.close();
    expect(await failed).toBe("closed");
    await until(() => sockets.size === 0);
  });

  it("are not made by a proxy when the name was looked up after the end", async () => {
    const { port, sockets } = await rawServer("");
    const proxies = ProxySettings.of({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    const lookedUp: (() => void)[] = [];
    const lookup: LookupFunction = (_host, _options, callback) => {
      lookedUp.push(() => callback(null, [{ address: "93.184.215.14", family: 4 }]));
    };
    const pools = new OriginPools({ ...OPTIONS, proxies, lookup, allowsPrivate: () => false });
    const failed = failure(pools, "https://a.test/");
    await pools.close();
    for (const tell of lookedUp) tell();
    expect([await failed, lookedUp.length]).toEqual(["closed", 1]);
    await untilSteady(() => sockets.size);
    expect(sockets.size).toBe(0);
  });

  it("leave no tunnel open when there is no file for them", async () => {
    const { port, sockets } = await rawServer("HTTP/1.1 200 OK\r\n\r\n");
    const proxies = ProxySettings.of({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    const pools = new OriginPools({ ...OPTIONS, proxies });
    onTestFinished(() => pools.close());
    vi.mocked(openFiles.filesForArchives).mockReturnValue(0);
    onTestFinished(() => {
      vi.mocked(openFiles.filesForArchives).mockRestore();
    });
    expect(await failure(pools, "https://a.test/")).toBe("local");
    await until(() => sockets.size === 0);
  });

  it("are kept for a number of origins, however these are spelled", async () => {
    const { port, sockets } = await rawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const pools = new OriginPools({ ...OPTIONS, keptOpenMs: 600_000 });
    onTestFinished(() => pools.close());
    const askMany = (of: string): void => {
      for (let i = 0; i < 1000; i++) pools.poolOf(`http://${of}${i}.test:80`, "");
    };
    askMany("a");
    expect(await failure(pools, `HTTP://127.0.0.1:${port}/`)).toBe("none");
    expect(sockets.size).toBe(1);
    askMany("b");
    await until(() => sockets.size === 0);
  });

  it("are made to others than archives, however many of these there are", async () => {
    const { port } = await rawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const pools = new OriginPools(OPTIONS);
    onTestFinished(() => pools.close());
    for (let i = 0; i < 1000; i++) {
      pools.trust(`http://a${i}.test`, 1);
      pools.poolOf(`http://a${i}.test`, "");
    }
    expect(await failure(pools, `http://127.0.0.1:${port}/`)).toBe("none");
  });

  it("are closed at the end when one spelling of their origin was forgotten", async () => {
    const { port, sockets } = await rawServer("");
    let now = 0;
    const pools = new OriginPools({ ...OPTIONS, now: () => now });
    const url = `HTTP://127.0.0.1:${port}/`;
    const failed = failure(pools, url);
    await until(() => sockets.size === 1);
    for (let i = 0; i < 511; i++) pools.poolOf(`http://a${i}.test`, "");
    now = 601_000;
    void failure(pools, url);
    await pools.close();
    expect(await failed).toBe("closed");
  });

  it("are found quickly however the origin of an archive is spelled", () => {
    const pools = new OriginPools(OPTIONS);
    pools.trust("http://abcdefghijklmnopq.test", 1);
    const begun = performance.now();
    for (let spelling = 0; spelling < 30_000; spelling++) {
      const host = Array.from("abcdefghijklmnopq", (letter, at) =>
        (spelling >> at) & 1 ? letter.toUpperCase() : letter,
      ).join("");
      pools.poolOf(`http://${host}.test`, "");
    }
    // It took longer with each of them, and each was kept.
    expect(performance.now() - begun).toBeLessThan(2500);
  });
});

describe.skipIf(process.platform !== "linux")("connections to an archive that moves", () => {
  it("go to its new address after a while, however busy the old ones are", async () => {
    const port = await serverAt("127.0.0.1", 0);
    await serverAt("127.0.0.2", port);
    let address = "127.0.0.1";
    let now = 0;
    const lookup: LookupFunction = (_host, _options, callback) => {
      callback(null, [{ address, family: 4 }]);
    };
    const pools = new OriginPools({
      connectTimeoutMs: 1000,
      connections: 1,
      allowsPrivate: () => true,
      lookup,
      now: () => now,
    });
    onTestFinished(() => pools.close());
    const origin = `http://archive.test:${port}`;
    const ask = (): Promise<string> =>
      new Promise((resolve, reject) => {
        let body = "";
        const request = {
          url: `${origin}/`,
          method: "GET",
          headers: [],
          followsRedirects: false,
          maxBytes: 1000,
        } as const;
        const receiver = {
          onHead: () => undefined,
          onChunk: (chunk: Uint8Array) => {
            body += new TextDecoder().decode(chunk);
            return true;
          },
          onEnd: () => resolve(body),
          onFail: reject,
        };
        new HttpExchange(pools, request, receiver, 0).begin();
      });
    expect(await ask()).toBe("127.0.0.1");
    address = "127.0.0.2";
    now = 599_000;
    expect(await ask()).toBe("127.0.0.1");
    now = 601_000;
    expect(await ask()).toBe("127.0.0.2");
    expect(await ask()).toBe("127.0.0.2");
  });
});
