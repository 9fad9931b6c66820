import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Evaluation, TruthSummary } from "../../../src/study/evaluate/evaluation.ts";
import { surtKey } from "../../../src/surt/key.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import { folderWith } from "../../support/folder-with.ts";
import { runCli, SMALL_MEMORY } from "../../support/run-cli.ts";
import { cases } from "../../support/cases.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';

interface Row {
  readonly uri: string;
  readonly date: string;
}

type JsonLine = Evaluation & { readonly truth: TruthSummary; readonly run: unknown };

async function evaluate(...args: readonly string[]): Promise<JsonLine[]> {
  const { code, stdout, stderr } = await runCli(["evaluate", "-q", "--json", ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonLine); // what the command writes
}

function cdxj(rows: readonly Row[]): string {
  return rows
    .map(({ uri, date }) => `${surt(uri)} ${date} {"url":"${uri}","status":"200"}\n`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join("");
}

const uri = fc
  .tuple(
    fc.constantFrom("a.com", "b.org"),
    fc.constantFrom("/", "/x", "/x/1", "/x/2", "/x/3", "/y"),
    fc.constantFrom("", "", "?q=1", "?q=2"),
  )
  .map(([host, path, query]) => `http://${host}${path}${query}`);
const date = fc
  .record({
    year: fc.integer({ min: 2010, max: 2016 }),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 28 }),
  })
  .map(({ year, month, day }) => {
    const two = (value: number): string => String(value).padStart(2, "0");
    return `${year}${two(month)}${two(day)}120000`;
  });
const rowsOf = fc.array(fc.record({ uri, date }), { minLength: 1, maxLength: 30 });
const keyOf = (text: string): string => surtKey(surt(text));

/** A map that covers `a.com` whole, and the rest key by key. */
function rolledUp(rows: readonly Row[]): string {
  const keys = [...new Set(rows.map((row) => keyOf(row.uri)))].sort();
  const others = keys.filter((key) => !key.startsWith("com,a)"));
  const rolled = others.length < keys.length ? ["com,a)/*"] : [];
  return HEAD + [...rolled, ...others].map((key) => `${key} 1\n`).join("");
}

function says(rows: readonly Row[], text: string): boolean {
  const held = new Set(rows.map((row) => keyOf(row.uri)));
  const isRolled = [...held].some((key) => key.startsWith("com,a)"));
  return held.has(keyOf(text)) || (isRolled && keyOf(text).startsWith("com,a)"));
}

describe("an index as the truth, beside a naive count", () => {
  it("judges keys and URIs apart", async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.array(uri, { minLength: 1 }), async (rows, lookups) => {
        const folder = folderWith({
          "index.cdxj": cdxj(rows),
          "map.ukvs": rolledUp(rows),
          "uris.txt": lookups.map((one) => `${one}\n`).join(""),
        });
        const at = (name: string): string => join(folder, name);
        const given = ["--truth", at("index.cdxj"), "--lookups", at("uris.txt")];
        const [result] = await evaluate(at("map.ukvs"), ...given, ...SMALL_MEMORY);
        const accuracy = (of: (text: string) => string): number => {
          const held = new Set(rows.map((row) => of(row.uri)));
          const asked = new Map(lookups.map((one) => [of(one), one]));
          const right = [...asked].filter(([name, one]) => held.has(name) === says(rows, one));
          return right.length / asked.size;
        };
        const originals = new Set(rows.map((row) => surt(row.uri))).size;
        expect(result?.keyAccuracy).toBeCloseTo(accuracy(keyOf), 10);
        expect(result?.accuracy).toBe(result?.keyAccuracy);
        expect(result?.uriAccuracy).toBeCloseTo(accuracy(surt), 10);
        expect(result?.uris?.lookups).toBe(new Set(lookups.map(surt)).size);
        expect(result?.truth).toMatchObject({ kind: "index", originals, noUris: null });
        expect(result).toMatchObject({ costBasis: "originals", costDivisor: originals });
        expect(result?.relativeCost).toBeCloseTo((result?.lines ?? 0) / originals, 10);
      }),
      { numRuns: cases(40) },
    );
  });

  it("splits captures by date, and follows what came later", async () => {
    const cut = fc.constantFrom("2012", "201306", "20140215", "20140215120000");
    await fc.assert(
      fc.asyncProperty(rowsOf, cut, async (rows, asOf) => {
        const before = rows.filter((row) => row.date.slice(0, asOf.length) <= asOf);
        const after = rows.filter((row) => row.date.slice(0, asOf.length) > asOf);
        fc.pre(before.length > 0);
        const folder = folderWith({ "index.cdxj": cdxj(rows), "map.ukvs": rolledUp(before) });
        const at = (name: string): string => join(folder, name);
        const given = ["--truth", at("index.cdxj"), "--as-of", asOf];
        const [result] = await evaluate(at("map.ukvs"), ...given, ...SMALL_MEMORY);
        const known = new Set(before.map((row) => surt(row.uri)));
        const later = new Map(
          after
            .toSorted((a, b) => (a.date < b.date ? 1 : -1))
            .map((row) => [surt(row.uri), row] as const),
        );
        const fresh = [...later.values()].filter((row) => !known.has(surt(row.uri)));
        const present = (list: readonly Row[]): number =>
          list.filter((row) => says(before, row.uri)).length;
        expect(result?.asOf).toMatchObject({
          date: asOf,
          captures: after.length,
          capturesPresent: present(after),
          originals: later.size,
          originalsPresent: present([...later.values()]),
          newOriginals: fresh.length,
          newOriginalsPresent: present(fresh),
        });
        const share = fresh.length === 0 ? null : present(fresh) / fresh.length;
        expect(result?.freshness).toBe(share);
        expect(result).toMatchObject({ lookups: 0, accuracy: null, uriAccuracy: null, recall: 1 });
        const periods = result?.asOf?.periods ?? [];
        for (const { period, captures, newOriginals } of periods) {
          const digits = period.replace("-", "");
          expect(captures).toBe(after.filter((row) => row.date.startsWith(digits)).length);
          expect(newOriginals).toBe(fresh.filter((row) => row.date.startsWith(digits)).length);
        }
        const names = periods.map(({ period }) => period);
        expect(names).toEqual([...new Set(names)].sort());
      }),
      { numRuns: cases(40) },
    );
  });
});

describe("the truth", () => {
  const folder = (): string =>
    folderWith({
      "index.cdxj": cdxj([
        { uri: "http://a.com/x?q=1", date: "20140101000000" },
        { uri: "http://a.com/x?q=2", date: "20140201000000" },
        { uri: "http://a.com/y", date: "20160101000000" },
      ]),
      "full.ukvs": `${HEAD}com,a)/x 2\ncom,a)/y 1\n`,
      "counted.ukvs": `${HEAD}com,a)/x 2/2\ncom,a)/y 1/1\n`,
      "partly.ukvs": `${HEAD}com,a)/x 2/2\ncom,a)/y 1\n`,
      "small.ukvs": `${HEAD}com,a)/* 3\n`,
      "uris.txt": "http://a.com/x?q=3\nhttp://a.com/y\n",
      "prose.txt": "This is prose.\nIt says nothing.\n",
      "page.html": "<!doctype html>\n<html></html>\n",
      "empty.txt": "",
      "memgator.log":
        "INFO: 2016/06/09 12:00:00.1 Aggregating Mementos for http://a.com/\nINFO: 2016/06/09 12:00:00.1 ia => Success: 2 mementos\n",
      "stamps.txt": "20150101000000\n20150102000000\n",
    });

  it.each([
    ["small.ukvs", /small\.ukvs:2: the key "com,a\)\/\*" is a wildcard: .* map before compaction/],
    ["prose.txt", /unknown format: "This is prose\."/],
    ["page.html", /prose|html/i],
    ["empty.txt", /holds nothing|empty|no record/],
    ["memgator.log", /not all holdings/],
    ["stamps.txt", /stamps\.txt/],
  ])("is not %s", async (name, message) => {
    const place = folder();
    const at = (file: string): string => join(place, file);
    const given = ["--truth", at(name), "--lookups", at("uris.txt")];
    const { code, stdout, stderr } = await runCli(["evaluate", at("small.ukvs"), ...given]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it.each([
    ["index.cdxj", "originals", 3],
    ["counted.ukvs", "originals", 3],
    ["partly.ukvs", "keys", 2],
    ["full.ukvs", "keys", 2],
  ])("%s gives cost for each of its %s", async (name, basis, divisor) => {
    const place = folder();
    const at = (file: string): string => join(place, file);
    const given = ["--truth", at(name), "--lookups", at("uris.txt")];
    const [result] = await evaluate(at("small.ukvs"), ...given);
    expect(result).toMatchObject({ costBasis: basis, relativeCost: 1 / divisor });
    const [told] = await evaluate(at("small.ukvs"), ...given, "--original-count", "10");
    expect(told).toMatchObject({ costBasis: "originals", relativeCost: 0.1 });
  });

  it("can be filtered as an index, and not as a map", async () => {
    const place = folder();
    const at = (file: string): string => join(place, file);
    const given = ["--lookups", at("uris.txt"), "--to", "2014"];
    const [result] = await evaluate(at("small.ukvs"), "--truth", at("index.cdxj"), ...given);
    expect(result).toMatchObject({
      truth: { keys: 1, originals: 2 },
      run: { filters: { to: "2014" }, inputs: { truth: [at("index.cdxj")] } },
    });
    const args = ["evaluate", at("small.ukvs"), "--truth", at("full.ukvs")];
    for (const more of [given, ["--as-of", "2014"]]) {
      const { code, stderr } = await runCli([...args, ...more]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/is a map.*give an index.*\[MM_USAGE\]/);
    }
  });

  it("measures all keys of a date where no map is named", async () => {
    const place = folder();
    const [result] = await evaluate("--truth", join(place, "index.cdxj"), "--as-of", "2014");
    expect(result).toMatchObject({ map: "all keys as of 2014", lines: 1, freshness: 0 });
    const html = join(place, "fresh.html");
    const given = ["--truth", join(place, "index.cdxj"), "--as-of", "2014", "--html", html];
    await evaluate(...given);
    expect(readFileSync(html, "utf8")).toContain("Captured after 2014, and reported present");
  });

  it("gives a sweep with its base, held hosts and values that can be read", async () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({
      uri: `http://a.com/x/${100 + i}?q=${i % 2}`,
      date: "20140101000000",
    }));
    const place = folderWith({
      "index.cdxj": cdxj(rows),
      "uris.txt": "http://a.com/x/100?q=0\nhttp://a.com/x/100?q=7\nhttp://b.org/\n",
    });
    const html = join(place, "sweep.html");
    const given = ["--truth", join(place, "index.cdxj"), "--lookups", join(place, "uris.txt")];
    const maps = await evaluate("--sweep", "paper", ...given, "--html", html);
    expect(maps).toHaveLength(36);
    for (const map of maps) {
      expect(map.heldHosts.keys.lookups).toBe(1);
      expect(map.heldHosts.uris?.lookups).toBe(2);
    }
    const page = readFileSync(html, "utf8");
    expect(page).toMatch(/<tr><th scope="row">HinfPinf<\/th><td[^>]*>inf<\/td>/);
    expect(page).toContain("Hosts, URIs");
    expect(page).not.toMatch(/data-tip="[^"]* at 0[,"]/);
  });
});

describe("memory", () => {
  it("makes no difference to what is measured", async () => {
    const rows = Array.from({ length: 200 }, (_, i) => ({
      uri: `http://h${i % 7}.com/x/${i}`,
      date: "20140101000000",
    }));
    const place = folderWith({
      "index.cdxj": cdxj(rows),
      "uris.txt": rows.map((row) => `${row.uri}/y\n${row.uri}\n`).join(""),
    });
    const given = ["--truth", join(place, "index.cdxj"), "--lookups", join(place, "uris.txt")];
    const [small, large] = await Promise.all(
      ["1k", "512m"].map((memory) => evaluate("--sweep", "frontier", ...given, "--memory", memory)),
    );
    expect(small).toEqual(large);
  });
});

describe("maps with queries", () => {
  it("are asked with whole URIs, and judged by them", async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.array(uri, { minLength: 1 }), async (rows, lookups) => {
        const folder = folderWith({
          "index.cdxj": cdxj(rows),
          "map.ukvs": rolledUp(rows),
          "uris.txt": lookups.map((one) => `${one}\n`).join(""),
        });
        const at = (name: string): string => join(folder, name);
        const made = await runCli([
          "generate",
          "-q",
          "--queries",
          ...SMALL_MEMORY,
          at("index.cdxj"),
          "-o",
          at("q"),
        ]);
        expect(made).toMatchObject({ code: 0, stderr: "" });
        const given = ["--truth", at("index.cdxj"), "--lookups", at("uris.txt")];
        const [alone] = await evaluate(at("map.ukvs"), ...given, ...SMALL_MEMORY);
        const [full, beside] = await evaluate(at("q"), at("map.ukvs"), ...given, ...SMALL_MEMORY);
        expect(full).toMatchObject({ uriAccuracy: 1, keyAccuracy: 1, recall: 1 });
        expect(beside).toEqual({ ...alone, truth: beside?.truth, run: beside?.run });
        const byMap = ["--truth", at("q"), "--lookups", at("uris.txt")];
        const [again, other] = await evaluate(at("q"), at("map.ukvs"), ...byMap, ...SMALL_MEMORY);
        expect(again).toMatchObject({ uriAccuracy: 1, recall: 1 });
        expect(other?.uris).toEqual(alone?.uris);
      }),
      { numRuns: cases(30) },
    );
  });

  it("are made of an index for a sweep, and lose nothing", async () => {
    const queries = Array.from({ length: 40 }, (_, i) => `http://a.com/x?q=${i}`);
    const folder = folderWith({
      "index.cdxj": cdxj(queries.map((one) => ({ uri: one, date: "20150101000000" }))),
      "uris.txt": "http://a.com/x?q=1\nhttp://a.com/x?q=new\nhttp://a.com/y?q=1\n",
      "plain.ukvs": `${HEAD}com,a)/x 40\n`,
    });
    const at = (name: string): string => join(folder, name);
    const given = ["--lookups", at("uris.txt"), "--sweep", "frontier", "--queries"];
    const misses = ["--misses", at("uris.txt")];
    const lines = await evaluate("--truth", at("index.cdxj"), ...given, ...misses);
    expect(lines.every(({ recall, uris }) => recall === 1 && uris?.falseNegatives === 0)).toBe(
      true,
    );
    const refused = await runCli(["evaluate", "--truth", at("plain.ukvs"), ...given]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("is a map without queries");
  });
});
