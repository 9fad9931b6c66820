import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { RateLimit } from "../../../src/http/rate-limit.ts";
import { rawExchange, rawGet } from "../../support/raw-http.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";
import { until } from "../../support/until.ts";

const rows = Array.from({ length: 200_000 }, (_, i) => `com,${String(i).padStart(80, "0")})/ 1\n`);
const BIG_MAP = EXAMPLE_MAP.replace("com,* 10000+\n", rows.join(""));

it("a long batch leaves their turn to others", async () => {
  const { url } = await serving();
  let isOver = false;
  const body = gzipSync("a.com\n".repeat(500_000));
  const batch = fetch(`${url}/lookup`, { method: "POST", body })
    .then((response) => response.arrayBuffer())
    .then(() => (isOver = true));
  let answers = 0;
  while (!isOver) {
    await (await fetch(`${url}/lookup?url=http://arxiv.org/`)).arrayBuffer();
    answers += 1;
  }
  await batch;
  expect(answers).toBeGreaterThan(30);
});

it.each(["[", "x:99999", "a:b:c"])("the host %s is not taken for an address", async (host) => {
  const { url } = await serving();
  for (const target of ["/", "/about", "/maps"]) {
    const request = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    expect(await rawExchange(url, request)).toMatch(/^HTTP\/1\.1 200 /);
  }
});

describe("hostile clients", () => {
  it("that read slowly are dropped, and hold little memory until then", async () => {
    const readers = 20;
    let dropped = 0;
    const { url } = await serving(BIG_MAP, {
      maxIndexBytes: 0,
      encodings: [],
      log: {
        event: () => undefined,
        request: () => {
          dropped += 1;
        },
      },
      listen: { limits: { idleTimeoutMs: 500 } },
    });
    const { hostname, port } = new URL(url);
    global.gc?.();
    const before = process.memoryUsage();
    const closed: Promise<unknown>[] = [];
    const sockets = await Promise.all(
      Array.from({ length: readers }, async () => {
        const socket = connect(Number(port), hostname);
        socket.on("error", () => undefined); // being cut off is what is expected
        await once(socket, "connect");
        socket.pause();
        closed.push(once(socket, "close"));
        socket.write(
          "GET /.well-known/mementomap HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        );
        return socket;
      }),
    );
    let grown = 0;
    // They never read on, so their requests end only because the server ends them.
    await until(() => {
      const held = process.memoryUsage();
      const now = held.external + held.heapUsed - before.external - before.heapUsed;
      grown = Math.max(grown, now);
      return dropped === readers;
    });
    // Twenty whole maps would be 360 MB.
    expect(grown).toBeLessThan(60 * 2 ** 20);
    for (const socket of sockets) socket.resume();
    await Promise.all(closed);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it("that never finish their headers or their request are cut off", async () => {
    const { url } = await serving(EXAMPLE_MAP, {
      listen: { limits: { headersTimeoutMs: 200, requestTimeoutMs: 400, idleTimeoutMs: 5000 } },
    });
    expect(await rawExchange(url, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")).toMatch(
      /^HTTP\/1.1 408/,
    );
    const batch = "POST /lookup HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhttp://x.com/\n";
    await rawExchange(url, batch);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it("with huge headers or targets are refused", async () => {
    const { url } = await serving(EXAMPLE_MAP, { listen: { limits: { maxHeaderBytes: 16_384 } } });
    expect(await rawGet(url, "/", `X-Huge: ${"x".repeat(70_000)}\r\n`)).toMatch(/^HTTP\/1.1 431/);
    expect(await rawGet(url, `/lookup?url=${"x".repeat(70_000)}`)).toMatch(/^HTTP\/1.1 431/);
    expect(await rawGet(url, `/lookup?url=${"x".repeat(10_000)}`)).toMatch(/^HTTP\/1.1 200/);
  });

  it.each([
    "not http at all\r\n\r\n",
    "GET /a b c HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "POST /lookup HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "\u0000\u0001\u0002\r\n\r\n",
  ])("that do not speak HTTP get 400 and nothing else: %j", async (text) => {
    const { url } = await serving();
    expect(await rawExchange(url, text)).toMatch(/^HTTP\/1.1 400/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it.each([
    "/../../etc/passwd",
    "/maps/../../etc/passwd",
    "/maps/%2e%2e%2fmap",
    "//.well-known/mementomap",
    "/.well-known/mementomap/",
    "/maps/",
    "/maps/map/x",
    "/%00",
  ])("that ask for %s find nothing", async (target) => {
    const { url } = await serving();
    expect(await rawGet(url, target)).toMatch(/^HTTP\/1.1 404/);
  });

  it("cannot put anything into the page or the headers", async () => {
    const { url } = await serving(
      EXAMPLE_MAP.replace("Example Archive", "<script>alert(1)</script>"),
    );
    const page = await (
      await fetch(`${url}/?url=${encodeURIComponent('"><script>alert(2)</script>')}`)
    ).text();
    expect(page).not.toContain("<script>");
    expect(page).toContain("&lt;script>alert(1)");
    const attack = await rawGet(url, "/lookup?url=http://x/%0d%0aSet-Cookie:a=b");
    expect(attack).not.toMatch(/^Set-Cookie/m);
  });

  it("that ask too often are told when to come back", async () => {
    let now = 0;
    const rateLimit = new RateLimit({ perSecond: 2, burst: 2, now: () => now });
    const { url } = await serving(EXAMPLE_MAP, { rateLimit });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await fetch(`${url}/maps`)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await fetch(`${url}/maps`);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    now += 1000;
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it("are counted by address, those of IPv6 by their network", () => {
    const limit = new RateLimit({ perSecond: 1, burst: 1, maxAddresses: 2, now: () => 0 });
    expect(limit.take("2001:db8::1")).toBe(0);
    expect(limit.take("2001:db8:0:0:9::2")).toBeGreaterThan(0);
    expect(limit.take("2001:db8:0:1::1")).toBe(0);
    expect(limit.take("10.0.0.1")).toBe(0);
    // The table was full, so the first network is forgotten.
    expect(limit.take("2001:db8::1")).toBe(0);
  });
});
