import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
    expect(frontier.stdout).toContain("budget 50.0%");
  });

  it("refuses a packed map as the truth", async () => {
    const folder = archive();
    const at = (name: string): string => join(folder, name);
    await runCli(["pack", "-q", at("truth.ukvs"), "-o", at("truth.packed")]);
    const refused = ["--truth", at("truth.packed"), "--lookups", at("lookups.txt")];
    expect(await runCli(["evaluate", at("truth.packed"), ...refused])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("does not list its keys") as unknown,
    });
  });

  it("asks for what it needs", async () => {
    const { code, stderr } = await runCli(["evaluate", "map.ukvs"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--truth and --lookups");
  });
});
