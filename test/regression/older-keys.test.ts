import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FetchClient } from "../../src/http/http-client.ts";
import { HttpSource } from "../../src/publish/fetch/http-source.ts";
import { AnswerWriter, BlockWriter } from "../../src/map/lookup/answer-lines.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { MapSearch } from "../../src/map/lookup/map-search.ts";
import { MemoryIndex } from "../../src/map/lookup/memory-index.ts";
import { PackedLookup } from "../../src/map/lookup/packed-lookup.ts";
import { CombinedIndex } from "../../src/aggregate/route/combined-index.ts";
import { surtKey } from "../../src/surt/key.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { packedBytes } from "../map/pack/packed-bytes.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { anyUri } from "../surt/uri-arbitraries.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The rule of version 0.1 for keys, as it was. */
function keyOf01(text: string): string {
  let end = text.indexOf("?");
  const paren = text.indexOf(")/");
  if (end === -1) end = text.length;
  else if (end <= paren && !text.slice(0, end).includes(":")) {
    const next = text.indexOf("?", paren);
    end = next === -1 ? text.length : next;
  }
  const key = text
    .slice(0, end)
    // oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
    .replace(/[\u0000-\u0020\u007f]/g, escape)
    .replace(/^[!@"{]/, escape)
    .replace(/(^|[,/])\*(?=$|[,/)?])/g, "$1%2a");
  const trimmed = key.replace(/\/+$/, "");
  const isHome = trimmed.endsWith(")") && [-1, trimmed.length - 1].includes(trimmed.indexOf(")/"));
  return isHome ? `${trimmed}/` : trimmed;
}

function escape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

/** The SURT of version 0.1: addresses of IPv6 had no brackets. */
function surtOf01(uri: string): string {
  const text = surt(uri);
  const end = text.indexOf(")/");
  const isBracketed = /^\[[^\]]*:[^\]]*\]:/.test(text.slice(0, end));
  return isBracketed ? text.replace("[", "").replace("]", "") : text;
}

const oddHost = fc
  .array(
    fc.constantFrom("a", "b", ".", "-", ")", "%29", "%2f", ",", "%2c", "*", "é", "%e9", "!", "("),
    { minLength: 1, maxLength: 7 },
  )
  .map((pieces) => pieces.join(""));
const oddPath = fc
  .array(fc.constantFrom("/", "a", "*", "%2a", "é", "%c3%a9", "%ff", ")", ",", " ", "?", "A"), {
    maxLength: 8,
  })
  .map((pieces) => `/${pieces.join("")}`);
const oddUri = fc.oneof(
  anyUri,
  fc.tuple(oddHost, oddPath).map(([host, path]) => `http://${host}${path}`),
  oddPath.map((path) => `http://[2001:db8::1]:8080${path}`),
);

/** A URI, its SURT, and a row of an old map that covers it. */
interface Case {
  readonly uri: string;
  readonly surt: string;
  readonly key: string;
}

const oldCase: fc.Arbitrary<Case> = fc
  .tuple(oddUri, fc.constantFrom("page", "page", "below", "host"))
  .filter(([uri]) => surt(uri) !== "" && !/^[\ufeff]/.test(uri) && isFoundBy01(surt(uri)))
  .map(([uri, kind]) => {
    const key = keyOf01(surtOf01(uri));
    return { uri, surt: surt(uri), key: kind === "page" ? key : wildcard(key, kind) };
  });

/**
 * Version 0.1 removed slashes at the end of URIs without a host, where they mean something, and took
 * upper case before a `)` at the end of one as it is.
 */
function isFoundBy01(text: string): boolean {
  const key = keyOf01(text);
  if (surtKey(text) === key) return true;
  return surtKey(text).includes(")") && !/[A-Z]/.test(key);
}

function wildcard(key: string, kind: string): string {
  const paren = key.indexOf(")/");
  if (paren <= 0) return key;
  if (kind === "host") return `${key.slice(0, paren)},*`;
  return `${key.endsWith(")/") && paren === key.length - 2 ? key.slice(0, -1) : key}/*`;
}

function mapOf(keys: readonly string[]): Uint8Array {
  const rows = [...new Set(keys)].map((key) => Buffer.from(`${key} 3\n`));
  return Uint8Array.from(Buffer.concat(rows.sort((a, b) => Buffer.compare(a, b))));
}

/** What each door to a map says. */
async function answers(map: Uint8Array, { uri, surt: text }: Case): Promise<object> {
  const index = MemoryIndex.build(map);
  const search = await MapSearch.open(new MemorySource(map));
  const combined = CombinedIndex.build([index, MemoryIndex.build(mapOf(["org,other)/"]))]);
  const bytes = encode(text);
  combined.lookupKeyBytes(bytes, 0, bytes.length);
  return {
    search: (await search.lookup(uri)).present,
    searchBySurt: (await search.lookupSurt(text)).present,
    memory: index.lookupSync(uri).present,
    memoryBySurt: index.lookupSurtSync(text).present,
    batch: await isInBatch(index, encode(uri), false),
    batchBySurt: await isInBatch(index, bytes, true),
    combined: combined.rows[0] >= 0,
  };
}

async function isInBatch(index: MemoryIndex, input: Uint8Array, isSurt: boolean): Promise<boolean> {
  const writer = new AnswerWriter(index, new BlockWriter({ write: () => undefined }), { isSurt });
  writer.startBatch(input);
  await writer.write(input, 0, input.length);
  return writer.presentCount === 1;
}

const FOUND = {
  search: true,
  searchBySurt: true,
  memory: true,
  memoryBySurt: true,
  batch: true,
  batchBySurt: true,
  combined: true,
};

describe("maps of version 0.1", () => {
  it.each([
    ["http://a%29b.com/x", "com,a)b)/x"],
    ["http://a%2fb.com/x", "com,a/b)/x"],
    ["http://a.com,/x", "com,,a)/x"],
    ["http://,com/x", ",com)/x"],
    ["http://a,.com/x", "com,a,)/x"],
    ["http://[::1]:8080/x", "::1:8080)/x"],
    ["http://a.com/b*c", "com,a)/b*c"],
    ["http://a.com/caf%C3%A9", "com,a)/café"],
    ["http://a.com/caf%C3%A9/b", "com,a)/café/*"],
    ["http://a%29b.com/*x/é", "com,a)b)/*x/é"],
  ])("finds %s by %s", async (uri, key) => {
    expect(await answers(mapOf([key]), { uri, surt: surt(uri), key })).toEqual(FOUND);
  });

  it("finds every URI by the key that was written for it", async () => {
    await fc.assert(
      fc.asyncProperty(oldCase, fc.array(oldCase, { maxLength: 3 }), async (asked, others) => {
        const map = mapOf([asked.key, ...others.map(({ key }) => key)]);
        expect(await answers(map, asked)).toEqual(FOUND);
      }),
      { numRuns: 1000 },
    );
  });

  it("finds every URI in the map packed, whatever reads its rows", async () => {
    const folder = scratchDir();
    const cases = fc.array(oldCase, { minLength: 1, maxLength: 4 });
    const options = fc.constantFrom({ bits: 24 }, { bits: 3 }, {}, { maxBytes: 1500 });
    await fc.assert(
      fc.asyncProperty(cases, options, async (all, options) => {
        const map = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
          mapOf(all.map(({ key }) => key)),
        );
        const file = await packedBytes(map, options, folder);
        const packed = PackedLookup.of(file ?? new Uint8Array(), "memory");
        for (const { uri, surt: text } of all) {
          expect([uri, packed.isPresent(uri)]).toEqual([uri, true]);
          expect([text, (await packed.lookupSurt(text)).present]).toEqual([text, true]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("finds rows with all their columns under two spellings, packed with years", async () => {
    const text = [
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}',
      "::1:8080)/ 2010 1",
      "com,a)b)/x*%c3%a9 2015 1",
      "com,a)b)/x*é 2011 1",
      "com,a)b)/x*é 2013 1",
      "com,b)/ 2001 1",
      "",
    ].join("\n");
    const file = await packedBytes(text, { years: true, bits: 24 });
    const packed = PackedLookup.of(file ?? new Uint8Array(), "memory");
    const at = async (uri: string, year: string): Promise<boolean> =>
      (await packed.lookup(uri, { at: year })).present;
    for (const year of ["2011", "2013", "2015"]) {
      expect(await at("http://a%29b.com/x*é", year)).toBe(true);
    }
    expect(await at("http://[::1]:8080/", "2010")).toBe(true);
    expect(await at("http://[::1:8080]/", "2010")).toBe(true);
    expect(await at("http://b.com/", "2010")).toBe(false);
  });

  it("finds home pages without a slash in maps with queries", async () => {
    const fields = '!fields {"keys":["surt"],"values":["frequency"],"queries":true}';
    const text = `${fields}\ncom,a)/(b)?y 1\ncom,a:80)?x=1 1\ncom,z)?x=1 1\n`;
    const file = await packedBytes(text, { bits: 24 });
    const maps = [
      MemoryIndex.build(encode(text)),
      await MapSearch.open(new MemorySource(encode(text))),
      PackedLookup.of(file ?? new Uint8Array(), "memory"),
    ];
    for (const map of maps) {
      for (const asked of ["com,z)?x=1", "com,z)/?x=1", "com,a:80)/?x=1", "com,a)/(b)?y"]) {
        expect([asked, (await map.lookupSurt(asked)).present]).toEqual([asked, true]);
      }
      expect((await map.lookup("http://z.com/?x=1")).present).toBe(true);
      for (const asked of ["com,z)/?x=2", "com,z)/", "com,a)/(b)"]) {
        expect([asked, (await map.lookupSurt(asked)).present]).toEqual([asked, false]);
      }
    }
  });

  it("counts them as held when maps are evaluated", async () => {
    const folder = scratchDir();
    const [map, asked] = ["map.ukvs", "asked.txt"].map((name) => join(folder, name));
    writeFileSync(map, mapOf(["::1:8080)/", "com,a)b)/", "com,x)/café"]));
    writeFileSync(asked, "http://[::1]:8080/\nhttp://a%29b.com/\nhttp://x.com/caf%C3%A9\n");
    const run = await runCli(["evaluate", map, "--truth", map, "--lookups", asked]);
    expect(run.stdout).toContain("3 keys, 3 of them held");
    expect(run.code).toBe(0);
  });

  it("finds every URI by the key that is written now", async () => {
    await fc.assert(
      fc.asyncProperty(oldCase, async (asked) => {
        expect(await answers(mapOf([surtKey(asked.surt)]), asked)).toEqual(FOUND);
      }),
      { numRuns: 1000 },
    );
  });

  it("finds characters of an index that were not escaped, by SURT and bytes", async () => {
    const character = fc.constantFrom("a", "é", "☃", "😀", "/b", "*x", "%20");
    await fc.assert(
      fc.asyncProperty(fc.array(character, { minLength: 1, maxLength: 5 }), async (characters) => {
        const text = `com,a)/p${characters.join("")}`;
        const index = MemoryIndex.build(mapOf([keyOf01(text)]));
        expect(index.lookupSurtSync(text).present).toBe(true);
        expect(await isInBatch(index, encode(text), true)).toBe(true);
        const search = await MapSearch.open(new MemorySource(mapOf([keyOf01(text)])));
        expect((await search.lookupSurt(text)).present).toBe(true);
      }),
    );
  });

  it("finds them by ranges of HTTP", async () => {
    const cases = fc.sample(oldCase, { numRuns: 60, seed: 1 });
    const map = mapOf(cases.map(({ key }) => key));
    const url = await serveOnLoopback((_, response, { headers }) => {
      const [, first = "0", last = "0"] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? "") ?? [];
      const body = map.subarray(Number(first), Number(last) + 1);
      const range = `bytes ${first}-${Number(first) + body.length - 1}/${map.length}`;
      response.writeHead(206, { "Content-Range": range, ETag: '"1"' }).end(body);
    });
    const search = await MapSearch.open(await HttpSource.open(new FetchClient(), url));
    for (const { uri } of cases) {
      expect({ uri, ...(await search.lookup(uri)) }).toMatchObject({ uri, present: true });
    }
  });
});
