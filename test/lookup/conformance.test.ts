import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { lookupKeys } from "../../src/surt/covering-keys.ts";
import { anyMap, questions } from "./any-map-and-questions.ts";
import { cases } from "../support/cases.ts";
import { LinearReading } from "../support/linear-reading.ts";
import { type Door, DOORS, QUICK_DOORS } from "./doors.ts";

const encode = (map: string | Uint8Array): Uint8Array => Uint8Array.from(Buffer.from(map));

const TIMED = '!fields {"keys":["surt","datetime"],"values":["frequency"]}';
const QUERIES = '!fields {"keys":["surt"],"values":["frequency"],"queries":true}';
const PART = '!meta {"part":{"number":1,"of":2,"to":"com,b)/"}}';
const PAGE = '!meta {"page":{"number":1,"of":2,"first":"com,a)/","last":"com,a)/z"}}';

const PAGE_2 = '!meta {"page":{"number":2,"of":3,"first":"com,b)/","last":"com,b)/"}}';

/** A map, a SURT to look up in it (or a URI), a time, and `key frequency distance` or the code of a refusal. */
type Case = readonly [map: string | Uint8Array, asked: string, expected: string, at?: string];

const HOST = "com,a)/* 5\ncom,a)/x/* 0\ncom,a)/y 3+/2\nzw,co,* 7\n";
const QUERY_MAP = `${QUERIES}\ncom,a)/ 1\ncom,a)/b?* 4\ncom,a)/c?x=1 2\ncom,b,*)/p?* 8\n`;
const TIMES = `${TIMED}\ncom,a)/* 2014 20~/10\ncom,a)/* 2015 0\ncom,a)/* : 100/35\ncom,b)/ 2014 1\ncom,b)/ 2016 2\n`;
const BLOCK = 'com,* 9\ncom,a)/ 4 {"datetime":{"2014":"0","2016":"4"}}\ncom,b)/ - {}\n';
/** As the authors' tool writes maps. */
const FOREIGN = "com,a) 3\ncom,a)/caf\u00e9 2\ncom,a)/caf\u00e9/* 0\ncom,a)/p*q 4\ncom,b) 1\n";

const CASES: readonly Case[] = [
  ['!meta {}\n!size {"bytes":0,"records":0}', "com,a)/", "none"],
  ["com,a)/x 5", "com,0)/", "none"],
  ["com,a)/x 5", "com,z)/", "none"],
  ["com,a)/x 5\n\n\n", "com,a)/x", "com,a)/x 5 0"],
  ["com,a)/x\t 5\r\n", "com,a)/x", "com,a)/x 5 0"],
  ["* 99\ncom,b)/ 1\n", "com,a)/", "none"],
  ["dns:a.com 5\n", "dns:a.com", "dns:a.com 5 0"],
  [HOST, "com,a)/", "com,a)/* 5 1"],
  [HOST, "com,a)/x/y", "com,a)/x/* 0 2"],
  [HOST, "com,a)/y", "com,a)/y 3+/2 0"],
  [HOST, "com,a)/y?q=1", "com,a)/y 3+/2 0"],
  [HOST, "zw,co,foo)/", "zw,co,* 7 5"],
  [HOST, "http://www.A.com/Y?b=1#c", "com,a)/y 3+/2 0"],
  [HOST, `com,a)/${"x/".repeat(40)}y`, "com,a)/x/* 0 41"],
  ["com,b,*)/p 2\n", "com,b,c,d)/p", "com,b,*)/p 2 7"],
  ["com,a)/y?q=1 2\n", "com,a)/y?q=1", "com,a)/y?q=1 2 0"],
  ["com,a)/y?q=1 2\n", "com,a)/y", "none"],
  [QUERY_MAP, "com,a)/?x=1", "none"],
  [QUERY_MAP, "com,a)/b?x=1", "com,a)/b?* 4 1"],
  [QUERY_MAP, "com,a)/b", "com,a)/b?* 4 1"],
  [QUERY_MAP, "com,a)/c?x=1", "com,a)/c?x=1 2 0"],
  [QUERY_MAP, "com,a)/c?x=2", "none"],
  [QUERY_MAP, "com,b,x)/p?y", "com,b,*)/p?* 8 6"],
  [TIMES, "com,a)/x", "com,a)/* 100/35 2"],
  [TIMES, "com,a)/x", "com,a)/* 20~/10 2", "2014"],
  [TIMES, "com,a)/x", "com,a)/* 0 2", "20151231"],
  [TIMES, "com,a)/x", "com,a)/* 100/35 2", "2016"],
  [TIMES, "com,b)/", "com,b)/ 3 0"],
  [TIMES, "com,b)/", "none", "2015"],
  [BLOCK, "com,a)/", "com,a)/ 4 0"],
  [BLOCK, "com,a)/", "com,a)/ 0 0", "2014"],
  [BLOCK, "com,a)/", "com,a)/ 4 0", "2015"],
  [BLOCK, "com,b)/", "com,b)/ / 0"],
  [FOREIGN, "com,a)/", "com,a)/ 3 0"],
  [FOREIGN, "com,b)", "com,b)/ 1 0"],
  [FOREIGN, "http://a.com/caf%C3%A9", "com,a)/caf%c3%a9 2 0"],
  [FOREIGN, "com,a)/caf\u00e9", "com,a)/caf%c3%a9 2 0"],
  [FOREIGN, "http://a.com/café/x", "com,a)/caf%c3%a9/* 0 2"],
  [FOREIGN, "http://a.com/p*q", "com,a)/p%2aq 4 0"],
  ["com,a) 3\ncom,a)/ 2\n", "com,a)/", "com,a)/ 5 0"],
  ["com,a)/ 3\ncom,a)/ 2\n", "com,a)/", "com,a)/ 5 0"],
  ["com,b)/ 1\ncom,a)/ 1\n", "com,a)/", "MM_NOT_SORTED"],
  ["com,b)/ 1\ncom,a)/ 1\n", "com,b)/", "MM_NOT_SORTED"],
  ["com,a)/x 1\ncom,a) 1\n", "com,a)/", "MM_NOT_SORTED"],
  ["com,a)/ 1\ncom,a)b)/ 1\n", "com,a)/", "MM_BAD_KEY"],
  ["com,a,)/x 1\n", "com,a)/x", "MM_BAD_KEY"],
  ["!meta {}\n\n", "com,a)/", "MM_EMPTY"],
  ['!fields {"keys": ["uri"], "values": ["frequency"]}\na 1\n', "com,a)/", "MM_BAD_INPUT"],
  ['!fields {"keys": ["surt"], "values": ["status"]}\na 1\n', "com,a)/", "MM_BAD_INPUT"],
  ["!meta nonsense\n", "com,a)/", "MM_BAD_HEADER"],
  ["com,a)/ many\n", "com,a)/", "MM_BAD_FREQUENCY"],
  ["com,a)/\n", "com,a)/", "MM_BAD_LINE"],
  [" com,a)/ 1\n", "com,a)/", "MM_BAD_LINE"],
  [
    `${TIMED}\ncom,a)/ 2014 9007199254740991\ncom,a)/ 2015 5\n`,
    "com,a)/",
    "com,a)/ 9007199254740991+ 0",
  ],
  ['com,a)/ 10 {"datetime":{"2015":"5"}}\n', "com,a)/", "com,a)/ 10 0", "2014"],
  ['com,a)/ 10 {"datetime":{"2015":"5"}}\n', "com,a)/", "com,a)/ 5 0", "2015"],
  [`${TIMED}\ncom,a)/ 2015 0\n\ncom,a)/ 2016 5\n`, "com,a)/", "com,a)/ 5 0"],
  [`${TIMED}\ncom,a)/ 2015 0\n\ncom,a)/ 2016 5\n`, "com,a)/", "com,a)/ 5 0", "2016"],
  [`${TIMED}\ncom,a)/ 2014 5\ncom,a)/* 2015 3\n`, "com,a)/", "com,a)/* 3 1", "2015"],
  ["\uFEFFcom,a)/ 1\ncom,b)/ 2\n", "com,a)/", "com,a)/ 1 0"],
  ['com,a)/ "1"\ncom,b)/ "0"\n', "com,a)/", "com,a)/ 1 0"],
  ['com,a)/ "1"\ncom,b)/ "0"\n', "com,b)/", "com,b)/ 0 0"],
  ["com,a)/x*y 1\n", "http://a.com/x*y", "com,a)/x%2ay 1 0"],
  ["com,a)/x%2ay 1\n", "http://a.com/x*y", "com,a)/x%2ay 1 0"],
  ["com,a)/x%2ay 1\n", "http://a.com/z", "none"],
  ...["", "b", "bc", "bcd", "bcde", "bcdef"].map((path): Case => {
    return [`com,a)/${path} 1`, `http://a.com/${path}`, `com,a)/${path} 1 0`];
  }),
  ["com,a)/ 1\ndns:a 1\n", "dns:a", "dns:a 1 0"],
  ["com,a)/ 1\ndns:a 1\n", "dns:a/", "none"],
  ["com,a)/ 1\ndns:a 1\n", "dns:a/x", "none"],
  [Buffer.from("com,a)/\xff 1\ncom,b)/ 1\n", "latin1"), "com,a)/", "MM_BAD_LINE"],
  ['"com,a)/" 1\n"com,b)/" 1\n', "com,a)/", "MM_BAD_KEY"],
  ["com,a)/ 9007199254740991\ncom,a)/ 1/2\n", "com,a)/", "com,a)/ 9007199254740991+/2+ 0"],
];

async function said(door: Door, asked: string, at?: string): Promise<string> {
  const isSurt = !asked.startsWith("http");
  const { key, frequency, distance } =
    (await (isSurt ? door.lookupSurt?.(asked, { at }) : door.lookup(asked, { at }))) ?? {};
  return key === undefined ? "none" : `${key} ${frequency} ${distance}`;
}

async function outcome(open: () => Promise<Door>, asked: string, at?: string): Promise<string> {
  try {
    return await said(await open(), asked, at);
  } catch (error) {
    if (isMementoMapError(error)) return error.code;
    // The command writes the code at the end of its message; a server may not open the map.
    return /\[(MM_\w+)\]/.exec(String(error))?.[1] ?? String(error);
  }
}

describe.each(Object.entries(DOORS))("%s", (name, open) => {
  it("answers as every other door", async () => {
    for (const [map, asked, expected, at] of CASES) {
      // openMap takes no SURTs.
      if (name === "the library" && !asked.startsWith("http") && !expected.startsWith("MM_"))
        continue;
      const question =
        name === "the library" && !asked.startsWith("http") ? "http://a.com/" : asked;
      // A request cannot hold them as they are.
      // oxlint-disable-next-line no-control-regex -- all of ASCII
      if (name.startsWith("a server") && /[^\0-\x7f]/.test(asked)) continue;
      const answer = await outcome(() => open(encode(map)), question, at);
      expect([map, asked, at, answer]).toEqual([map, asked, at, expected]);
    }
  });

  it("refuses a map in the order of an index, and names the command that sorts it", async () => {
    // One in a hundred rows is in its place in an index, and not in a map.
    const hosts = Array.from({ length: 1500 }, (_, i) => `com,host-${1000 + i})`);
    const text = hosts.map((host, i) => `${host}/x 1\n${i % 50 === 0 ? `${host} 1\n` : ""}`);
    const map = encode(text.join(""));
    // So small a block is in order.
    if (name.includes("blocks of 16") || name === "a batch in a file") return;
    for (const uri of ["http://host-1750.com/", "http://host-2499.com/x", "http://a.org/"]) {
      const answer = open(map).then((door) => door.lookup(uri));
      await expect(answer).rejects.toThrow('"mementomap merge" sorts a map');
    }
  });

  it("says nothing of keys that another page may have", async () => {
    if (name.startsWith("a server") || name === "ranges of HTTP") return;
    for (const head of [PART, PAGE]) {
      const map = encode(`${head}\ncom,a)/x 1\n`);
      expect(await outcome(() => open(map), "http://z.org/")).toMatch(/^MM_(PAGE|BAD_INPUT)$/);
    }
    // Batches here ask for keys of other pages, too.
    if (name === "the library" || name.startsWith("a batch")) return;
    const page = encode(`${PAGE_2}\ncom,b)/ 2\n`);
    expect(await outcome(() => open(page), "http://b.com/")).toBe("com,b)/ 2 0");
    expect(await outcome(() => open(page), "http://c.com/")).toBe("MM_PAGE");
  });
});

describe.each(Object.entries(QUICK_DOORS))("%s", (_, open) => {
  it("answers as a reading of all lines does, whatever map and question", async () => {
    await fc.assert(
      fc.asyncProperty(anyMap, questions, async ({ text }, asked) => {
        const linear = new LinearReading(encode(text));
        const door = await open(encode(text));
        for (const [surt, at] of asked) {
          if (door.lookupSurt === undefined) return;
          const { distance, ...answer } = await door.lookupSurt(surt, { at });
          expect([surt, at, answer]).toEqual([surt, at, linear.lookup(surt, at)]);
          const fields = { queries: text.includes('"queries":true') };
          const key = lookupKeys(surt, fields).find((one) => one.key === answer.key);
          expect(distance).toBe(key?.distance);
        }
      }),
      { numRuns: cases(600) },
    );
  });

  it("reads lines longer than a block", async () => {
    const long = `http://a.com/${"x".repeat(10_000)}`;
    const key = `com,a)/${"x".repeat(10_000)}`;
    const door = await open(encode(`com,a)/ 1\n${key} 2\n${key}y 3\norg,a)/ 4\n`));
    expect(await door.lookup(long)).toMatchObject({ frequency: "2" });
    expect(await door.lookup(`${long}y`)).toMatchObject({ frequency: "3" });
    expect(await door.lookup("http://a.org/")).toMatchObject({ frequency: "4" });
    expect(await door.lookup("http://a.com/")).toMatchObject({ frequency: "1" });
  });

  it.each(["201", "2014:2015", "20141301", "now"])("refuses to look up at %j", async (at) => {
    const door = await open(encode("com,a)/ 1\n"));
    await expect(door.lookup("http://a.com/", { at })).rejects.toMatchObject({
      code: "MM_BAD_KEY",
    });
  });

  it("answers odd URIs in linear time", async () => {
    const door = await open(encode("com,* 2\ncom,a)/b/* 0\ncom,a)/caf%c3%a9/* 1\n"));
    const odd = [
      `http://a.com${"/*".repeat(29_500)}`,
      `http://%2C.${"a.".repeat(29_000)}com/`,
      `http://a.com/${"a/".repeat(32_000)}%c3%a9*`,
      `http://a.com/caf%C3%A9/${"a/".repeat(32_000)}`,
    ];
    const used = process.cpuUsage();
    for (const uri of odd) expect((await door.lookup(uri)).present).toBe(true);
    const { user, system } = process.cpuUsage(used);
    expect(user + system).toBeLessThan(4_000_000);
  });
});
