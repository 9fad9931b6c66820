import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Readable } from "node:stream";
import type { HttpResponse } from "../../../src/http/http-client.ts";
import { fetchMap } from "../../../src/publish/fetch/fetch-map.ts";
import { takeRest } from "../../../src/publish/fetch/fetch-rest.ts";
import { serveOnLoopback } from "../../support/http-server.ts";
import { deltaBytes, joined } from "../../support/packed-chain.ts";
import { packedBytes } from "../../support/packed-file.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

const NEXT = `${EXAMPLE_MAP}uk,co,cnn)/ 4\nuk,co,cnn)/a 4\n`;
const LAST = `${NEXT}uk,co,cnn)/b 4\n`;

/** A server of one file, such as any, that may change. */
interface StaticServer {
  readonly url: string;
  bytes: Uint8Array;
  /** What it sent: status and bytes. */
  readonly sent: [number, number][];
  ignoresRanges: boolean;
}

async function staticServer(bytes: Uint8Array): Promise<StaticServer> {
  const server = { bytes, sent: [], ignoresRanges: false, url: "" } as StaticServer;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { bytes: file } = server;
    const etag = `"${createHash("sha256").update(file).digest("hex").slice(0, 8)}"`;
    const send = (status: number, body: Uint8Array, more: Record<string, string> = {}): void => {
      server.sent.push([status, body.length]);
      response.writeHead(status, { ETag: etag, ...more });
      response.end(body);
    };
    const none = new Uint8Array(0);
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? -1);
    if (request.headers["if-none-match"] === etag) send(304, none);
    else if (start < 0 || server.ignoresRanges) send(200, file);
    else if (start >= file.length) send(416, none);
    else {
      const range = `bytes ${start}-${file.length - 1}/${file.length}`;
      send(206, file.subarray(start), { "Content-Range": range });
    }
  };
  const url = await serveOnLoopback((_, response, request) => answer(request, response));
  return Object.assign(server, { url: `${url}/map` });
}

describe("fetch, of a packed map that has grown", () => {
  it("brings only what is new, and then asks whether that has changed", async () => {
    const base = await packedBytes();
    const site = await serving(base);
    const target = join(scratchDir(), "copy.packed");
    const fetchJson = async (): Promise<unknown> => {
      const { code, stderr } = await runCli(["fetch", site.url, "-o", target, "--json"]);
      expect(code).toBe(0);
      return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
    };
    expect(await fetchJson()).toMatchObject({ status: "fetched", bytes: base.length });
    let file = base;
    for (const text of [NEXT, LAST]) {
      const delta = await deltaBytes(file, text);
      file = joined(file, delta);
      writeFileSync(site.path, file);
      await site.publisher.reload();
      const sentBefore = await sentBytes(site.url);
      expect(await fetchJson()).toMatchObject({
        status: "fetched",
        bytes: file.length,
        added: delta.length,
      });
      expect(readFileSync(target).equals(file)).toBe(true);
      expect((await sentBytes(site.url)) - sentBefore).toBeLessThan(delta.length + 6000);
      expect(await fetchJson()).toMatchObject({ status: "unchanged" });
    }
    const sentence = await runCli(["fetch", site.url, "-o", target]);
    expect(sentence.stderr).toMatch(/^unchanged/);
    expect((await runCli(["lookup", target, "http://cnn.co.uk/b"])).code).toBe(0);
  });

  it("brings several deltas at once, from any server that answers ranges", async () => {
    const base = await packedBytes();
    const first = await deltaBytes(base, NEXT);
    const second = await deltaBytes(joined(base, first), LAST);
    const server = await staticServer(base);
    const target = join(scratchDir(), "copy.packed");
    await fetchMap(server.url, target, { isDirect: true });
    server.bytes = joined(base, first, second);
    const { added } = await fetchMap(server.url, target, { isDirect: true });
    expect(added).toBe(first.length + second.length);
    expect(server.sent).toEqual([
      [200, base.length],
      [206, first.length + second.length],
    ]);
    expect(readFileSync(target).equals(server.bytes)).toBe(true);
    expect(await fetchMap(server.url, target, { isDirect: true })).toMatchObject({
      status: "unchanged",
    });
  });

  it("brings the whole map where what follows does not fit", async () => {
    const base = await packedBytes();
    const whole = await packedBytes(LAST, { bits: 20 });
    const first = await deltaBytes(base, NEXT);
    const rejoined = joined(whole, await deltaBytes(whole, `${LAST}uk,co,cnn)/c 1\n`));
    const cases: readonly (readonly [Uint8Array, Partial<StaticServer>, number[]])[] = [
      [rejoined, {}, [206, 200]],
      [joined(base, first), { ignoresRanges: true }, [200, 200]],
    ];
    for (const [bytes, change, statuses] of cases) {
      const server = await staticServer(base);
      const target = join(scratchDir(), "copy.packed");
      await fetchMap(server.url, target, { isDirect: true });
      server.sent.length = 0;
      Object.assign(server, { bytes }, change);
      await fetchMap(server.url, target, { isDirect: true });
      expect(server.sent.map(([status]) => status)).toEqual(statuses);
      expect(readFileSync(target).equals(server.bytes)).toBe(true);
    }
    // A shorter one.
    const server = await staticServer(rejoined);
    const target = join(scratchDir(), "copy.packed");
    await fetchMap(server.url, target, { isDirect: true });
    server.bytes = whole;
    const { added } = await fetchMap(server.url, target, { isDirect: true });
    expect([added, server.sent.at(-2)]).toEqual([undefined, [416, 0]]);
    expect(readFileSync(target).equals(whole)).toBe(true);
  });

  it("does not take an answer in a coding, of another range, or longer than allowed", async () => {
    const base = await packedBytes();
    const target = join(scratchDir(), "copy.packed");
    writeFileSync(target, base);
    const delta = await deltaBytes(base, NEXT);
    const range = `bytes ${base.length}-${base.length + delta.length - 1}/*`;
    const take = (headers: Record<string, string>, maxBytes = 1e6): ReturnType<typeof takeRest> => {
      const response: HttpResponse = {
        status: 206,
        url: "http://a.example/",
        headers: { get: (name) => headers[name] },
        body: Readable.from([delta.subarray(0, 5), delta.subarray(5)]),
        discard: () => Promise.resolve(),
      };
      return takeRest(response, target, { maxBytes });
    };
    const coded = { "content-range": range, "content-encoding": "gzip" };
    expect(await take(coded)).toBeUndefined();
    expect(await take({ "content-range": "bytes 0-99/*" })).toBeUndefined();
    expect(await take({ "content-range": range }, base.length + 99)).toBeUndefined();
    expect(readFileSync(target).equals(base)).toBe(true);
    expect((await take({ "content-range": range }))?.bytes).toBe(delta.length);
    expect(readFileSync(target).equals(joined(base, delta))).toBe(true);
  });

  it("keeps the old file where the delta is damaged, foreign or cut, and the whole map too", async () => {
    const base = await packedBytes();
    const other = await packedBytes(NEXT, { bits: 20 });
    const delta = await deltaBytes(base, NEXT);
    const flipped = delta.slice();
    flipped[flipped.length - 1] ^= 1;
    for (const rest of [flipped, await deltaBytes(other, LAST), delta.subarray(0, -1)]) {
      const server = await staticServer(base);
      const target = join(scratchDir(), "copy.packed");
      await fetchMap(server.url, target, { isDirect: true });
      server.bytes = joined(base, rest);
      await expect(fetchMap(server.url, target, { isDirect: true })).rejects.toThrow(
        /damaged|belongs to another|cut short/,
      );
      expect(readFileSync(target).equals(base)).toBe(true);
      // What was wrong is asked for again.
      server.bytes = joined(base, delta);
      const { added } = await fetchMap(server.url, target, { isDirect: true });
      expect(added).toBe(delta.length);
    }
  });
});

/** What a publisher has sent so far. */
async function sentBytes(url: string): Promise<number> {
  const metrics = await (await fetch(new URL("/metrics", url))).text();
  const [, bytes] = /^mementomap_\w*sent_bytes\w* (\d+)/m.exec(metrics) ?? [];
  expect(bytes).toBeDefined();
  return Number(bytes);
}
