import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import type { Answer } from "../../src/lookup/map-lookup.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { pageChunks, planPages } from "../../src/maps/split-map.ts";
import { surt as surtOf } from "../../src/surt/uri-to-surt.ts";
import { anyMap, emptyMap, questions, uriQuestions } from "../lookup/any-map-and-questions.ts";
import { collected, encode, merged } from "../maps/map-files.ts";
import { archivesOf, mapOf, routerOf } from "../aggregate/route/routing.ts";
import { LinearReading, type Reading, reading } from "../support/linear-reading.ts";
import { cases } from "../support/cases.ts";

/**
 * Every way to ask a map gives the answer of `LinearReading`, which reads all lines by the text of
 * docs/format.md. What makes another map of it never makes absent what was present.
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
});

const pageCount = fc.integer({ min: 2, max: 5 });

async function pagesOf(map: Uint8Array, pages: number): Promise<Uint8Array[]> {
  const source = new MemorySource(map);
  const plan = await planPages(source, { pages });
  return Promise.all(
    plan.pages.map(async (page) =>
      Uint8Array.from(Buffer.concat(await collected(pageChunks(source, plan, page)))),
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
