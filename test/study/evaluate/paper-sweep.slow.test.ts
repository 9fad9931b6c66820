import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compactMap } from "../../../src/compact/compact-map.ts";
import {
  type PaperMap,
  paperMaps,
  traceBase,
  traceCompaction,
} from "../../../src/study/evaluate/paper-maps.ts";
import { generateMap } from "../../../src/generate/generate-map.ts";
import { Interrupt } from "../../../src/interruption.ts";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const streams = {
  stdin: (async function* stdin() {})(),
  interrupt: new Interrupt(),
};

async function sampleMap(lines: number): Promise<string> {
  const { bytes } = await generateMap([{ name: "sample", chunks: sampleIndex({ lines }) }]);
  const path = join(scratchDir(), "base.ukvs");
  writeFileSync(path, bytes);
  return path;
}

async function compacted(map: Uint8Array, hostWeight: number, pathWeight: number): Promise<string> {
  const blocks: Uint8Array[] = [];
  for await (const block of compactMap([map], { hostWeight, pathWeight })) blocks.push(block);
  return Buffer.concat(blocks).toString();
}

describe("the paper's sweep", () => {
  it("has the paper's 36 maps, each made of its input as in the table, and ever smaller", async () => {
    const maps: PaperMap[] = [];
    for await (const map of paperMaps(await sampleMap(3000), streams)) maps.push(map);
    expect(maps).toHaveLength(36);
    for (const { map, made } of maps) {
      const input = maps.find(({ name }) => name === made.input);
      if (input === undefined) continue;
      expect(Buffer.from(map).toString()).toBe(
        await compacted(input.map, made.hostWeight, made.pathWeight),
      );
      expect(map.length).toBeLessThanOrEqual(input.map.length);
    }
    const chain = maps.map(({ name, made }) => `${made.input} > ${name}`);
    expect(chain.slice(0, 3)).toEqual([
      "HinfPinf > H4.00P4.00",
      "H4.00P4.00 > H4.00P2.00",
      "H4.00P2.00 > H4.00P1.00",
    ]);
    expect(chain[6]).toBe("H4.00P4.00 > H2.00P4.00");
    expect(chain[12]).toBe("H2.00P4.00 > H1.00P4.00");
    expect(chain[35]).toBe("H0.00P0.25 > H0.00P0.00");
  });

  it("prints the paper's columns in 80 columns, and JSON with how each map was made", async () => {
    const truth = await sampleMap(3000);
    const lookups = join(scratchDir(), "lookups.txt");
    writeFileSync(lookups, "http://example.com/a\nhttp://example.pt/\n");
    const given = ["evaluate", "--sweep", "paper", "--truth", truth, "--lookups", lookups];
    const { stdout, code } = await runCli(given);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Keys looked up +2\nKeys held +0$/m);
    expect(stdout).toMatch(/^Map +Wh +Wp +Input +Roll-ups +Seconds +Lines +Size +Gzip$/m);
    expect(stdout).toMatch(/^HinfPinf +inf +inf +- +- +\d/m);
    expect(stdout).toMatch(/^H4\.00P4\.00 +4\.00 +4\.00 +HinfPinf /m);
    expect(stdout).toMatch(/^H4\.00P2\.00 +4\.00 +2\.00 +H4\.00P4\.00 /m);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    const json = await runCli([...given, "--json"]);
    const rows = json.stdout.trim().split("\n");
    expect(JSON.parse(rows[1] ?? "")).toMatchObject({
      map: "H4.00P2.00",
      made: { input: "H4.00P4.00", hostWeight: 4, pathWeight: 2 },
    });
  });
});

describe("traceCompaction", () => {
  it("grows row by row, falls at a roll-up, and ends where the whole compaction does", async () => {
    const rows = Array.from({ length: 120 }, (_, i) => `com,a)/x/${1000 + i} 1\n`).join("");
    const bytes = new TextEncoder().encode(rows);
    const points = await traceCompaction(bytes, { hostWeight: 4, pathWeight: 2 });
    const produced = points.map((point) => point.produced);
    expect(points[10]).toEqual({ processed: 10, produced: 10 });
    expect(produced.some((count, i) => count < (produced[i - 1] ?? 0))).toBe(true);
    const whole = await compacted(bytes, 4, 2);
    const lines = whole.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
    expect(produced.at(-1)).toBe(lines.length);
  });

  it("finds a stretch of a map where something is rolled up", async () => {
    const base = { map: await sampleMap(20_000), keys: 4600 };
    const points = await traceBase(base, streams, { hostWeight: 4, pathWeight: 2 });
    const produced = points.map((point) => point.produced);
    expect(points.length).toBeGreaterThan(100);
    expect(produced.some((count, i) => count < (produced[i - 1] ?? 0))).toBe(true);
  });
});
