import { describe, expect, it } from "vitest";
import { generateMap } from "../../src/generate/generate-map.ts";

const LINK = `<http://a.example.org/x?b=1,2>; rel="original",
<http://arxiv.example.net/timemap/http://a.example.org>; rel="self"; type="application/link-format"; from="Tue, 20 Jun 2000 18:02:59 GMT",
<http://arxiv.example.net/timegate/http://a.example.org>; rel="timegate",
<http://arxiv.example.net/web/20000620180259/http://a.example.org>; rel="first memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT"; license="http://x/, y",
<http://other.example/20091027204954/http://a.example.org>; rel="last memento"; datetime="Tue, 27 Oct 2009 20:49:54 GMT"`;

const JSON_TEXT = JSON.stringify({
  original_uri: "http://a.example.org/x",
  self: "http://localhost:1208/timemap/json/http://a.example.org",
  mementos: {
    list: [
      { datetime: "2000-06-20T18:02:59Z", uri: "http://arxiv.example.net/web/20000620180259/x" },
      { datetime: "2009-10-27T20:49:54Z", uri: "http://other.example/20091027204954/x" },
    ],
  },
});

const CDXJ = `!context ["https://oduwsdl.github.io/contexts/memento"]
!id {"uri": "http://localhost:1208/timemap/cdxj/http://a.example.org/x"}
!keys ["memento_datetime_YYYYMMDDhhmmss"]
!meta {"original_uri": "http://a.example.org/x"}
20000620180259 {"uri": "http://arxiv.example.net/web/20000620180259/x", "rel": "first memento", "datetime": "Tue, 20 Jun 2000 18:02:59 GMT"}
20091027204954 {"uri": "http://other.example/20091027204954/x", "rel": "last memento", "datetime": "Tue, 27 Oct 2009 20:49:54 GMT"}
`;

async function rowsOf(texts: readonly string[], archive?: string): Promise<string[]> {
  const sources = texts.map((text) => ({
    name: "timemap",
    chunks: (async function* () {
      yield new TextEncoder().encode(text);
    })(),
  }));
  const { bytes } = await generateMap(sources, { archive });
  return Buffer.from(bytes).toString().split("\n").slice(4, -1);
}

describe("TimeMaps", () => {
  it.each([
    ["link format", LINK],
    ["JSON", JSON_TEXT],
    ["CDXJ", CDXJ],
    ["link format, behind a byte order mark", `\uFEFF${LINK}`],
    ["JSON, behind a byte order mark", `\uFEFF${JSON_TEXT}`],
  ])("are read in %s", async (_name, text) => {
    expect(await rowsOf([text])).toEqual(["org,example,a)/x 2+"]);
  });

  it("of the same original are counted once, and only for the archive asked for", async () => {
    expect(await rowsOf([LINK, LINK])).toEqual(["org,example,a)/x 2+"]);
    expect(await rowsOf([LINK, JSON_TEXT], "arxiv.example.net")).toEqual(["org,example,a)/x 2+"]);
    expect(await rowsOf([JSON_TEXT, CDXJ], "arxiv.example.net")).toEqual(["org,example,a)/x 1+"]);
  });

  it.each([
    ["link format", `${LINK},\n`, LINK],
    ["JSON", `${JSON_TEXT}\n`, JSON_TEXT],
    ["CDXJ", CDXJ, CDXJ],
  ])("that were joined may not be of two originals: %s", async (_name, first, second) => {
    expect(await rowsOf([first + second])).toEqual(["org,example,a)/x 2+"]);
    expect(await rowsOf([first + second.replaceAll("http://a.", "https://www.a.")])).toEqual([
      "org,example,a)/x 2+",
    ]);
    await expect(
      rowsOf([first + second.replaceAll("http://a.", "http://b.")]),
    ).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringMatching(/^has two originals, ".*" and ".*"/) as string,
    });
  });

  it.each([
    [
      '<http://m/>; rel="memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT"',
      /not name its original/,
    ],
    ['<http://o/>; rel="original",\n<http://m/>; rel="memento"; datetime="then"', /then/],
    ['{"original_uri": "http://a/", ', /nor JSON/],
  ])("that make no sense are refused: %s", async (text, message) => {
    await expect(rowsOf([text])).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringMatching(message) as string,
    });
  });
});
