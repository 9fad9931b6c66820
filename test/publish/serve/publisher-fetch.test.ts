import { writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { listen } from "../../../src/http/listen.ts";
import { RateLimit } from "../../../src/http/rate-limit.ts";
import type { RequestEntry } from "../../../src/http/log.ts";
import {
  createPublisher,
  type Publisher,
  type PublisherOptions,
} from "../../../src/publish/serve/publisher.ts";
import type { FetchClient } from "../../../src/http/web-request.ts";
import { scratchDir } from "../../support/scratch.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";
import { cases } from "../../support/cases.ts";

const OTHER_MAP = EXAMPLE_MAP.replace("archive.example.org", "other.example.net");

async function publisherOf(
  maps: readonly string[],
  options: PublisherOptions = {},
): Promise<Publisher> {
  const folder = scratchDir();
  const paths = maps.map((text, index) => {
    const path = join(folder, `map${index}.ukvs`);
    writeFileSync(path, text);
    return path;
  });
  const publisher = await createPublisher(paths, { reloadEveryMs: 0, ...options });
  onTestFinished(() => publisher.close());
  for (const { current } of publisher.site.maps) await current.prepareCopies();
  return publisher;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers of a connection, not of an answer. */
const HOP_BY_HOP = new Set(["connection", "date", "keep-alive", "transfer-encoding"]);

function answered(
  status: number,
  headers: Iterable<readonly [string, string]>,
  body: Buffer,
): Answered {
  const kept = [...headers].filter(([name]) => !HOP_BY_HOP.has(name));
  const isMetrics = kept.some(([, value]) => value.includes("version=0.0.4"));
  const isEncoded = kept.some(([name]) => name === "content-encoding");
  return {
    status,
    // The numbers of /metrics grow with each request.
    headers: Object.fromEntries(
      kept
        .filter(([name]) => !isMetrics || name !== "content-length")
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
    body: isMetrics ? body.toString().split("\n", isEncoded ? 0 : 1)[0] : body.toString("latin1"),
  };
}

async function overFetch(publisher: Publisher, url: string, asked: Asked): Promise<Answered> {
  const { method, path, headers, body } = asked;
  const request = new Request(url + path, { method, headers, body: body ?? null });
  const response = await publisher.fetch(request, { address: "127.0.0.1" });
  return answered(response.status, response.headers, Buffer.from(await response.arrayBuffer()));
}

function overNode(url: string, { method, path, headers, body }: Asked): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const pairs = Object.entries(response.headers).map(
          ([name, value]) => [name, String(value)] as const,
        );
        resolve(answered(response.statusCode ?? 0, pairs, Buffer.concat(chunks)));
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}

const URIS = [
  "http://arxiv.org/",
  "https://www.arxiv.org/abs/1?b=c&d=e",
  "http://arxiv.org/pdf/1",
  "http://example.net/%2F%zz",
  "https%3A%2F%2Fx.com%2Fa",
  "x",
];

const PATHS = [
  "/",
  "/?url=arxiv.org",
  "/.well-known/mementomap",
  ...["1", "2", "3", "99", "0", "x"].map((page) => `/.well-known/mementomap?page=${page}`),
  "/maps",
  "/maps/map0",
  "/maps/map1",
  "/maps/map1?page=2",
  "/maps/none",
  "/lookup",
  ...URIS.map((uri) => `/lookup?url=${uri}`),
  "/lookup?at=2014&url=http://arxiv.org/",
  "/lookup?at=x&url=http://arxiv.org/",
  "/lookup?map=map1&url=http://arxiv.org/",
  "/lookup?map=none&url=http://arxiv.org/",
  "/lookup?surt",
  "/lookup?map=map1",
  "/explore",
  "/explore?prefix=org,arxiv)/&limit=1",
  "/explore?limit=x",
  "/health",
  "/metrics",
  "/openapi.json",
  "/elsewhere",
  "/lookup/",
];

const BODIES = [
  "",
  "\n",
  "http://arxiv.org/\n\nhttp://arxiv.org/pdf/x\r\nhttp://a\tb.net/\nhttp://x.com/",
  `http://${"x".repeat(200)}.com/`,
  "http://x.com/\n".repeat(100),
].flatMap((text) => [Buffer.from(text), gzipSync(text), gzipSync(text).subarray(0, 12)]);

/** Requests as clients send them, and some that they should not. */
function requests(publisher: Publisher): fc.Arbitrary<Asked> {
  const { whole } = publisher.site.maps[0].current;
  const tags = ["*", '"other"', whole.etag, `W/${whole.etag}`, whole.etag.replace(/"$/, '-gzip"')];
  const time = whole.lastModified.getTime();
  const times = [-1e6, 0, 1e6].map((shift) => new Date(time + shift).toUTCString());
  const headers = fc.record(
    {
      accept: fc.constantFrom("*/*", "application/json", "text/html"),
      "accept-encoding": fc.constantFrom("gzip", "zstd", "gzip;q=0", "*", "br, gzip;q=0.5", ""),
      range: fc.constantFrom("bytes=0-7", "bytes=5-", "bytes=-10", "bytes=9999-", "bytes=0-1,3-4"),
      "if-range": fc.constantFrom(...tags, ...times),
      "if-match": fc.constantFrom(...tags, `"other", ${whole.etag}`),
      "if-none-match": fc.constantFrom(...tags, `"other", ${whole.etag}`),
      "if-modified-since": fc.constantFrom(...times, "never"),
      "if-unmodified-since": fc.constantFrom(...times),
      origin: fc.constant("https://pages.example"),
      "x-forwarded-for": fc.constantFrom("192.0.2.1", "192.0.2.1, 127.0.0.1"),
      "x-forwarded-proto": fc.constantFrom("https", "http"),
      "x-forwarded-host": fc.constantFrom("archive.example.org", "other.example.net", "<>"),
      "x-forwarded-prefix": fc.constantFrom("/before", "/mementomap", "//"),
    },
    { requiredKeys: [] },
  );
  return fc
    .record({
      method: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom("GET", "HEAD", "POST") },
        { weight: 1, arbitrary: fc.constantFrom("OPTIONS", "PUT", "DELETE", "PATCH") },
      ),
      prefix: fc.constantFrom("", "", "/mementomap"),
      path: fc.constantFrom(...PATHS),
      headers: fc.oneof(fc.constant({}), headers),
      body: fc.constantFrom(...BODIES),
    })
    .map(({ method, prefix, path, headers: sent, body }) => {
      const hasBody = method === "POST";
      const length = hasBody ? { "content-length": String(body.length) } : {};
      return {
        method,
        path: path.startsWith("/.well-known") ? path : prefix + path,
        headers: { ...sent, ...length },
        body: hasBody ? Uint8Array.from(body) : undefined,
      };
    });
}

describe("what servers pass beside a request", () => {
  it.each<[string, FetchClient, number]>([
    ["an address", { address: "192.0.2.1" }, 429],
    ["Bun's server", { address: { port: 3000 }, requestIP: () => ({ address: "192.0.2.2" }) }, 429],
    ["Deno's connection", { remoteAddr: { hostname: "192.0.2.3" } }, 429],
    ["nothing", {}, 200],
  ])("%s tells the client, for the rate limit", async (_name, client, second) => {
    const rateLimit = new RateLimit({ perSecond: 0.001, burst: 1 });
    const { publisher } = await serving(undefined, { rateLimit });
    const ask = (): Promise<Response> => publisher.fetch(new Request("https://a.org/maps"), client);
    expect([(await ask()).status, (await ask()).status]).toEqual([200, second]);
  });
});

describe("a publisher as fetch", () => {
  it.each<[string, readonly string[], PublisherOptions]>([
    ["one map", [EXAMPLE_MAP], { pageRecords: 2 }],
    [
      "two maps behind a proxy, searched in their files",
      [EXAMPLE_MAP, OTHER_MAP],
      {
        prefix: "/mementomap",
        isPrefixOptional: true,
        trustedProxies: ["loopback"],
        maxIndexBytes: 0,
        pageRecords: 4,
        replay: "https://archive.example.org/web/",
      },
    ],
    [
      "maps of other archives, with small limits",
      [EXAMPLE_MAP, OTHER_MAP],
      {
        isThirdParty: true,
        base: "https://maps.example/",
        servesMetrics: false,
        limits: { maxBatchBytes: 300, maxUriBytes: 100 },
        encodings: ["gzip"],
      },
    ],
  ])("answers as it does over node:http: %s", async (_name, maps, options) => {
    const publisher = await publisherOf(maps, options);
    const server = await listen(publisher, { port: 0 });
    onTestFinished(() => server.stop());
    await fc.assert(
      fc.asyncProperty(requests(publisher), async (asked) => {
        const [web, node] = [
          await overFetch(publisher, server.url, asked),
          await overNode(server.url, asked),
        ];
        expect(web).toEqual(node);
      }),
      { numRuns: cases(400) },
    );
  });

  it("answers for the host that is asked for, and takes no notice of a fragment", async () => {
    const { fetch } = await publisherOf([EXAMPLE_MAP, OTHER_MAP]);
    const own = await fetch(new Request("https://other.example.net/.well-known/mementomap#x"));
    expect(await own.text()).toBe(OTHER_MAP);
    const page = await fetch(new Request("https://other.example.net/about"));
    expect(await page.text()).toContain("https://other.example.net/lookup");
  });

  it("answers a batch while it is still being sent", async () => {
    const { fetch } = await publisherOf([EXAMPLE_MAP]);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const batch = writable.getWriter();
    const send = (text: string): Promise<void> => batch.write(Buffer.from(text));
    const init = { method: "POST", body: readable, duplex: "half" as const };
    const sent = send("http://arxiv.org/\n");
    const response = await fetch(new Request("http://a.example/lookup", init));
    const reader = response.body?.getReader();
    await sent;
    expect(textOf(await reader?.read())).toBe("http://arxiv.org/\tpresent\torg,arxiv)/\t100\t0\n");
    const next = reader?.read();
    await send("http://x.com/\n");
    expect(textOf(await next)).toBe("http://x.com/\tpresent\tcom,*\t10000+\t4\n");
    await batch.close();
    expect((await reader?.read())?.done).toBe(true);
  });

  it("breaks off a batch that cannot be read to its end", async () => {
    const messages: string[] = [];
    const log = { event: (_level: string, message: string) => void messages.push(message) };
    const publisher = await publisherOf([EXAMPLE_MAP], { limits: { maxUriBytes: 100 }, log });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const batch = writable.getWriter();
    const sent = batch.write(Buffer.from("http://x.com/\n"));
    const init = { method: "POST", body: readable, duplex: "half" as const };
    const response = await publisher.fetch(new Request("http://a.example/lookup", init));
    await sent;
    expect(response.status).toBe(200);
    const text = response.text();
    await batch.write(Buffer.from("x".repeat(200))).catch(() => undefined); // no one reads on
    await expect(text).rejects.toThrow(/longer than 100/);
    expect(messages).not.toContain("request failed");
  });

  it("lets go of a map whose download is given up", async () => {
    const rows = Array.from({ length: 20_000 }, (_, row) => `uk,a)/${10_000 + row} 1\n`);
    const publisher = await publisherOf([EXAMPLE_MAP.replace("uk,co", `${rows.join("")}uk,co`)], {
      maxShrink: 1,
    });
    const [map] = publisher.site.maps;
    const response = await publisher.fetch(new Request("http://a.example/maps/map0"));
    const reader = response.body?.getReader();
    await reader?.read();
    const old = map.current;
    writeFileSync(map.path, EXAMPLE_MAP.replace("54321", "54322"));
    await publisher.reload();
    expect(Buffer.from(await old.whole.body.read(0, 8)).toString()).toBe("!context");
    await reader?.cancel();
    await expect(old.whole.body.read(0, 8)).rejects.toThrow(/closed/);
  });

  it("is logged and counted by the address that it is given", async () => {
    const entries: RequestEntry[] = [];
    const log = { event: () => undefined, request: (entry: RequestEntry) => entries.push(entry) };
    const { fetch, metrics } = await publisherOf([EXAMPLE_MAP], { log });
    const target = "/lookup?url=http://arxiv.org/";
    const headers = { "user-agent": "test" };
    await fetch(new Request(`http://a.example${target}`, { headers }), { address: "192.0.2.1" });
    expect(entries).toMatchObject([
      { method: "GET", target, status: 200, remote: "192.0.2.1", userAgent: "test" },
    ]);
    expect(await metrics.text()).toContain('{route="lookup",status="200"} 1');
  });

  it("publishes a map in memory, and compresses it", async () => {
    const modified = new Date("2026-01-02T03:04:05Z");
    const map = { id: "held", bytes: Buffer.from(EXAMPLE_MAP), modified };
    const publisher = await createPublisher(map, { encodings: ["gzip"], maxIndexBytes: 0 });
    onTestFinished(() => publisher.close());
    const whole = await publisher.fetch(new Request("http://a.example/maps/held"));
    expect(await whole.text()).toBe(EXAMPLE_MAP);
    await publisher.site.maps[0].current.prepareCopies();
    const headers = { "accept-encoding": "gzip" };
    const packed = await publisher.fetch(new Request("http://a.example/maps/held", { headers }));
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(EXAMPLE_MAP);
    expect(whole.headers.get("last-modified")).toBe(modified.toUTCString());
    const lookup = await publisher.fetch(new Request("http://a.example/lookup?url=arxiv.org"));
    expect(await lookup.json()).toMatchObject({ present: true });
    await publisher.reload();
    const health = await publisher.fetch(new Request("http://a.example/health"));
    expect(await health.json()).toMatchObject({ status: "ok", maps: [{ id: "held", reloads: 0 }] });
    const broken = createPublisher({ id: "held", bytes: Buffer.from("b 1\na 1\n") });
    await expect(broken).rejects.toMatchObject({ code: "MM_NOT_SORTED" });
  });

  it("can stand beside handlers of one's own", async () => {
    const publisher = await publisherOf([EXAMPLE_MAP], { prefix: "/mementomap" });
    const handler = async (request: Request): Promise<Response> => {
      if (publisher.publishes(request)) return publisher.fetch(request);
      return new Response("own", { headers: { Link: publisher.linkHeader(request) } });
    };
    const own = await handler(new Request("http://a.example/lookup"));
    expect([await own.text(), own.headers.get("link")]).toEqual([
      "own",
      '</.well-known/mementomap>; rel="mementomap"',
    ]);
    const lookup = await handler(new Request("http://a.example/mementomap/lookup?url=x.com"));
    expect(await lookup.json()).toMatchObject({ present: true });
  });
});

function textOf(result: { readonly value?: Uint8Array | undefined } | undefined): string {
  return Buffer.from(result?.value ?? []).toString();
}
