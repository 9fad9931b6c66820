import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BloomFilter, cutKey, FIXED_POLICIES } from "../../../src/study/evaluate/predictor.ts";
import { runCli } from "../../support/run-cli.ts";
import { folderWith } from "../../support/folder-with.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';

function archive(): string {
  return folderWith({
    "truth.ukvs": `${HEAD}com,a)/ 1\ncom,a)/x/1 1\ncom,a)/x/2 1\norg,b)/y 1\norg,b)/z/* 0\n`,
    "good.ukvs": `${HEAD}com,a)/ 1\ncom,a)/x/* 2\norg,b)/y 1\n`,
    "bad.ukvs": `${HEAD}com,a)/x/* 2\norg,b)/y 1\n`,
    "lookups.txt":
      "http://a.com/x/1\nhttp://a.com/x/1?q=1 7\ncom,a)/x/3\nhttp://b.org/y\n# a remark\n\nhttp://b.org/w\nhttp://c.net/\n",
    "future.txt": "http://a.com/x/9\nhttp://b.org/new\nhttp://b.org/y\n",
  });
}

describe("evaluate", () => {
  it("gives the agreed members, by unique key", async () => {
    const folder = archive();
    const at = (name: string): string => join(folder, name);
    const given = ["--truth", at("truth.ukvs"), "--lookups", at("lookups.txt"), "--json"];
    const future = ["--future", at("future.txt")];
    const { code, stdout } = await runCli(["evaluate", at("good.ukvs"), ...given, ...future]);
    expect(code).toBe(0);
    const result: unknown = JSON.parse(stdout);
    expect(result).toMatchObject({
      map: at("good.ukvs"),
      lines: 3,
      bytes: readFileSync(at("good.ukvs")).length,
      gzipBytes: expect.any(Number) as unknown,
      relativeCost: 3 / 4,
      lookups: 5,
      truePositives: 2,
      falsePositives: 1,
      trueNegatives: 2,
      falseNegatives: 0,
      accuracy: 0.8,
      recall: 1,
      // `b.org/y` was held before.
      freshness: 0.5,
      keyAccuracy: 0.8,
      costBasis: "keys",
      costDivisor: 4,
      heldHosts: { keys: { lookups: 4, accuracy: 0.75 }, uris: null },
      // A map does not say which URIs are held.
      uriAccuracy: null,
      uris: null,
      truth: { kind: "map", noUris: expect.stringContaining("give the index") as unknown },
    });
  });

  it("ends with 1 when a map loses something that is held", async () => {
    const folder = archive();
    const at = (name: string): string => join(folder, name);
    const given = ["--truth", at("truth.ukvs"), "--lookups", at("lookups.txt"), "--json"];
    const maps = [at("good.ukvs"), at("bad.ukvs")];
    const { code, stdout } = await runCli(["evaluate", ...maps, ...given]);
    expect(code).toBe(1);
    const recalls = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { recall: number }).recall);
    expect(recalls).toEqual([1, 0.75]);
  });

  it("measures the paper's 36 maps, and draws the frontier", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `com,a)/x/${String(i).padStart(2, "0")} 1\n`);
    const folder = folderWith({
      "truth.ukvs": HEAD + rows.join(""),
      "lookups.txt": "http://a.com/x/1\nhttp://a.com/x/07\nhttp://b.org/\n",
    });
    const at = (name: string): string => join(folder, name);
    const given = ["--truth", at("truth.ukvs"), "--lookups", at("lookups.txt")];
    const paper = await runCli(["evaluate", "--sweep", "paper", ...given, "--json"]);
    expect(paper.stdout.trim().split("\n")).toHaveLength(36);
    const html = at("frontier.html");
    const frontier = await runCli(["evaluate", "--sweep", "frontier", ...given, "--html", html]);
    expect(frontier.code).toBe(0);
    const page = readFileSync(html, "utf8");
    expect(page).toContain("<svg");
    expect(page).not.toMatch(/(?:src|href)="(?!#|data:)/);
    expect(frontier.stdout).toContain("fixed HxP1");
    expect(frontier.stdout).toContain("budget 50.0%");
  });

  it("draws packed maps of the sizes of budgets, and refuses one as the truth", async () => {
    const rows = Array.from({ length: 9000 }, (_, i) => `com,a)/${i % 90}/${i} 1\n`).sort();
    const folder = folderWith({
      "truth.ukvs": HEAD + rows.join(""),
      "lookups.txt": "http://a.com/1/1\nhttp://a.com/x/07\nhttp://b.org/\n",
    });
    const at = (name: string): string => join(folder, name);
    const given = ["--truth", at("truth.ukvs"), "--lookups", at("lookups.txt"), "--json"];
    const { code, stdout } = await runCli(["evaluate", "--sweep", "frontier", ...given]);
    expect(code).toBe(0);
    const packed = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { map: string; bytes: number; recall: number })
      .filter(({ map }) => map.startsWith("packed "));
    expect(packed.length).toBeGreaterThan(2);
    for (const { map, bytes, recall } of packed) {
      expect(map).toMatch(/^packed \d+ B$/);
      expect(bytes).toBeLessThanOrEqual(Number(map.split(" ")[1]));
      expect(recall).toBe(1);
    }
    await runCli(["pack", "-q", at("truth.ukvs"), "-o", at("truth.packed")]);
    const refused = ["--truth", at("truth.packed"), "--lookups", at("lookups.txt")];
    expect(await runCli(["evaluate", at("truth.packed"), ...refused])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("does not list what it holds") as unknown,
    });
  });

  it("asks for what it needs", async () => {
    const { code, stderr } = await runCli(["evaluate", "map.ukvs"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--truth and --lookups");
  });
});

describe("BloomFilter", () => {
  it("loses nothing, and is rarely wrong with ten bits a key", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }), (keys) => {
        const encoder = new TextEncoder();
        const filter = new BloomFilter(Math.ceil((keys.length * 10) / 8), keys.length);
        for (const key of keys) filter.add(encoder.encode(key));
        expect(keys.every((key) => filter.has(encoder.encode(key)))).toBe(true);
      }),
    );
    const encoder = new TextEncoder();
    const filter = new BloomFilter(12_500, 10_000);
    for (let i = 0; i < 10_000; i++) filter.add(encoder.encode(`com,a)/${i}`));
    let wrong = 0;
    for (let i = 0; i < 10_000; i++) if (filter.has(encoder.encode(`com,b)/${i}`))) wrong++;
    // 0.8 % in theory.
    expect(wrong).toBeLessThan(150);
  });
});

describe("fixed policies", () => {
  it.each([
    ["fixed H1P0", "com,cnn,www,a)/b/c", "com,*"],
    ["fixed H2P0", "com,cnn,www,a)/b/c", "com,cnn,*"],
    ["fixed H3P0", "com,cnn,www,a)/b/c", "com,cnn,www,*"],
    ["fixed HxP0", "com,cnn,www,a)/b/c", "com,cnn,www,a)/*"],
    ["fixed HxP1", "com,cnn,www,a)/b/c", "com,cnn,www,a)/b/*"],
    // Shorter keys stay what they are.
    ["fixed H3P0", "com,cnn)/b", "com,cnn)/*"],
    ["fixed HxP1", "com,cnn)/", "com,cnn)/"],
  ])("%s cuts %s to %s", (name, key, kept) => {
    const policy = FIXED_POLICIES.find((one) => one.name === name);
    expect(policy && cutKey(key, policy)).toBe(kept);
  });
});
