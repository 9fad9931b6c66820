import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Analysis } from "../../../src/study/analyze/analysis.ts";
import { analyzeIndex } from "./analyze-index.ts";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { runCli } from "../../support/run-cli.ts";
import { sharedData } from "../../support/shared-data.ts";
import { spawnCli } from "../../support/spawn-cli.ts";

/** The analysis without what tells of the run itself. */
function facts(analysis: Analysis & { readonly run?: unknown }): unknown {
  const { index, method, run: _, ...rest } = analysis;
  return { ...rest, index: { ...index, storedBytes: 0, files: 0 }, exact: method.exact };
}

describe("analyzeFiles", () => {
  let index: Buffer;
  let expected: unknown;
  let folder: string;

  beforeAll(async () => {
    index = Buffer.concat([...sampleIndex({ lines: 60_000 })]);
    folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
    writeFileSync(join(folder, "index.cdxj"), index);
    writeFileSync(join(folder, "index.cdxj.gz"), gzipSync(index));
    const half = index.indexOf("\n", index.length / 2) + 1;
    writeFileSync(join(folder, "a.cdxj"), index.subarray(half));
    writeFileSync(join(folder, "b.cdxj"), index.subarray(0, half));
    const whole = await analyzeIndex([{ name: "whole", chunks: [index] }]);
    expected = JSON.parse(JSON.stringify(facts(whole)));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["gzip", ["index.cdxj.gz"]],
    ["two files in the wrong order", ["a.cdxj", "b.cdxj"]],
    ["little memory", ["--memory", "1m", "--threads", "1", "index.cdxj"]],
    ["two threads", ["--threads", "2", "index.cdxj"]],
    ["three threads", ["--threads", "3", "index.cdxj"]],
    ["standard input", ["-"]],
  ])("finds the same: %s", async (_, args) => {
    const { done, child } = spawnCli(["analyze", "--json", "-q", ...args], folder);
    child.stdin?.end(args[0] === "-" ? index : "");
    const { code, stdout } = await done;
    expect(code).toBe(0);
    expect(facts(JSON.parse(stdout) as Analysis)).toEqual(expected);
  });

  it("counts what filters leave out", async () => {
    const path = join(folder, "index.cdxj");
    const { stdout } = await runCli(["analyze", "--json", "-q", "--preset", "paper", path]);
    const { index: found, captures } = JSON.parse(stdout) as Analysis;
    const left = Object.values(found.lines.filtered).reduce((sum, count) => sum + count, 0);
    expect(found.mementos + left).toBe(60_000);
    expect(captures.statusCodes.map(({ status }) => status)).toEqual([200]);
    expect(captures.mimeTypes.map(({ mime }) => mime)).toEqual(["text/html"]);
  });

  it("names a filter that makes no sense before it reads anything", async () => {
    const { code, stderr } = await runCli(["analyze", "--from", "soon", join(folder, "none")]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--from: not a datetime: "soon"/);
  });
});

const real = sharedData("cdx-real");

describe.skipIf(real === undefined)("analyze on real indexes (not at hand: skipped)", () => {
  it.each([
    "oduwsdl-archive_profiler-index-1.cdx",
    "netarchivesuite-fyensdk.cdx",
    "cdx_toolkit-filtered_CC-MAIN-2024-30_cdx-00187.cdxj.gz",
  ])("%s: sums agree, and generate finds as many keys", async (name) => {
    const path = join(real ?? "", name);
    const analyzed = await runCli(["analyze", "--json", "-q", "--threads", "1", path]);
    expect(analyzed.code).toBe(0);
    const { index, tlds, depths, captures, distribution } = JSON.parse(analyzed.stdout) as Analysis;
    const generated = await runCli(["generate", "--json", "--skip-bad", "--threads", "1", path]);
    const summary = JSON.parse(generated.stderr.trim().split("\n").at(-1) ?? "") as {
      captures: number;
      rows: number;
    };
    expect(index.mementos).toBe(summary.captures);
    expect(index.keys).toBe(summary.rows);
    const all = [...tlds.rows, tlds.ipAddresses, tlds.other];
    expect(all.reduce((sum, row) => sum + row.mementos, 0)).toBe(index.mementos);
    expect(distribution.sum).toBe(index.mementos);
    expect(captures.pathQuery.flat().reduce((a, b) => a + b, 0)).toBe(index.mementos);
    expect(depths.find(({ depth }) => depth === "P0")?.count).toBe(index.hosts);
  });
});
