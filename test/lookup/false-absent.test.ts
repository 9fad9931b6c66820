import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { MemorySource, sourceChunks } from "../../src/bytes/byte-source.ts";
import type { Answer } from "../../src/lookup/map-lookup.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { pageSource, planPages } from "../../src/maps/split-map.ts";
import { surt as surtOf } from "../../src/surt/uri-to-surt.ts";
import {
  anyMap,
  emptyMap,
  questions,
  uriQuestions,
  lineQuestions,
  type Question,
} from "./any-map-and-questions.ts";
import { collected, encode, merged } from "../maps/map-files.ts";
import { archivesOf, mapOf, routerOf } from "../aggregate/route/routing.ts";
import { LinearReading, type Reading, reading } from "../support/linear-reading.ts";
import { cases } from "../support/cases.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { FetchClient } from "../../src/http/http-client.ts";
import { HttpSource } from "../../src/publish/fetch/http-source.ts";
import { pagedFiles } from "../support/paged-files.ts";
import { fileServer } from "../support/file-server.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serving } from "../support/serving.ts";

/**
 * Every way to ask a map gives the answer of `LinearReading`, which reads all lines by the text of
 * docs/format.md; conformance.test.ts asks the ways that take microseconds. What makes another map of it never makes absent what was present.
 */
describe("a map never says absent of what it holds", () => {
  it("when requests are routed by it, beside other maps", async () => {
    const archives = archivesOf({ a: {}, b: {} });
    const updatedAt = Date.UTC(2026, 0, 1);
    await fc.assert(
      fc.asyncProperty(anyMap, anyMap, uriQuestions, async (a, b, asked) => {
        const router = await routerOf(archives, {
          a: mapOf(a.text, { updatedAt }),
          b: mapOf(b.text, { updatedAt }),
        });
        const maps = { a: new LinearReading(encode(a.text)), b: new LinearReading(encode(b.text)) };
        for (const [uri, at] of asked) {
          const moment = at && at + "20150101000000".slice(at.length);
          const time = moment && { from: Number(moment), until: Number(moment) };
          const decisions = router.route({ uri, ...time });
          const routed = decisions.map(({ archive, isAsked }) => [archive.id, isAsked] as const);
          expect([uri, at, Object.fromEntries(routed)]).toEqual([
            uri,
            at,
            {
              a: maps.a.lookup(surtOf(uri), moment).present,
              b: maps.b.lookup(surtOf(uri), moment).present,
            },
          ]);
        }
      }),
      { numRuns: cases(250) },
    );
  });

  it("when it is merged with itself, with another, and with nothing", async () => {
    await fc.assert(
      fc.asyncProperty(anyMap, anyMap, questions, async (map, second, asked) => {
        const nothing = emptyMap(map);
        const hasSameColumns = second.isTimed === map.isTimed && second.queries === map.queries;
        const other = hasSameColumns ? second.text : nothing;
        for (const texts of [[map.text], [map.text, other], [nothing, map.text]]) {
          const union = MemoryIndex.build(encode(await merged(...texts)));
          const parts = texts.map((text) => new LinearReading(encode(text)));
          const held = asked.filter(([surt, at]) =>
            parts.some((part) => part.lookup(surt, at).present),
          );
          expect(held.filter(([surt, at]) => !union.lookupSurtSync(surt, { at }).present)).toEqual(
            [],
          );
          // Of all time, it holds no more than its maps; seldom more where times meet spread keys.
          const all = texts.join("");
          const isExact = !(all.includes("datetime") && all.includes(",*)"));
          // A page that one map has under two spellings is present if one of them is.
          const mayBeTwice = /[^,/]\*[^ \t]|\)[ \t]/.test(all);
          // A SURT with a slash before its query is that of no URI.
          const free = asked.filter(
            ([surt]) =>
              isExact &&
              !mayBeTwice &&
              !/[^)]\/\?/.test(surt) &&
              !parts.some((part) => part.lookup(surt).present),
          );
          expect(free.filter(([surt]) => union.lookupSurtSync(surt).present)).toEqual([]);
        }
      }),
      { numRuns: cases(250) },
    );
  });

  it("when one of its pages is asked, which refuses what it cannot know", async () => {
    await fc.assert(
      fc.asyncProperty(anyMap, pageCount, questions, async ({ text }, pages, asked) => {
        const linear = new LinearReading(encode(text));
        for (const bytes of await pagesOf(encode(text), pages)) {
          const search = await MapSearch.open(new MemorySource(bytes));
          const index = MemoryIndex.build(bytes);
          // A SURT with a slash before its query is that of no URI.
          for (const [surt, at] of asked.filter(([one]) => !/[^)]\/\?/.test(one))) {
            const searched = await outcome(search.lookupSurt(surt, { at }));
            expect([linear.lookup(surt, at), "MM_PAGE"]).toContainEqual(searched);
            expect(await outcome(index.lookupSurt(surt, { at }))).toEqual(searched);
          }
        }
      }),
      { numRuns: cases(300) },
    );
  });

  it("when lookup is asked, for a few and for many, plain and compressed", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const stored = fc.constantFrom(encode, gzipped, zstdFrame);
    await fc.assert(
      fc.asyncProperty(anyMap, stored, lineQuestions, async ({ text }, store, asked) => {
        const linear = new LinearReading(encode(text));
        writeFileSync(path, store(text));
        for (const [at, surts] of byTime(asked)) {
          const time = at === undefined ? [] : ["--at", at];
          const named = surts.filter(isNamed);
          const few = await runCli(["lookup", "-q", "--surt", ...time, path, ...named]);
          const stdin = surts.map((surt) => `${surt}\n`).join("");
          const many = await runCli(["lookup", "-q", "--surt", ...time, path, "--batch", "-"], {
            stdin,
          });
          const expectedOf = (asked: readonly string[]): [string, boolean][] =>
            asked.map((surt) => [surt, linear.lookup(surt, at).present]);
          expect([at, states(few.stdout)]).toEqual([at, expectedOf(named)]);
          expect([at, states(many.stdout)]).toEqual([at, expectedOf(surts)]);
        }
      }),
      { numRuns: cases(60) },
    );
  });

  it("when serve is asked, for one and for many", async () => {
    await fc.assert(
      fc.asyncProperty(anyMap, lineQuestions, async ({ text }, asked) => {
        const linear = new LinearReading(encode(text));
        const { url, server } = await serving(text);
        for (const [at, surts] of byTime(asked)) {
          const time = at === undefined ? "" : `&at=${at}`;
          const expected = surts.map((surt) => [surt, linear.lookup(surt, at).present]);
          const body = surts.map((surt) => `${surt}\n`).join("");
          const many = await fetch(`${url}/lookup?surt${time}`, { method: "POST", body });
          expect([at, states(await many.text())]).toEqual([at, expected]);
          for (const [surt, present] of expected) {
            const one = await fetch(`${url}/lookup?surt${time}&url=${surt}`);
            expect([at, await one.json()]).toMatchObject([at, { input: surt, present }]);
          }
        }
        await server.stop();
      }),
      { numRuns: cases(20) },
    );
  });

  it("when it is searched over HTTP", async () => {
    const { url, files } = await fileServer();
    const client = new FetchClient();
    await fc.assert(
      fc.asyncProperty(anyMap, lineQuestions, async ({ text }, asked) => {
        const linear = new LinearReading(encode(text));
        files.set("/map", encode(text));
        const search = await MapSearch.open(await HttpSource.open(client, `${url}/map`), {
          blockBytes: 64,
        });
        for (const [surt, at] of asked) {
          const expected = [surt, at, linear.lookup(surt, at)];
          expect([surt, at, reading(await search.lookupSurt(surt, { at }))]).toEqual(expected);
        }
      }),
      { numRuns: cases(40) },
    );
  });

  it("when fetch looks up in it, or brings its pages", async () => {
    const { url, files } = await fileServer();
    await fc.assert(
      fc.asyncProperty(anyMap, uriQuestions, pageCount, async ({ text }, asked, pages) => {
        const linear = new LinearReading(encode(text));
        const folder = scratchDir();
        files.clear();
        files.set("/.well-known/mementomap", encode(text));
        for (const [path, bytes] of await pagedFiles(text, pages)) files.set(path, bytes);
        const page = `${url}/page-1.ukvs`;
        const target = join(folder, "fetched.ukvs");
        const fetched = await runCli(["fetch", "-q", "--direct", page, "-o", target]);
        expect(fetched).toMatchObject({ code: 0 });
        const joined = new LinearReading(readFileSync(target));
        for (const [at, uris] of byTime(asked)) {
          const time = at === undefined ? [] : ["--at", at];
          const expected = uris.map((uri) => [uri, linear.lookup(surtOf(uri), at).present]);
          const asking = uris.flatMap((uri) => ["--lookup", uri]);
          const whole = `${url}/.well-known/mementomap`;
          const remote = await runCli(["fetch", "-q", "--direct", whole, ...time, ...asking]);
          expect([at, states(remote.stdout)]).toEqual([at, expected]);
          expect(uris.map((uri) => [uri, joined.lookup(surtOf(uri), at).present])).toEqual(
            expected,
          );
        }
      }),
      { numRuns: cases(20) },
    );
  });
});

const pageCount = fc.integer({ min: 2, max: 5 });

async function pagesOf(map: Uint8Array, pages: number): Promise<Uint8Array[]> {
  const source = new MemorySource(map);
  const plan = await planPages(source, { pages });
  return Promise.all(
    plan.pages.map(async (page) =>
      Uint8Array.from(Buffer.concat(await collected(sourceChunks(pageSource(source, plan, page))))),
    ),
  );
}

/** What a map says, or the code of its refusal. */
async function outcome(asked: Promise<Answer>): Promise<Reading | string> {
  try {
    return reading(await asked);
  } catch (error) {
    if (isMementoMapError(error)) return error.code;
    throw error;
  }
}

function byTime(asked: readonly Question[]): Map<string | undefined, string[]> {
  const groups = new Map<string | undefined, string[]>();
  for (const [surt, at] of asked) groups.set(at, [...(groups.get(at) ?? FIRST), surt]);
  return groups;
}

/** Arguments are refused that are neither a SURT nor a URI, such as `com,*` and `com`. */
function isNamed(surt: string): boolean {
  return /^[^\s/?#()]*[^\s/?#(),]\)(?:[/?]|$)/.test(surt);
}

/** Batches that begin with a wildcard are taken for maps. */
const FIRST = ["com,a)/"];

/** Input and state of the lines of an answer. */
function states(text: string): [string, boolean][] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t"))
    .map(([input = "", state]) => [input, state === "present"]);
}

function gzipped(text: string): Uint8Array {
  return gzipSync(text);
}

/** A Zstandard frame (RFC 8878) of one block that is not compressed. */
function zstdFrame(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0xa0, 4);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE(bytes.length * 8 + 1, 9, 3);
  return Buffer.concat([head, bytes]);
}
