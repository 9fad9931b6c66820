import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryIndex } from "../../src/map/lookup/memory-index.ts";
import { validateMap } from "../../src/map/validate-map.ts";
import { lookupKeys, surtKey } from "../../src/surt/key.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { collected, encode, merged } from "./map-files.ts";

const FIELDS = '!fields {"keys":["surt"],"values":["frequency"],"queries":true}';

function withQueries(...rows: string[]): string {
  return [FIELDS, ...rows, ""].join("\n");
}

describe("keys of a map with queries", () => {
  it("asks for the URI, for any query of the page, and then as ever", () => {
    const keys = lookupKeys("com,a)/p?x=1", { queries: true });
    expect(keys.map(({ key, distance }) => `${distance} ${key}`)).toEqual([
      "0 com,a)/p?x=1",
      "1 com,a)/p?*",
      "2 com,a)/p/*",
      "3 com,a)/*",
      "4 com,a,*)/p?x=1",
      "4 com,a,*)/p?*",
      "5 com,a,*",
      "6 com,*)/p?x=1",
      "6 com,*)/p?*",
      "6 com,*",
    ]);
    expect(lookupKeys("com,a)/", { queries: true }).map(({ key }) => key)).toEqual([
      "com,a)/",
      "com,a)/?*",
      "com,a)/*",
      "com,a,*)/",
      "com,a,*)/?*",
      "com,a,*",
      "com,*)/",
      "com,*)/?*",
      "com,*",
    ]);
  });

  it("escapes what is a wildcard, and drops slashes of the path", () => {
    const key = (text: string): string => surtKey(text, { queries: true });
    expect(key("com,a)/p/?x=*")).toBe("com,a)/p?x=%2a");
    expect(key("com,a)/p/?*")).toBe("com,a)/p?%2a");
    expect(key("com,a)/p?")).toBe("com,a)/p");
    expect(key("com,a)?x y/")).toBe("com,a)/?x%20y/");
  });
});

describe("generate --queries", () => {
  const uris = [
    "http://a.com/p",
    "http://a.com/p?x=1",
    "http://a.com/p/?x=1",
    "http://a.com/p?b=2&a=*",
    "http://a.com/p/q",
    "http://a.com/p0",
    "http://a.com/p?",
    "http://a.com/?é",
  ];

  it("has a row for each URI", async () => {
    const made = await runCli(["generate", "-q", "--queries", "-"], { stdin: uris.join("\n") });
    expect(made.code).toBe(0);
    expect(made.stdout).toContain(FIELDS);
    expect(made.stdout.split("\n").filter((line) => !line.startsWith("!"))).toEqual([
      "com,a)/?%c3%a9 1",
      "com,a)/p 2",
      "com,a)/p/q 1",
      "com,a)/p0 1",
      "com,a)/p?a=%2a&b=2 1",
      "com,a)/p?x=1 2",
      "",
    ]);
  });

  it("takes keys from a key column with its query, and counts captures and originals", async () => {
    const path = join(scratchDir(), "index.cdxj");
    const lines = uris
      .map((uri) => surt(uri))
      .toSorted()
      .map((key) => `${key} 20200101000000 {"mime": "text/html", "status": "200"}\n`);
    writeFileSync(path, [...lines, ...lines].join(""));
    const made = await runCli(["generate", "-q", "--queries", "--distinct", "--originals", path]);
    expect(made.stdout).toContain("com,a)/p 1/1\n");
    expect(made.stdout).toContain("com,a)/p?x=1 1/1\n");
    const all = await runCli(["generate", "-q", "--queries", "--by", "datetime:year", path]);
    expect(all.stdout).toContain("com,a)/p?x=1 2020 4\n");
  });

  it("makes keys from the URIs where queries of the key column differ", async () => {
    const path = join(scratchDir(), "index.cdxj");
    writeFileSync(path, 'com,a)/p?b=1&a=2 20200101 {"url": "http://a.com/p?b=1&a=2"}\n');
    const made = await runCli(["generate", "-q", "--queries", path]);
    expect(made.stdout).toContain("com,a)/p?a=2&b=1 1\n");
  });

  it("adds to a map of the same kind only", async () => {
    const base = join(scratchDir(), "base.ukvs");
    writeFileSync(base, withQueries("com,a)/p?x=1 5"));
    const asked = { stdin: "http://a.com/p?x=1\n" };
    const added = await runCli(["generate", "-q", "--queries", "--add", base, "-"], asked);
    expect(added.stdout).toContain("com,a)/p?x=1 6\n");
    const other = await runCli(["generate", "-q", "--add", base, "-"], asked);
    expect(other).toMatchObject({ code: 2 });
    expect(other.stderr).toContain("give --queries");
    writeFileSync(base, withQueries("com,a)/p?* 5"));
    const wild = await runCli(["generate", "-q", "--queries", "--add", base, "-"], asked);
    expect(wild.stderr).toContain("a wildcard cannot be added to");
  });

  it("answers every URI that was read, and no other query of its page", async () => {
    const uri = fc
      .tuple(
        fc.constantFrom("a.com", "b.a.com"),
        fc.constantFrom("", "p", "p/", "p/q", "p-b", "p0"),
        fc.constantFrom("", "?", "?x=1", "?x=2", "?y=*", "?é", "?a?b/c"),
      )
      .map(([host, path, query]) => `http://${host}/${path}${query}`);
    await fc.assert(
      fc.asyncProperty(fc.array(uri, { minLength: 1 }), uri, async (held, asked) => {
        const stdin = held.join("\n");
        const { stdout } = await runCli(["generate", "-q", "--queries", "-"], { stdin });
        const index = MemoryIndex.build(encode(stdout));
        expect(held.filter((one) => !index.lookupSync(one).present)).toEqual([]);
        const keys = held.map((one) => surtKey(surt(one), { queries: true }));
        const isHeld = keys.includes(surtKey(surt(asked), { queries: true }));
        expect([asked, index.lookupSync(asked).present]).toEqual([asked, isHeld]);
      }),
      { numRuns: 50 },
    );
  });
});

describe("merging maps with queries", () => {
  it("makes rows of a map without queries speak of any query", async () => {
    const map = '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/p 1\ncom,a)/p-b 2\n';
    const both = await merged(map, withQueries("com,a)/p 3", "com,a)/p?x=1 4"));
    expect(both).toBe(
      withQueries("com,a)/p 3", "com,a)/p-b?* 2", "com,a)/p?* 1", "com,a)/p?x=1 4"),
    );
  });

  it("keeps a void of a page only where the other map says absent of all it covers", async () => {
    const map = '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/* 1\ncom,a)/p 0\n';
    expect(await merged(map, withQueries("com,b)/ 3"))).toContain("com,a)/p?* 0\n");
    expect(await merged(map, withQueries("com,a)/p/* 3"))).not.toContain("?*");
  });

  it("refuses a `?*` that is not a wildcard", async () => {
    const older = '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/p?* 1\n';
    await expect(merged(older, withQueries("com,a)/p 3"))).rejects.toThrow(/merge this map alone/);
    expect(await merged(older)).toContain("com,a)/p?%2a 1");
  });
});

describe("validating maps with queries", () => {
  const codes = async (text: string): Promise<string[]> =>
    (await collected(validateMap([encode(text)]))).map(({ code }) => code);

  it("finds nothing wrong with queries and their wildcard", async () => {
    const rows = ["com,*)/p?* 9", "com,a)/* 9", "com,a)/p 0", "com,a)/p?* 5", "com,a)/p?x=1 5"];
    expect(await codes(withQueries(...rows))).toEqual([]);
  });

  it("finds keys that no lookup asks for, and counts that do not fit", async () => {
    expect(await codes(withQueries("com,a)/p/?x 1"))).toEqual(["bad-key"]);
    expect(await codes(withQueries("com,a)/p? 1"))).toEqual(["bad-key"]);
    expect(await codes(withQueries("com,a)/*?x 1"))).toEqual(["bad-key"]);
    expect(await codes(withQueries("com,a)/p 3", "com,a)/p?* 5", "com,a)/p?x 4"))).toEqual([
      "wildcard-too-small",
    ]);
    expect(await codes('!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/p?* 1\n')).toEqual(
      ["bad-key"],
    );
  });

  it("refuses a flag that is not one", async () => {
    expect(
      await codes('!fields {"keys":["surt"],"values":["frequency"],"queries":"yes"}\n'),
    ).toContain("bad-header");
  });
});
