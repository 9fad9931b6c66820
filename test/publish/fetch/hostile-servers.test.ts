import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { createGzip, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { fetchMap, type FetchMapOptions } from "../../../src/publish/fetch/fetch-map.ts";
import { NodeClient } from "../../../src/http/node-client.ts";
import { scratchDir } from "../../support/scratch.ts";
import { scriptedServer } from "../../support/scripted-server.ts";
import { EXAMPLE_MAP } from "../../support/serving.ts";

const OLD_MAP = EXAMPLE_MAP.replace("100", "99");

/** Fetches over an old map, which must be there untouched afterwards; gives the error. */
async function refusal(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  options: FetchMapOptions = {},
): Promise<{ code: string; message: string; grownBytes: number }> {
  const { url } = await scriptedServer(answer);
  const folder = scratchDir();
  const target = join(folder, "map.ukvs");
  writeFileSync(target, OLD_MAP);
  const before = process.memoryUsage.rss();
  const error = await fetchMap(url, target, {
    isDirect: true,
    retryDelayMs: 1,
    retries: 2,
    ...options,
  }).then(
    () => ({ code: "none", message: "the map was taken" }),
    (caught: { code: string; message: string }) => caught,
  );
  expect(readFileSync(target, "utf8")).toBe(OLD_MAP);
  expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  const { code, message } = error;
  return { code, message, grownBytes: process.memoryUsage.rss() - before };
}

const text =
  (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, headers).end(body);
  };

describe("hostile servers: the old map stays when the answer is", () => {
  it.each<[string, string, RegExp]>([
    ["an HTML page", "<!doctype html><p>Please log in", /an HTML page/],
    ["nothing", "", /empty/],
    ["JSON", '{"status": "ok"}', /something other/],
    ["not sorted", `${EXAMPLE_MAP}com,a)/ 1\n`, /comes after/],
    ["cut in the middle of a line", EXAMPLE_MAP.slice(0, -10), /newline|frequency|columns/],
    ["a map with binary in it", `${EXAMPLE_MAP}uk,co,bbc)/\u0000 1\n`, /control character/],
    ["another kind of UKVS file", '!fields {"keys":["name"],"values":["x"]}\na b\n', /first key/],
  ])("%s", async (_name, body, message) => {
    const error = await refusal(text(body));
    expect(error).toMatchObject({ code: "MM_REFUSED" });
    expect(error.message).toMatch(message);
  });

  it("an error", async () => {
    expect(await refusal((_request, response) => void response.writeHead(500).end())).toMatchObject(
      {
        code: "MM_HTTP",
        message: "the server answered with status 500",
      },
    );
  });

  it.each([
    ["in a circle", "/", "redirect loop"],
    ["to a private address", "http://127.0.0.1:1/", "private address"],
    ["to a file", "file:///etc/passwd", "not a web address"],
  ])("a redirect %s", async (_name, location, message) => {
    const error = await refusal((_request, response) => {
      response.writeHead(302, { Location: location }).end();
    });
    expect(error).toMatchObject({
      code: "MM_REFUSED",
      message: expect.stringContaining(message) as string,
    });
  });

  it("a gzip bomb", async () => {
    // Sound as a map, so that nothing but its size speaks against it.
    const rows = Array.from(
      { length: 300_000 },
      (_, i) => `com,${String(i).padStart(40, "0")})/ 1\n`,
    );
    const bomb = gzipSync(EXAMPLE_MAP.replace("com,* 10000+\n", rows.join("")), { level: 6 });
    const error = await refusal(text(bomb, { "Content-Encoding": "gzip" }), {
      maxBytes: 2 * 2 ** 20,
    });
    expect(bomb.length).toBeLessThan(2 * 2 ** 20);
    expect(error.code).toBe("MM_REFUSED");
    expect(error.message).toContain("more than 2097152 bytes");
    expect(error.grownBytes).toBeLessThan(64 * 2 ** 20);
  });

  it("an endless body, with and without compression", async () => {
    const endless = (_request: IncomingMessage, response: ServerResponse): void => {
      response.writeHead(200);
      const block = Buffer.alloc(65_536, "com,a)/ 1\n");
      const send = (): void => {
        while (!response.destroyed && response.write(block));
        if (!response.destroyed) response.once("drain", send);
      };
      send();
    };
    const error = await refusal(endless, { maxBytes: 4 * 2 ** 20 });
    expect(error).toMatchObject({ code: "MM_REFUSED" });
    expect(error.grownBytes).toBeLessThan(64 * 2 ** 20);
    const packed = await refusal(
      (_request, response) => {
        response.writeHead(200, { "Content-Encoding": "gzip" });
        const gzip = createGzip();
        gzip.pipe(response);
        const feed = (): void => {
          while (
            !response.destroyed &&
            gzip.write(Buffer.from(String(Math.random()).repeat(1000)))
          );
          if (!response.destroyed) gzip.once("drain", feed);
        };
        feed();
        response.once("close", () => gzip.destroy());
      },
      { maxBytes: 2 ** 20 },
    );
    expect(packed).toMatchObject({ code: "MM_REFUSED" });
  });

  it("larger than it may be, by its own words", async () => {
    const error = await refusal((_request, response) => {
      response.writeHead(200, { "Content-Length": String(10 ** 15) });
      response.write("x");
    });
    expect(error).toMatchObject({ code: "MM_REFUSED" });
  });

  it("one that never comes, or stops coming", async () => {
    const client = new NodeClient({
      allowsPrivate: true,
      headersTimeoutMs: 100,
      idleTimeoutMs: 100,
    });
    const silent = await refusal(() => undefined, { client, retries: 0 });
    expect(silent).toMatchObject({ code: "MM_HTTP", message: "no response within 0.1 s" });
    const stalled = await refusal((_request, response) => void response.write("!meta {}\n"), {
      client,
      retries: 0,
    });
    expect(stalled).toMatchObject({ code: "MM_HTTP", message: "no data received for 0.1 s" });
  });

  it("shrinking in the middle of the download", async () => {
    const small = EXAMPLE_MAP.slice(0, 200);
    let turn = 0;
    const error = await refusal((request, response) => {
      turn += 1;
      if (turn === 1) {
        response.writeHead(200, { ETag: '"1"', "Content-Length": EXAMPLE_MAP.length });
        response.write(EXAMPLE_MAP.slice(0, 250), () => response.destroy());
      } else if (request.headers.range === undefined) {
        response.writeHead(200, { ETag: '"2"', "Content-Length": EXAMPLE_MAP.length });
        response.write(small, () => response.destroy());
      } else {
        response.writeHead(416, { "Content-Range": `bytes */${small.length}` }).end();
      }
    });
    expect(error).toMatchObject({ code: "MM_HTTP" });
  });

  it("the rest of something else", async () => {
    let turn = 0;
    const error = await refusal((_request, response) => {
      turn += 1;
      if (turn === 1) {
        response.writeHead(200, { ETag: '"1"', "Content-Length": EXAMPLE_MAP.length });
        response.write(EXAMPLE_MAP.slice(0, 100), () => response.destroy());
        return;
      }
      response.writeHead(206, { ETag: '"2"', "Content-Range": "bytes 90-99/100" });
      response.end("0123456789");
    });
    expect(error).toMatchObject({
      code: "MM_HTTP",
      message: "the server answered with status 206",
    });
  });

  it("in a coding that was not asked for", async () => {
    expect(await refusal(text("x", { "Content-Encoding": "br" }))).toMatchObject({
      code: "MM_REFUSED",
      message: "unexpected Content-Encoding: br",
    });
  });

  it("damaged on the way", async () => {
    const packed = gzipSync(EXAMPLE_MAP);
    packed[packed.length - 3] ^= 255;
    expect(await refusal(text(packed, { "Content-Encoding": "gzip" }))).toMatchObject({
      code: "MM_BAD_INPUT",
    });
  });

  it("with huge headers", async () => {
    expect(await refusal(text("x", { "X-Huge": "x".repeat(200_000) }))).toMatchObject({
      code: "MM_HTTP",
      message: "the response headers are too large",
    });
  });

  it.each<[string, (number: number) => string, RegExp]>([
    [
      "that go in a circle",
      () => '{"number":1,"of":3,"links":{"next":"/1"}}',
      /it is page 1, not page 2/,
    ],
    [
      "that lead to another site",
      (n) => `{"number":${n},"of":3,"links":{"next":"http://127.0.0.2:1/"}}`,
      /another site/,
    ],
    ["without a link", (n) => `{"number":${n},"of":3}`, /no link to page 2/],
    [
      "of two versions",
      (n) => `{"number":${n},"of":3,"version":"${n}","links":{"next":"/x"}}`,
      /is of another version/,
    ],
    [
      "more than allowed",
      () => '{"number":1,"of":99999999,"links":{"next":"/x"}}',
      /more than 10000/,
    ],
  ])("pages %s", async (_name, mark, message) => {
    let number = 0;
    const error = await refusal((_request, response) => {
      number += 1;
      response.end(
        `!fields {"keys":["surt"],"values":["frequency"]}\n!meta {"page":${mark(number)}}\ncom,a${number})/ 1\n`,
      );
    });
    expect(error).toMatchObject({ code: "MM_REFUSED" });
    expect(error.message).toMatch(message);
  });

  it.each([
    ["as sent", (page: string): string | Uint8Array => page, /is larger than/],
    ["decompressed", (page: string) => gzipSync(page), /more than/],
  ])("pages that are together larger than allowed, %s", async (_name, sent, message) => {
    let number = 0;
    const error = await refusal(
      (_request, response) => {
        number += 1;
        const page = `{"number":${number},"of":4,"links":{"next":"/x"}}`;
        const row = `com,a${number}${"a".repeat(600)})/ 1\n`;
        response.end(sent(`!meta {"page":${page}}\n${row}`));
      },
      { maxBytes: 2000 },
    );
    expect(error).toMatchObject({ code: "MM_REFUSED" });
    expect(error.message).toMatch(message);
  });
});
