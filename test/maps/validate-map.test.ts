import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FAULT_SEVERITIES } from "../../src/maps/map-faults.ts";
import { validateMap } from "../../src/maps/validate-map.ts";
import { type Count, parseFrequency } from "../../src/ukvs/frequency.ts";
import { byText, DATETIME_FIELDS, type Row, rows } from "../lookup/map-arbitraries.ts";
import { collected, encode, mapText } from "./map-files.ts";

const FIELDS = '!fields {"keys":["surt"],"values":["frequency"]}\n';

/** The faults of a map as `line code`, chunk borders at every byte. */
async function faultsOf(map: string | Uint8Array): Promise<string[]> {
  const bytes = typeof map === "string" ? encode(map) : map;
  const whole = await collected(validateMap([bytes]));
  const single = await collected(validateMap(Array.from(bytes, (byte) => Uint8Array.of(byte))));
  expect(single).toEqual(whole);
  for (const { code, severity, message } of whole) {
    expect(severity).toBe(FAULT_SEVERITIES[code]);
    expect(message).not.toBe("");
  }
  return whole.map(({ line, code }) => `${line} ${code}`);
}

describe("validateMap", () => {
  it.each([
    ["a star within a key", "com,a)/x*y 1\n", "%2a"],
    ["a quoted key", '"com,a)/" 1\n', "quote"],
  ])("says what to write in place of %s", async (_, map, words) => {
    const faults = await collected(validateMap([encode(map)]));
    expect(faults.map(({ message }) => message).join()).toContain(words);
  });

  it("takes no longer for each of very many headers", async () => {
    const head = '!id {"uri":"https://archive.example/"}\n!meta {"name":"A"}\n'.repeat(20_000);
    const map = encode(`${FIELDS}${head}com,a)/ 1\n`);
    expect(await collected(validateMap([map]))).toEqual([]);
  });

  it.each([
    ["", ["1 no-records"]],
    [FIELDS, ["1 no-records"]],
    [
      `!context ["https://git.io/mementomap"]\n${FIELDS}!id {uri: "x"}\n!meta {}\n* 9\ncom,* 5+\ncom,a)/ 1\n`,
      [],
    ],
    ["com,a)/ 1\n", ["1 missing-fields"]],
    [`${FIELDS}com,b)/ 1\ncom,a)/ 1\ncom,a)/ 2\ncom,c)/ 1\n`, ["3 not-sorted", "4 duplicate-key"]],
    [`${FIELDS}com,a)/ many\ncom,b)/ 1.5\ncom,c)/ -\n`, ["2 bad-frequency", "3 bad-frequency"]],
    [
      `!meta {\n!meta [1]\n${FIELDS}!fields {"keys":["x"]}\n!noval\n`,
      ["1 bad-header", "2 bad-header", "4 bad-header", "5 bad-header"],
    ],
    [
      '!fields {"keys":["uri"],"values":["frequency"]}\nB 1\nA 1\n',
      ["2 not-a-map", "3 not-sorted"],
    ],
    [
      `${FIELDS}com,a)/\ncom,b)/ 1 2\ncom,c)/ 1 {broken\n com,d)/ 1\n`,
      ["2 bad-columns", "3 bad-columns", "4 bad-columns", "5 bad-columns"],
    ],
    [
      `${DATETIME_FIELDS}\ncom,a)/ 20141301 1\ncom,a)/ 2015 1\ncom,a)/ : 1\ncom,a)/ x 1\n`,
      ["2 bad-datetime", "5 bad-datetime"],
    ],
    [
      `${FIELDS}com,a)/ 1 {"datetime":{"2014":"x","9x":1}}\n`,
      ["2 bad-frequency", "2 bad-datetime"],
    ],
    [`${FIELDS}com,a)/ 1\r\ncom,b)/ 1\r\n`, ["2 crlf"]],
    [`${FIELDS}com,a)/ 1`, ["2 no-final-newline"]],
    [`${FIELDS}\ncom,a)/ 1\n \t\n`, ["2 blank-line", "4 blank-line"]],
    [`${FIELDS}com,a)/ 1\n!meta {}\n`, ["3 late-header"]],
    [`${FIELDS}com,\u0001)/ 1\ncom,\u007f)/ 1\n`, ["2 not-text", "3 not-text"]],
    [Uint8Array.from([...encode(FIELDS), 0xff, 0x20, 0x31, 0x0a]), ["2 not-text"]],
    [`\uFEFF${FIELDS}com,a)/ 1\n`, ["1 byte-order-mark"]],
  ])("finds in %j", async (map, expected) => {
    expect(await faultsOf(map)).toEqual(expected);
  });

  it("stops at a line too long to be one", async () => {
    const long = `${FIELDS}com,a)/ 1\n${"x".repeat(1_100_000)} 1\ncom,a)/ 1\n`;
    const faults = await collected(validateMap([encode(long)]));
    expect(faults.at(-1)).toMatchObject({ line: 3, code: "line-too-long" });
  });

  it.each([
    ["com,a)", "home-without-slash"],
    ["com,a)/b?c", "query-in-key"],
    ["com,A)/", "bad-key"],
    ["com,a/b", "bad-key"],
    ["com,a", "bad-key"],
    ["com,a)b", "bad-key"],
    ["com,a)/b/", "bad-key"],
    ["com,*,a)/", "bad-key"],
    [",com,a)/", "bad-key"],
    ["com,a,)/", "bad-key"],
    ["com,a)b)/", "bad-key"],
    ["com,a)/*/b", "bad-key"],
    ["com,*)/b/*", "bad-key"],
    ["com,*)", "bad-key"],
    ["com/a)/", "bad-key"],
    ["*,*", "bad-key"],
    [")/a", "bad-key"],
    ["com,a)/b*c", "star-in-key"],
    ['"com,a)/"', "bad-key"],
  ])("finds fault with the key %j", async (key, code) => {
    expect(await faultsOf(`${FIELDS}${key} 1\n`)).toEqual([`2 ${code}`]);
  });

  it.each([
    "*",
    "com,*",
    "com,a)/*",
    "com,a)/b/*",
    "com,*)/",
    "com,*)/b",
    "com,a)//b",
    "localhost)/",
    "1,0,0,127)/x",
    "com,a:8080)/",
    "dns:example.com",
    "mailto:a@b.com",
  ])("finds none with the key %j", async (key) => {
    expect(await faultsOf(`${FIELDS}${key} 1\n`)).toEqual([]);
  });

  it.each([
    ["com,a)/* 5\ncom,a)/b 3\ncom,a)/c 3\n", ["2 wildcard-too-small"]],
    ["com,a)/* 6\ncom,a)/b 3\ncom,a)/c 3\n", []],
    ["com,a)/* 5+\ncom,a)/b 3\ncom,a)/c 3\n", []],
    ["com,a)/* 5\ncom,a)/b 3\ncom,a)/b/* 4\n", []],
    ["com,a)/b 3\ncom,a)/b-c 9\ncom,a)/b/* 2\n", ["4 wildcard-too-small"]],
    ["com,a)/ 3\ncom,a,* 2\n", ["3 wildcard-too-small"]],
    ["com,* 9\ncom,a)/b/* 0\ncom,a)/b/c 3\n", []],
    ["* 2\ncom,a)/ 3\n", ["2 total-too-small"]],
    ["com,a)/x 0\n", ["2 idle-exclusion"]],
    ["com,a)/x 0\ncom,a)/x/* 3\n", []],
    ["com,a)/x 0\ncom,a,* 3\n", []],
    ["com,* 3\ncom,a)/x 0\n", []],
    ["com,* 0\n", ["2 idle-exclusion"]],
    ["* 3\ncom,a)/x/* 0\n", ["3 idle-exclusion"]],
  ])("weighs the rows of %j", async (map, expected) => {
    expect(await faultsOf(FIELDS + map)).toEqual(expected);
  });

  it("weighs rows as a comparison of all pairs does", async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (content) => {
        const found = await collected(validateMap([encode(mapText(content, [FIELDS.trim()]))]));
        const weighed = found
          .filter(({ code }) => /too-small|idle/.test(code))
          .map(({ line, code }) => `${content[line - 2]?.key} ${code}`);
        expect(weighed.toSorted(byText)).toEqual(weighPairs(content).toSorted(byText));
      }),
      { numRuns: 2000 },
    );
  });

  it("tells when there are too many exclusions to check", async () => {
    const exclusions = Array.from({ length: 10_003 }, (_, i) => `com,a)/${10_000 + i} 0\n`);
    const found = await collected(validateMap([encode(FIELDS + exclusions.join(""))]));
    expect(found).toHaveLength(10_001);
    expect(found.at(-1)?.message).toMatch(/^3 more exclusions/);
  });
});

/** The same judgement by looking at every pair of rows. */
function weighPairs(content: readonly Row[]): string[] {
  const all = content.map((row) => ({
    key: row.key,
    count: parseFrequency(row.frequency === "-" ? "/" : row.frequency).mementos,
    isSpread: row.key.includes(",*)"),
    isWildcard: row.key.endsWith("*"),
  }));
  type Weighed = (typeof all)[number];
  const below = (wide: Weighed): Weighed[] =>
    all.filter((row) => row !== wide && !row.isSpread && covers(wide.key, row.key));
  const speaks = ({ count, isWildcard }: Weighed): boolean =>
    isWildcard && count !== undefined && count.value !== 0;
  const included = (wide: Weighed): number =>
    below(wide)
      .filter((row) => !row.key.includes("?") && (!row.isWildcard || speaks(row)))
      .filter(
        (row) => !below(wide).some((mid) => mid !== row && speaks(mid) && covers(mid.key, row.key)),
      )
      .map((row) =>
        row.isWildcard && row.count?.bound !== "exact"
          ? Math.max(included(row), atLeast(row.count))
          : atLeast(row.count),
      )
      .reduce((a, b) => a + b, 0);
  const tooSmall = all
    .filter(
      (row) =>
        speaks(row) &&
        !row.isSpread &&
        /exact|atMost/.test(row.count?.bound ?? "") &&
        (row.count?.value ?? 0) < included(row),
    )
    .map((row) => `${row.key} ${row.key === "*" ? "total" : "wildcard"}-too-small`);
  const idle = all
    .filter((row) => row.count?.value === 0 && !row.isSpread && row.key !== "*")
    .filter(
      (row) =>
        !all.some(
          (wide) =>
            wide.key !== "*" &&
            wide !== row &&
            wide.count?.value !== 0 &&
            (wide.isWildcard
              ? covers(wide.key, row.key)
              : wide.isSpread && covers(wide.key.slice(0, wide.key.indexOf(")")), row.key)),
        ),
    )
    .map((row) => `${row.key} idle-exclusion`);
  return [...tooSmall, ...idle];
}

function covers(wide: string, key: string): boolean {
  if (wide === "*") return true;
  if (!wide.endsWith("*")) return false;
  const above = wide.slice(0, -2);
  if (wide.endsWith(",*"))
    return [")", ","].some((next) => key.startsWith(above + next)) && key !== wide;
  const page = key.replace(/\?.*$/, "");
  return key !== wide && (page === above || page.startsWith(`${above}/`));
}

function atLeast(count: Count | undefined): number {
  return count !== undefined && /exact|atLeast/.test(count.bound) ? count.value : 0;
}
