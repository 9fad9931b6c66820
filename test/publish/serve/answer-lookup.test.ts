import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryIndex } from "../../../src/lookup/memory-index.ts";
import { lookupQuery, splitTarget } from "../../../src/http/target.ts";
import { rawGet } from "../../support/raw-http.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4);

describe("GET /lookup", () => {
  it.each([
    ["http://arxiv.org/", true, "org,arxiv)/", "100", 0],
    ["http://arxiv.org/pdf/1", false, "org,arxiv)/pdf/*", "0", 2],
    ["https://www.example.com/a?b=c&d=e", true, "com,*", "10000+", 5],
    ["http://example.net/", false, null, null, null],
  ])("answers for %s", async (input, present, key, frequency, distance) => {
    const { url } = await serving();
    const response = await fetch(`${url}/lookup?url=${input}`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("link")).toContain('rel="mementomap"');
    expect(await response.json()).toEqual({ input, present, key, frequency, distance });
  });

  it("gives the same answer when the map is searched in its file", async () => {
    const { url } = await serving(EXAMPLE_MAP, { maxIndexBytes: 0 });
    const response = await fetch(`${url}/lookup?url=http://arxiv.org/abs/1`);
    expect(await response.json()).toMatchObject({
      present: true,
      key: "org,arxiv)/*",
      distance: 3,
    });
  });

  it.each([
    "http://e.com//a/../b/./c",
    "http://e.com/%2F%7E%zz",
    'http://e.com/"|[]\\^`{}',
    "http://e.com/?a=b?c&url=d&at=2014",
    "e.com/?",
    "",
  ])("takes the rest of the target as it is: %s", async (input) => {
    const { url } = await serving();
    const answer = bodyOf(await rawGet(url, `/lookup?url=${input}`));
    expect(JSON.parse(answer)).toMatchObject({ input });
  });

  it("decodes a URI that was sent as a form field, and no other", () => {
    const sent = "https%3A%2F%2Fe.com%2Fa+b%3Fc%3Dd%26e";
    expect(lookupQuery(`url=${sent}`).url).toBe("https://e.com/a b?c=d&e");
    expect(lookupQuery("url=https://e.com/%2F+").url).toBe("https://e.com/%2F+");
    expect(lookupQuery("at=2014&map=m&url=a&at=2015")).toEqual({
      url: "a&at=2015",
      at: "2014",
      map: "m",
      isSurt: false,
    });
  });

  it("never loses a byte of the target", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (path, query) => {
        const before = path.replaceAll("?", "");
        expect(splitTarget(`/${before}?${query}`)).toEqual({ path: `/${before}`, query });
      }),
    );
    expect(splitTarget("http://h.example/x?y")).toEqual({ path: "/x", query: "y" });
  });

  it("says what is wrong with a question", async () => {
    const { url } = await serving();
    const status = async (target: string): Promise<number> =>
      (await fetch(`${url}/lookup${target}`)).status;
    expect(await status("")).toBe(400);
    expect(await status("?at=x&url=http://a.com/")).toBe(400);
    expect(await status("?map=none&url=http://a.com/")).toBe(404);
    expect((await fetch(`${url}/lookup`, { method: "PUT" })).headers.get("allow")).toBe(
      "GET, HEAD, POST, OPTIONS",
    );
  });

  it("lets pages of other sites ask", async () => {
    const { url } = await serving();
    const response = await fetch(`${url}/lookup`, { method: "OPTIONS" });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-methods")).toContain("POST");
  });
});

describe("POST /lookup", () => {
  const uris = "http://arxiv.org/\n\nhttp://arxiv.org/pdf/x\r\nhttp://a\tb.net/\nhttp://x.com/";
  const lines = [
    "http://arxiv.org/\tpresent\torg,arxiv)/\t100\t0",
    "http://arxiv.org/pdf/x\tabsent\torg,arxiv)/pdf/*\t0\t2",
    "http://a%09b.net/\tabsent\t-\t-\t-",
    "http://x.com/\tpresent\tcom,*\t10000+\t4",
    "",
  ];

  it.each([
    ["in memory", 2 ** 20],
    ["in its file", 0],
  ])("answers a line with a line, with the map %s", async (_where, maxIndexBytes) => {
    const { url } = await serving(EXAMPLE_MAP, { maxIndexBytes });
    const response = await fetch(`${url}/lookup`, { method: "POST", body: uris });
    expect((await response.text()).split("\n")).toEqual(lines);
  });

  it("answers in JSON, takes SURTs, and takes compressed batches", async () => {
    const { url } = await serving();
    const ask = async (
      path: string,
      body: string | Uint8Array<ArrayBuffer>,
      accept = "*/*",
    ): Promise<string> =>
      (await fetch(url + path, { method: "POST", body, headers: { accept } })).text();
    expect(await ask("/lookup", "http://x.com/", "application/x-ndjson")).toBe(
      '{"input":"http://x.com/","present":true,"key":"com,*","frequency":"10000+","distance":4}\n',
    );
    expect(await ask("/lookup?surt=1", "com,x)/")).toBe("com,x)/\tpresent\tcom,*\t10000+\t4\n");
    expect(await ask("/lookup", gzipSync(uris))).toBe(lines.join("\n"));
  });

  it("equals single lookups for any URIs", async () => {
    const { url } = await serving();
    const index = MemoryIndex.build(Buffer.from(EXAMPLE_MAP));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.webUrl(), { minLength: 1, maxLength: 50 }), async (list) => {
        const response = await fetch(`${url}/lookup`, { method: "POST", body: list.join("\n") });
        const answers = (await response.text()).trimEnd().split("\n");
        expect(answers.map((line) => line.split("\t")[2])).toEqual(
          list.map((uri) => index.lookupSync(uri).key ?? "-"),
        );
      }),
      { numRuns: 8 },
    );
  });

  it("refuses a batch or a URI that is too large, and what is not text", async () => {
    const { url } = await serving(EXAMPLE_MAP, {
      limits: { maxBatchBytes: 1000, maxUriBytes: 100 },
    });
    const status = async (body: string | Uint8Array<ArrayBuffer>): Promise<number> =>
      (await fetch(`${url}/lookup`, { method: "POST", body })).status;
    expect(await status("x".repeat(2000))).toBe(413);
    expect(await status(`http://${"x".repeat(200)}.com/`)).toBe(413);
    expect(await status(gzipSync("x\n".repeat(100_000)))).toBe(413);
    expect(await status(gzipSync(uris).subarray(0, 12))).toBe(400);
    expect(await status(uris)).toBe(200);
  });
});
