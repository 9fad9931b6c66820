import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Mutator } from "../../fuzz/mutator.ts";
import type { ReadIndexOptions } from "../../fuzz/read-index.ts";
import { readIndex } from "../../fuzz/read-index.ts";
import { isMementoMapError } from "../../src/errors.ts";
import { mapHeaders } from "../../src/generate/map-rows.ts";
import { MapRows } from "../../src/generate/map-rows.ts";
import type { InputFormat } from "../../src/input/formats.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import type { Fault } from "../../src/maps/map-faults.ts";
import { validateMap } from "../../src/maps/validate-map.ts";
import { Random } from "../../src/bytes/random.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { arcFile } from "../support/arc-fixture.ts";
import { warcRecord } from "../support/warc-fixture.ts";
import { formatHeaders } from "../../src/ukvs/header.ts";
import { anyUri } from "../surt/uri-arbitraries.ts";

const URIS = [
  "http://example.com/",
  "https://www.example.org/a/b?x=1&y=2",
  "http://user:pw@a.co.uk:8080/%7Eu/*?q",
  "http://[2001:db8::1]/x",
  "http://127.0.0.1/i",
  "http://a..b.com/",
  "http://bücher.example/ü",
  "ftp://f.org/x",
  "mailto:a@b,c.com",
  "dns:a.com",
  "example.com/path;jsessionid=1",
];
const DATE = "20140131235959";
const cdxj = URIS.map((uri) => `${surt(uri)} ${DATE} {"url": "${uri}", "status": "200"}\n`).join(
  "",
);
const cdx = URIS.map((uri) => `${surt(uri)} ${DATE} ${uri} text/html 200 A - - 1 2 f\n`).join("");

const SEEDS: Readonly<Partial<Record<InputFormat, readonly (string | Uint8Array)[]>>> = {
  urls: [URIS.join("\n")],
  surts: [URIS.map(surt).join("\n"), "http://(com,example,www,)/A\n[2001:db8::1])/\ncom,a,)/\n"],
  cdxj: [cdxj, `example.com/x 2015 {"url":"http:\\/\\/e.com\\/x"}\n`],
  cdx: [` CDX N b a m s k r M S V g\n${cdx}`, cdx],
  json: [
    `[["urlkey","timestamp","original"],["com,a)/","${DATE}","http://a.com/"]]\n`,
    `{"urlkey":"com,a)/","timestamp":"${DATE}","url":"http://a.com/"}\n`,
  ],
  warc: [
    Buffer.concat(
      URIS.map((uri) => warcRecord({ type: "response", uri, http: "HTTP/1.1 200 OK" })),
    ),
  ],
  arc: [arcFile(URIS.map((uri) => ({ uri, http: "HTTP/1.0 200 OK" })))],
  timemap: [
    `<http://a.com/>; rel="original",\n<http://w.org/2014/http://a.com/>; rel="memento"; datetime="Wed, 01 Jan 2014 00:00:00 GMT"\n`,
    `${DATE} {"uri": "http://w.org/2014/http://a.com/", "rel": "memento"}\n`,
  ],
  log: [
    `192.0.2.1 - - [01/Jan/2014:00:00:00 +0000] "GET /web/${DATE}id_/http://example.com/ HTTP/1.1" 200 1 "-" "x"\n`,
  ],
};
const ALL = Object.values(SEEDS).flat();
const WORDS = ["*", "\u0001", " ", ")", ",", "//", "%29", "%2f", ".", "..", "20140000000000"];
const INPUTS = 400;

/** The map of an index, as `generateMap` writes it; undefined where there is none, or an error. */
async function mapOf(input: Uint8Array, options: ReadIndexOptions): Promise<Buffer | undefined> {
  const { originals = false, distinct = false, datetimeDigits = 0 } = options;
  const rows = new MapRows({ originals, distinct });
  try {
    const found = await readIndex([input], { ...options, distinct });
    if (found.rows.length === 0) return undefined;
    for (const [key, count] of found.rows) rows.add(Buffer.from(key, "latin1"), key.length, count);
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
  rows.end();
  const headers = formatHeaders(mapHeaders({}, { datetimeDigits })).map((line) => `${line}\n`);
  return Buffer.concat([Buffer.from(headers.join("")), rows.take()]);
}

async function faultsOf(map: Uint8Array | undefined): Promise<Fault[]> {
  if (map === undefined) return [];
  const faults: Fault[] = [];
  for await (const fault of validateMap([map], { isOnlyErrors: true })) faults.push(fault);
  return faults;
}

describe.each([...Object.keys(SEEDS), "auto"] as InputFormat[])("a map made of %s", (format) => {
  it("is a map that validate accepts, however damaged the input is", async () => {
    const random = new Random(Number(process.env["FUZZ_SEED"] ?? 1), format);
    const mutator = new Mutator(random, WORDS);
    const pool = (SEEDS[format] ?? ALL).map((seed) => new Uint8Array(Buffer.from(seed)));
    let maps = 0;
    for (let i = 0; i < INPUTS; i++) {
      const input = mutator.next(pool);
      const options = {
        format,
        skipBad: random.chance(0.7),
        datetimeDigits: random.pick([0, 0, 4, 6, 8, 14]),
        originals: random.chance(0.1),
        distinct: format === "timemap" || format === "log" || format === "auto",
      };
      const text = await mapOf(input, options);
      if (text === undefined) continue;
      maps++;
      expect({
        input: Buffer.from(input).toString("latin1"),
        faults: await faultsOf(text),
      }).toEqual({
        input: Buffer.from(input).toString("latin1"),
        faults: [],
      });
    }
    expect(maps).toBeGreaterThan(INPUTS / 20);
  });
});

describe("keys", () => {
  it.each(["%2F:0%3f", "http://%2Ffoo:%3f/a", "http://a%2fb:%3fx/", "http://[%2f:%3f]/"])(
    "of a host that has a slash, a colon and a question mark: %s",
    async (uri) => {
      const map = await mapOf(new TextEncoder().encode(uri), { format: "urls" });
      expect(await faultsOf(map)).toEqual([]);
      expect(map && MemoryIndex.build(map).lookupSync(uri).present).toBe(true);
    },
  );

  it("of any URI are keys that validate accepts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyUri, { minLength: 1 }), async (uris) => {
        const text = uris.map((uri) => uri.replaceAll(/[\r\n]/g, "")).join("\n");
        const map = await mapOf(new TextEncoder().encode(text), { format: "urls" });
        expect(await faultsOf(map)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
