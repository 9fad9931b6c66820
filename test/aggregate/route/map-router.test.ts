import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryIndex } from "../../../src/lookup/memory-index.ts";
import type { RouteRequest } from "../../../src/aggregate/route/decision.ts";
import { MapRouter } from "../../../src/aggregate/route/map-router.ts";
import type { RoutedMap } from "../../../src/aggregate/route/routed-map.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import { mapBytes, PLAIN, rows } from "../../lookup/map-arbitraries.ts";
import { archivesOf, mapOf, routerOf, shown } from "./routing.ts";

const URI = "http://x.example/a/b";
const at = (date: string): number => Date.parse(date);

describe("MapRouter", () => {
  it("asks those whose map has the URI, and those without a map", async () => {
    const router = await routerOf(archivesOf({ has: {}, "has-not": {}, unknown: {} }), {
      has: "example,x)/a/* 30/10\n",
      "has-not": "example,y)/* 5\n",
    });
    const decisions = router.route({ uri: URI });
    expect(shown(decisions)).toBe("+has in-map, +unknown no-map, -has-not not-in-map");
    expect(decisions[0]).toMatchObject({ key: "example,x)/a/*", frequency: "30/10" });
    expect(decisions[1]).toMatchObject({ key: undefined, likelihood: expect.closeTo(0.0544) });
    expect(JSON.parse(JSON.stringify(decisions[0]))).toMatchObject({ key: "example,x)/a/*" });
  });

  it.each([
    ["a page of it is all there is", '{"page":{"number":1,"of":2,"first":"a)/","last":"b)/"}}'],
    ["a part of it is all there is", '{"part":{"number":1,"of":2,"to":"b)/"}}'],
    ["it was made by later rules", '{"canonicalization":"surt/2"}'],
    ["it was made by other rules", '{"canonicalization":"ours"}'],
  ])("asks an archive whose map lacks the URI if %s", async (_, meta) => {
    const router = await routerOf(archivesOf({ a: {} }), { a: `!meta ${meta}\ncom,a)/ 1\n` });
    expect(router.route({ uri: URI })[0]).toMatchObject({ isAsked: true, reason: "no-map" });
  });

  it("names the exclusion that decided", async () => {
    const router = await routerOf(archivesOf({ a: {} }), {
      a: "example,x)/* 9\nexample,x)/a/* 0\n",
    });
    expect(router.route({ uri: URI })[0]).toMatchObject({
      isAsked: false,
      reason: "not-in-map",
      key: "example,x)/a/*",
      frequency: "0",
      likelihood: 0,
    });
  });

  it("never leaves out an archive whose map has the URI, nor asks one whose map has it not", () => {
    const uris = fc.constantFrom(
      "http://a.com/a",
      "http://b.a.com/a/b?q",
      "http://com/",
      "http://a-b.com/%20/",
      "http://b.org/",
      "http://localhost/b",
      "http://a.com:8080/a",
      "dns:a.com",
      "",
    );
    const maps = fc.array(fc.option(rows.map((content) => mapBytes(content, PLAIN))), {
      maxLength: 5,
    });
    return fc.assert(
      fc.asyncProperty(maps, fc.array(uris, { minLength: 1 }), async (held, asked) => {
        const archives = archivesOf(Object.fromEntries(held.map((_, i) => [`a${i}`, {}])));
        const indexes = held.map((bytes) =>
          bytes === null ? undefined : MemoryIndex.build(bytes),
        );
        const router = await routerOf(
          archives,
          Object.fromEntries(
            indexes.flatMap((index, i) =>
              index === undefined ? [] : [[`a${i}`, { index, updatedAt: undefined }]],
            ),
          ),
        );
        for (const uri of asked) {
          const reasons = new Map(
            router.route({ uri }).map(({ archive, reason }) => [archive.id, reason]),
          );
          for (const [i, index] of indexes.entries()) {
            const answer = index?.lookupSurtSync(surt(uri));
            const expected =
              answer === undefined ? "no-map" : answer.present ? "in-map" : "not-in-map";
            expect(reasons.get(`a${i}`)).toBe(expected);
          }
        }
      }),
    );
  });

  it("asks all when it broadcasts, in the order of their probability", async () => {
    const archives = archivesOf({ a: {}, b: { probability: 0.01 }, c: { probability: 0.5 } });
    const router = await routerOf(archives, { a: "com,* 1\n" }, { isBroadcasting: true });
    expect(shown(router.route({ uri: URI }))).toBe("+c broadcast, +b broadcast, +a broadcast");
    expect(shown(router.route({ uri: URI, topK: 1, except: ["c"] }))).toBe(
      "+b broadcast, -a beyond-top-k, -c not-selected",
    );
  });

  it("goes by the first reason that holds", async () => {
    const archives = archivesOf({
      unwanted: {},
      asleep: { until: "2001" },
      early: { until: "2001" },
      absent: {},
      present: {},
    });
    const map = "example,x)/* 3\n";
    const router = await routerOf(
      archives,
      { unwanted: map, asleep: map, early: map, absent: "com,* 1\n", present: map },
      { isDormant: ({ id }) => id === "asleep" || id === "unwanted" },
    );
    const decisions = router.route({ uri: URI, except: ["unwanted"], from: 20020101000000 });
    expect(shown(decisions)).toBe(
      "+present in-map, -unwanted not-selected, -asleep dormant, -early out-of-range, -absent not-in-map",
    );
    expect(shown(router.route({ uri: URI, only: ["absent", "nobody"] }))).toContain(
      "-present not-selected",
    );
  });

  describe("with a limit", () => {
    const archives = archivesOf({ asleep: {}, page: {}, site: {}, domain: {}, unknown: {} });
    const maps = {
      asleep: "example,x)/a/b 9\n",
      page: "example,x)/a/b 1\n",
      site: "example,x)/* 600/200\n",
      domain: "example,* 10\n",
    };
    const options = { isDormant: ({ id }: { id: string }) => id === "asleep" };

    it("asks the most useful, and dormant archives do not use it up", async () => {
      const router = await routerOf(archives, maps, options);
      expect(shown(router.route({ uri: URI, topK: 2 }))).toBe(
        "+page in-map, +site in-map, -unknown beyond-top-k, -domain beyond-top-k, -asleep dormant",
      );
    });

    it("asks those that are likely enough", async () => {
      const router = await routerOf(archives, maps, options);
      expect(shown(router.route({ uri: URI, minLikelihood: 0.3 }))).toBe(
        "+page in-map, +site in-map, -unknown improbable, -domain improbable, -asleep dormant",
      );
    });

    it("prefers those that have more of what they are as likely to have", async () => {
      const router = await routerOf(archivesOf({ few: {}, many: {} }), {
        few: "example,x)/a/b 2\n",
        many: "example,x)/a/b 200\n",
      });
      expect(shown(router.route({ uri: URI, topK: 1 }))).toBe("+many in-map, -few beyond-top-k");
    });
  });

  describe("with maps that know times", () => {
    const FIELDS = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
    const archives = archivesOf({ old: {}, young: {} });
    const maps = {
      old: mapOf(`${FIELDS}example,x)/* 2001 3\nexample,x)/* 2003 1\n`, { updatedAt: at("2010") }),
      young: mapOf(`${FIELDS}example,x)/* 2005:2009 3\n`, { updatedAt: at("2010") }),
    };

    it.each([
      [{ from: 20060101000000, until: 20061231235959 }, "+young in-map, -old out-of-range"],
      [{ from: 20020101000000, until: 20021231235959 }, "-old out-of-range, -young out-of-range"],
      [{ until: 20041231235959 }, "+old in-map, -young out-of-range"],
      // What came after the maps were made they cannot know.
      [{ from: 20060101000000 }, "+old in-map, +young in-map"],
      [{ from: 20060101000000, until: 20110101000000 }, "+old in-map, +young in-map"],
    ])("leaves out what holds nothing of %j", async (period, expected) => {
      const router = await routerOf(archives, maps);
      expect(shown(router.route({ uri: URI, ...period }))).toBe(expected);
    });

    it("asks for a period if, and only if, something of it is held", () =>
      fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.integer({ min: 2000, max: 2009 }), { minLength: 1 }),
          fc.integer({ min: 1999, max: 2010 }),
          fc.integer({ min: 1999, max: 2009 }),
          async (years, from, until) => {
            const lines = years.sort((a, b) => a - b).map((year) => `example,x)/* ${year} 1\n`);
            const map = mapOf(FIELDS + lines.join(""), { updatedAt: at("2010") });
            const router = await routerOf(archivesOf({ a: {} }), { a: map });
            const period = { from: from * 1e10 + 101e6, until: until * 1e10 + 1231235959 };
            const [{ isAsked }] = router.route({ uri: URI, ...period });
            expect(isAsked).toBe(years.some((year) => from <= year && year <= until));
          },
        ),
      ));

    it("leaves nothing out for a period if a map does not say when it was made", async () => {
      const router = await routerOf(archives, {
        ...maps,
        old: { ...maps.old, updatedAt: undefined },
      });
      const period = { from: 20060101000000, until: 20061231235959 };
      expect(shown(router.route({ uri: URI, ...period }))).toBe("+old in-map, +young in-map");
    });

    it("asks all for a moment, those that have its year first", async () => {
      const router = await routerOf(archives, maps);
      expect(shown(router.route({ uri: URI, datetime: 20070601000000 }))).toBe(
        "+young in-map, +old in-map",
      );
      expect(shown(router.route({ uri: URI, datetime: 20030601000000 }))).toBe(
        "+old in-map, +young in-map",
      );
    });
  });

  describe("with maps that are not to be believed where they say absent", () => {
    it.each([
      ["old-map", "stale", mapOf("com,* 1\n", { staleAt: 1000 })],
      ["no-map", "a page of a map", mapOf('!meta {"page":{"number":1,"of":2}}\ncom,* 1\n')],
      ["no-map", "made by unknown rules", mapOf('!meta {"canonicalization":"other"}\ncom,* 1\n')],
    ])("asks, as %s: %s", async (reason, _name, map) => {
      const router = await routerOf(archivesOf({ a: {} }), { a: map }, { now: () => 1000 });
      expect(shown(router.route({ uri: URI }))).toBe(`+a ${reason}`);
      expect(shown(router.route({ uri: "http://x.com/" }))).toBe("+a in-map");
    });

    it.each([
      ["not stale yet", mapOf("com,* 1\n", { staleAt: 1001 })],
      ["of an index", mapOf('!meta {"canonicalization":"index"}\ncom,* 1\n')],
    ])("believes others: %s", async (_name, map) => {
      const router = await routerOf(archivesOf({ a: {} }), { a: map }, { now: () => 1000 });
      expect(shown(router.route({ uri: URI }))).toBe("-a not-in-map");
    });
  });

  describe("with a Referer", () => {
    const archives = archivesOf({ site: {}, other: {}, unknown: {} });
    const maps = { site: "example,x)/page.html 3\n", other: "example,y)/* 3\n" };
    const image = "http://cdn.example/logo.png";

    it("asks those that hold the page, for what pages are made of", async () => {
      const router = await routerOf(archives, maps);
      const referer = "http://localhost:1208/memento/20150101000000/http://x.example/page.html";
      expect(shown(router.route({ uri: image, referer }))).toBe(
        "+site referer, +unknown no-map, -other not-in-map",
      );
      expect(shown(router.route({ uri: "http://cdn.example/page", referer }))).toBe(
        "+unknown no-map, -site not-in-map, -other not-in-map",
      );
      expect(shown(router.route({ uri: image, referer: "about:blank" }))).not.toContain("referer");
    });

    it("adds archives, and takes none away", () => {
      const uris = ["http://a.com/a.png", "http://b.a.com/b.css", "http://a.com/a", "http://com/"];
      return fc.assert(
        fc.asyncProperty(
          fc.array(
            rows.map((content) => mapBytes(content, PLAIN)),
            { maxLength: 4 },
          ),
          fc.constantFrom(...uris),
          fc.constantFrom(...uris),
          async (held, uri, referer) => {
            const maps = held.map((bytes, i) => [`a${i}`, mapOf(new TextDecoder().decode(bytes))]);
            const router = await routerOf(
              archivesOf(Object.fromEntries(held.map((_, i) => [`a${i}`, {}]))),
              Object.fromEntries(maps) as Record<string, RoutedMap>,
            );
            const asked = (request: RouteRequest): string[] =>
              router
                .route(request)
                .flatMap(({ archive, isAsked }) => (isAsked ? [archive.id] : []));
            expect(asked({ uri, referer })).toEqual(expect.arrayContaining(asked({ uri })));
          },
        ),
      );
    });

    it("asks those that answered for the page", async () => {
      const router = await routerOf(archives, maps);
      const answered = (uri: string, isHit: boolean): void => {
        const decision = router.route({ uri }).find(({ archive }) => archive.id === "other");
        if (decision !== undefined) router.learn(decision, uri, isHit);
      };
      answered("http://www.x.example/page.html?q", true);
      answered("http://x.example/nothing.html", false);
      const asked = (referer: string): string => shown(router.route({ uri: image, referer }));
      expect(asked("https://x.example/page.html")).toContain("+other referer");
      expect(asked("https://x.example/nothing.html")).toContain("-other not-in-map");
    });
  });

  it("asks a share of those that do not have it, to learn", async () => {
    const chances = [0.009, 0.5, 0.01];
    const archives = archivesOf({ a: {}, b: {}, c: {}, has: {} });
    const absent = "com,* 1\n";
    const router = new MapRouter(archives, { random: () => chances.shift() ?? 1 });
    router.replaceMaps(
      new Map(["a", "b", "c"].map((id) => [id, mapOf(absent)])).set("has", mapOf("example,* 9\n")),
    );
    expect(shown(router.route({ uri: URI }))).toBe(
      "+has in-map, +a sampled, -b not-in-map, -c not-in-map",
    );
    chances.push(0, 0, 0);
    expect(shown(router.route({ uri: URI, topK: 1 }))).toBe(
      "+has in-map, -a not-in-map, -b not-in-map, -c not-in-map",
    );
  });

  it("takes URIs of any length", async () => {
    const router = await routerOf(archivesOf({ a: {} }), { a: "example,x)/* 1\n" });
    const long = `http://x.example/${"é".repeat(20_000)}`;
    expect(shown(router.route({ uri: long }))).toBe("+a in-map");
    expect(shown(router.route({ uri: URI }))).toBe("+a in-map");
  });
});
