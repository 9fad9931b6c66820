import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../../src/bytes/byte-source.ts";
import type { MapChild, MapSlice } from "../../../src/maps/explore/map-slice.ts";
import { MapExplorer } from "../../../src/maps/explore/map-explorer.ts";
import { cases } from "../../support/cases.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';
const encoder = new TextEncoder();

type Row = readonly [key: string, frequency: string];

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function sourceOf(rows: readonly Row[], head: string = HEAD): MemorySource {
  const lines = rows.map((row) => `${row.join(" ")}\n`);
  return new MemorySource(encoder.encode(head + lines.join("")), "map");
}

/** What keys below a name there are, told from the name alone. */
function isBelow(key: string, name: string): boolean {
  if (name === "") return true;
  const text = name.slice(0, -1);
  if (!name.includes(")")) return key.startsWith(`${text})`) || key.startsWith(name);
  if (text.endsWith(")")) return key.startsWith(text);
  return key === text || key.startsWith(name) || key.startsWith(`${text}?`);
}

/** The children of a name, by splitting every key. */
function childrenOf(rows: readonly Row[], name: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const [key, frequency] of rows) {
    if (key === "*" || !isBelow(key, name)) continue;
    const child = childOf(key, name);
    found.set(child, (found.get(child) ?? 0) + Number.parseInt(frequency, 10));
  }
  return found;
}

function childOf(key: string, name: string): string {
  if (!name.includes(")")) {
    const text = name.slice(0, -1);
    if (name !== "" && key.startsWith(`${text})`)) return `${text})/`;
    const [label = ""] = key.slice(name.length).split(/[,)]/, 1);
    if (name.length + label.length === key.length) return key;
    const isSpread = label === "*" && key[name.length + 1] === ")";
    return isSpread ? `${name}*)/` : `${name}${label},`;
  }
  if (!key.startsWith(name) || key === name) return key;
  const rest = key.slice(name.length);
  const [segment = ""] = rest.split(/[/?]/, 1);
  if (rest === "*" || (segment === "" && rest.startsWith("?"))) return key;
  return `${name}${segment}/`;
}

const label = fc.constantFrom("a", "b", "a-b", "ab", "a:80");
const segment = fc.constantFrom("a", "a-b", "a.html", "ab", "b", "a0", "");
const key = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        fc.array(label, { minLength: 1, maxLength: 3 }),
        fc.array(segment, { maxLength: 3 }),
        fc.constantFrom("", "", "/*", "?x=1", "?*"),
      )
      .map(([labels, segments, end]) => `${labels.join(",")})/${segments.join("/")}${end}`)
      .map((text) => text.replace("//*", "/*")),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(label, { minLength: 1, maxLength: 2 })
      .map((labels) => `${labels.join(",")},*`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("*", "dns:a.b", "a,*)/robots.txt", "a,b)", "mailto:x@y"),
  },
);
const map = fc
  .uniqueArray(fc.tuple(key, fc.constantFrom("0", "1", "2", "30", "5+", "7-", "400~", "9/3")), {
    selector: ([text]) => text,
    minLength: 1,
    maxLength: 60,
  })
  .map((rows): Row[] => rows.toSorted(([a], [b]) => byBytes(a, b)));

async function allChildren(
  explorer: MapExplorer,
  options: { prefix: string; sort: "captures" | "key"; limit: number },
): Promise<{ first: MapSlice; children: MapChild[] }> {
  const first = await explorer.slice(options);
  const children = [...first.children];
  for (let { next } = first; next !== null;) {
    const slice = await explorer.slice({ ...options, from: next });
    children.push(...slice.children);
    ({ next } = slice);
  }
  return { first, children };
}

describe("slices of a map", () => {
  it("have the children that splitting every key gives, in pages of any size, at any depth", async () => {
    await fc.assert(
      fc.asyncProperty(
        map,
        fc.constantFrom("captures" as const, "key" as const),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom(0, 3, 1000),
        async (rows, sort, limit, largeRows) => {
          const explorer = await MapExplorer.open(sourceOf(rows), {
            largeRows,
            maxRanked: 3,
            segmentBytes: 64,
          });
          const waiting = [""];
          for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
            const { first, children } = await allChildren(explorer, { prefix: name, sort, limit });
            const expected = childrenOf(rows, name);
            const got = new Map(children.map(({ prefix, captures }) => [prefix, captures]));
            expect(children).toHaveLength(expected.size);
            expect(got).toEqual(expected);
            const below = rows.filter(([text]) => text !== "*" && isBelow(text, name));
            expect(first.rows).toBe(below.length);
            expect(first.captures).toBe(children.reduce((sum, child) => sum + child.captures, 0));
            for (const kind of ["rows", "voids", "wildcards", "wildcardCaptures"] as const) {
              expect(first[kind]).toBe(children.reduce((sum, child) => sum + child[kind], 0));
            }
            waiting.push(...children.flatMap((child) => (child.hasChildren ? child.prefix : [])));
          }
        },
      ),
      { numRuns: cases(300) },
    );
  });

  it("come largest first; of large nodes as far as they are ranked", async () => {
    const rows = Array.from({ length: 50 }, (_, i): Row => [
      `com,a${i + 10})/`,
      String((i * 7) % 50),
    ]);
    for (const [largeRows, ranked] of [
      [1000, 50],
      [10, 8],
    ] as const) {
      const explorer = await MapExplorer.open(sourceOf(rows), { largeRows, maxRanked: 8 });
      const { children } = await allChildren(explorer, {
        prefix: "com,",
        sort: "captures",
        limit: 6,
      });
      const captures = children.map((child) => child.captures);
      expect(captures.slice(0, ranked)).toEqual(
        captures.toSorted((a, b) => b - a).slice(0, ranked),
      );
      expect(new Set(children.map(({ prefix }) => prefix)).size).toBe(50);
    }
  });

  it("name nodes as SURT and for people, with kinds, bounds and details", async () => {
    const explorer = await MapExplorer.open(
      sourceOf([
        ["*", "900/80"],
        ["com,example)/", "3"],
        ["com,example)/a", "2"],
        ["com,example)/a-b", "0"],
        ["com,example)/a/*", "40+/9"],
        ["com,example,*", "7-"],
        ["com,example:8080)/x", "1"],
      ]),
    );
    expect(await explorer.slice()).toMatchObject({
      prefix: "",
      kind: "root",
      total: "900/80",
      captures: 53,
      rows: 6,
      bound: "about",
      children: [{ prefix: "com,", url: "*.com", kind: "tld", detail: "mixed" }],
      next: null,
    });
    const domain = await explorer.slice({ prefix: "com" });
    expect(
      domain.children.map(({ prefix, url, kind, captures }) => [prefix, url, kind, captures]),
    ).toEqual([
      ["com,example,", "*.example.com", "domain", 52],
      ["com,example:8080,", "*.example.com:8080", "domain", 1],
    ]);
    expect((await explorer.slice({ prefix: "com,example," })).children).toMatchObject([
      { prefix: "com,example)/", url: "http://example.com/", kind: "host", voids: 1 },
      { prefix: "com,example,*", kind: "wildcard", bound: "atMost", detail: "rolled up" },
    ]);
    const host = await explorer.slice({ prefix: "com,example)/" });
    expect(host.coveredBy).toEqual([{ key: "com,example,*", frequency: "7-" }]);
    expect(host.above.map(({ prefix }) => prefix)).toEqual(["", "com,", "com,example,"]);
    expect(host.children).toMatchObject([
      {
        prefix: "com,example)/a/",
        kind: "path",
        captures: 42,
        hasChildren: true,
        bound: "atLeast",
      },
      { prefix: "com,example)/", url: "http://example.com/", kind: "page", hasChildren: false },
      { prefix: "com,example)/a-b/", url: "http://example.com/a-b", kind: "page", voids: 1 },
    ]);
  });

  it("take a path that ends in a parenthesis for a page, not for a host", async () => {
    const explorer = await MapExplorer.open(
      sourceOf([
        ["com,example)/a_(b)", "3"],
        ["com,example)/a_(b)c", "2"],
      ]),
    );
    const { children } = await explorer.slice({ prefix: "com,example)/" });
    expect(children).toMatchObject([
      { prefix: "com,example)/a_(b)/", url: "http://example.com/a_(b)", kind: "page" },
      { prefix: "com,example)/a_(b)c/", kind: "page" },
    ]);
    expect(await explorer.slice({ prefix: "com,example)/a_(b)/" })).toMatchObject({
      kind: "path",
      captures: 3,
    });
  });

  it("count the row for all times, where there is one, and not those for periods as well", async () => {
    const rows: Row[] = [
      ["com,a)/ 2014", "20"],
      ["com,a)/ 2015", "60"],
      ["com,a)/ :", "100"],
      ["com,b)/ 2014", "5"],
      ["com,b)/ 2015", "6"],
    ];
    const head = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
    const explorer = await MapExplorer.open(sourceOf(rows, head));
    expect(await explorer.slice({ prefix: "com," })).toMatchObject({
      rows: 5,
      captures: 111,
      children: [{ captures: 100, rows: 3 }, { captures: 11 }],
    });
  });

  it("leave the bytes of a map as they are, also those of a Buffer", async () => {
    const rows = Array.from({ length: 500 }, (_, i): Row => [`com,a)/p/${1000 + i}`, "1"]);
    const bytes = Buffer.from(sourceOf(rows).bytes);
    const before = Buffer.from(bytes);
    const explorer = await MapExplorer.open(new MemorySource(bytes, "map"), { segmentBytes: 64 });
    await explorer.slice({ depth: 3 });
    await explorer.slice({ search: "p" });
    expect(bytes.equals(before)).toBe(true);
  });

  it.each([
    [{ prefix: "com,exa mple," }],
    [{ prefix: "com,*" }],
    [{ prefix: "com,a)/?x" }],
    [{ limit: 0 }],
    [{ limit: 1.5 }],
    [{ from: "x" }],
    [{ from: "key:com,nowhere,", sort: "key" as const }],
  ])("refuse what cannot be: %j", async (options) => {
    const explorer = await MapExplorer.open(
      sourceOf([
        ["com,a)/", "1"],
        ["com,b)/", "1"],
      ]),
      {
        largeRows: 1,
      },
    );
    await expect(explorer.slice(options)).rejects.toMatchObject({ code: "MM_USAGE" });
  });

  it("are empty where no key begins so", async () => {
    const explorer = await MapExplorer.open(sourceOf([["com,a)/", "1"]]));
    expect(await explorer.slice({ prefix: "org," })).toMatchObject({ rows: 0, children: [] });
  });

  it("have the levels below as slices of their own have them, down to a share of the whole", async () => {
    await fc.assert(
      fc.asyncProperty(map, fc.integer({ min: 2, max: 3 }), async (rows, depth) => {
        const explorer = await MapExplorer.open(sourceOf(rows), { segmentBytes: 64 });
        const slice = await explorer.slice({ depth });
        const size = (part: { captures: number; rows: number }): number =>
          slice.captures > 0 ? part.captures : part.rows;
        const check = async (children: readonly MapChild[], level: number): Promise<void> => {
          for (const child of children) {
            const isShown = child.hasChildren && size(child) >= size(slice) / 500 && level < depth;
            expect(child.children !== undefined).toBe(isShown);
            if (child.children === undefined) continue;
            const own = await explorer.slice({ prefix: child.prefix });
            const plain = child.children.map((one) => ({ ...one, children: undefined }));
            expect(plain).toEqual(own.children.filter((one) => size(one) >= size(slice) / 500));
            await check(child.children, level + 1);
          }
        };
        await check(slice.children, 1);
      }),
      { numRuns: cases(200) },
    );
  });

  it("leave levels out that would take too long", async () => {
    const rows = Array.from({ length: 70_000 }, (_, i): Row => [
      `com,a${Math.floor(i / 10_000)})/${10_000 + (i % 10_000)}`,
      "1",
    ]);
    const explorer = await MapExplorer.open(sourceOf(rows));
    const { children } = await explorer.slice({ prefix: "com,", depth: 2 });
    expect(children.map((child) => child.children?.length)).toEqual([
      1,
      1,
      1,
      1,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("a search", () => {
  /** The name of the topmost part of a key that has the text behind the prefix. */
  function partOf(key: string, prefix: string, text: string): string | undefined {
    const names: string[] = [];
    for (let name = prefix; name !== key;) {
      name = childOf(key, name);
      if (name === names.at(-1)) break;
      names.push(name);
      if (name === key || !/[,/]$/.test(name) || name.slice(0, -1) === key) break;
    }
    return names.find((name) => {
      const plain = name.replace(/[,/]$/, "").replace(/\)$/, "");
      return plain.includes(text, Math.max(0, prefix.length - 1));
    });
  }

  it("finds the topmost parts that have a text, in pages of any size", async () => {
    const word = fc.constantFrom("a", "b", "ab", "a-b", "html", "a,b", "x=1", "zz");
    await fc.assert(
      fc.asyncProperty(
        map,
        word,
        fc.constantFrom("", "a,", "a,b,", "a)/", "a)/a/"),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(1, 200, 100_000),
        async (rows, text, prefix, limit, searchedBytes) => {
          const explorer = await MapExplorer.open(sourceOf(rows), {
            segmentBytes: 64,
            searchedBytes,
          });
          const found: MapChild[] = [];
          for (let from: string | undefined; ;) {
            const slice = await explorer.slice({ prefix, search: text, limit, from });
            expect(slice.search).toBe(text);
            expect(slice.children.length).toBeLessThanOrEqual(limit);
            found.push(...slice.children);
            if (slice.next === null) break;
            from = slice.next;
          }
          const expected = new Set<string>();
          for (const [key] of rows) {
            if (key === "*" || !isBelow(key, prefix)) continue;
            const part = partOf(key, prefix, text);
            if (part !== undefined) expected.add(part);
          }
          expect(new Set(found.map((part) => part.prefix))).toEqual(expected);
          expect(found).toHaveLength(expected.size);
          for (const part of found) {
            const below = rows.filter(([key]) =>
              /[,/]$/.test(part.prefix) ? isBelow(key, part.prefix) : key === part.prefix,
            );
            expect(part.rows).toBe(below.length);
          }
        },
      ),
      { numRuns: cases(500) },
    );
  });

  it.each([
    ["example.com", "com,example"],
    ["https://www.Example.com/News/", "com,example)/news"],
    ["news", "news"],
    ["com,example", "com,example"],
    ["a b", "a%20b"],
    ["größe", "gr%c3%b6%c3%9fe"],
  ])("takes %s as %s", async (text, key) => {
    const explorer = await MapExplorer.open(sourceOf([["com,a)/", "1"]]));
    expect(await explorer.slice({ search: text })).toMatchObject({ search: key, children: [] });
  });

  it.each([[""], [" "], ["x".repeat(501)]])("refuses %j", async (search) => {
    const explorer = await MapExplorer.open(sourceOf([["com,a)/", "1"]]));
    await expect(explorer.slice({ search })).rejects.toMatchObject({ code: "MM_USAGE" });
  });
});
