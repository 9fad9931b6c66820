import { describe, expect, it } from "vitest";
import { generateMap } from "../../src/generate/generate-map.ts";
import { rowsOf } from "../generate/naive-map.ts";

const LOG = [
  // Common and Combined Log Format, with replay flags, queries, and schemes left out.
  '1.2.3.4 - - [09/Jun/2016:12:00:00 +0000] "GET /web/20160304000000/http://example.com/a?x=1 HTTP/1.1" 200 5',
  '1.2.3.4 - u [09/Jun/2016:12:00:01 +0000] "GET /web/20160304000000/http://example.com/a?x=1 HTTP/1.1" 200 5 "-" "UA \\"q\\""',
  '1.2.3.4 - - [09/Jun/2016:12:00:02 +0000] "GET /web/20170304000000id_/http://example.com/a HTTP/1.1" 302 0',
  '1.2.3.4 - - [09/Jun/2016:12:00:03 +0000] "GET /coll/2016im_/example.org/logo.png HTTP/1.1" 304 0',
  // Nothing learnt: 404 may be an archived answer, and the rest are not mementos.
  '1.2.3.4 - - [09/Jun/2016:12:00:04 +0000] "GET /web/20160304000000/http://gone.example/ HTTP/1.1" 404 5',
  '1.2.3.4 - - [09/Jun/2016:12:00:05 +0000] "GET /static/2016/logo.png HTTP/1.1" 503 5',
  '1.2.3.4 - - [09/Jun/2016:12:00:06 +0000] "GET / HTTP/1.1" 200 5',
  '1.2.3.4 - - [09/Jun/2016:12:00:07 +0000] "-" 408 0',
].join("\n");

function mapOf(text: string, skipBad = false) {
  const chunks = (async function* () {
    yield new TextEncoder().encode(text);
  })();
  return generateMap([{ name: "access.log", chunks }], { skipBad });
}

describe("an access log of a replay server", () => {
  it("tells of mementos that were served, each once, and that there may be more", async () => {
    const { bytes, counts } = await mapOf(LOG);
    expect(Buffer.from(bytes).toString().split("\n").slice(4)).toEqual([
      "com,example)/a 2+",
      "org,example)/logo.png 1+",
      "",
    ]);
    expect(counts).toMatchObject({ lines: 8, captures: 4, unproven: 4, samples: 4, bad: 0 });
  });

  it("does not prove more than one capture of a URI, because servers show the nearest", async () => {
    const request = (datetime: string, status: number): string =>
      `::1 - - [09/Jun/2016:12:00:00 +0000] "GET /web/${datetime}/http://a.com/ HTTP/1.1" ${status} 5\n`;
    const { bytes } = await mapOf(
      request("2016", 302) + request("20160304000000", 200) + request("20160305000000", 200),
    );
    expect(Buffer.from(bytes).toString()).toMatch(/\ncom,a\)\/ 1\+\n$/);
  });

  it.each([
    ["/web/20160304000000/http://a.com/x", "com,a)/x"],
    ["/web/20160304000000/http:/a.com/x", "com,a)/x"],
    ["/web/2016/HTTPS://a.com:8443/x", "com,a:8443)/x"],
    ["/web/20160304000000/a.com", "com,a)/"],
    ["/web/20160304000000/a.com?x", "com,a)/"],
    ["/web/2016im_/a.com/x", "com,a)/x"],
    // As a URI, this has the scheme `a.com`.
    ["/web/2016im_/a.com:8080/x", undefined],
    ["http://proxy.org/web/2016/http://a.com/", "com,a)/"],
    ["/img/2016/logo.png", undefined],
    ["/2016/03/04/index.html", undefined],
    ["/web/20160304000000*/http://a.com/", undefined],
    ["/web/20160304000000/dns:a.com", undefined],
    ["/web/20160304000000/javascript:void(0)", undefined],
    ["/web/20160304000000/data:image/png;base64,AAAA", undefined],
    ["/web/20160304000000/http%3A%2F%2Fa.com%2Fx", undefined],
    ["/web/20160304000000/", undefined],
  ])("tells mementos from other requests: %s", async (target, key) => {
    const line = `::1 - - [09/Jun/2016:12:00:00 +0000] "GET ${target} HTTP/1.1" 200 5\n`;
    const { bytes, counts } = await mapOf(line);
    expect(rowsOf(bytes)).toEqual(key === undefined ? [] : [`${key} 1+`]);
    expect(counts.unproven).toBe(key === undefined ? 1 : 0);
  });

  it("refuses lines of another kind, with their number", async () => {
    await expect(mapOf(`${LOG}\nno log line`)).rejects.toMatchObject({
      code: "MM_BAD_LINE",
      position: { source: "access.log", line: 9 },
    });
  });
});
