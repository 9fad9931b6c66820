import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { generateMap } from "../../src/generate/generate-map.ts";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { sharedData } from "../support/shared-data.ts";

/** A map of some thousand keys. */
async function sampleMap(folder: string): Promise<string> {
  const chunks = [Buffer.concat([...sampleIndex({ lines: 20_000 })])];
  const { bytes } = await generateMap([{ name: "sample", chunks }]);
  const map = join(folder, "map.ukvs");
  writeFileSync(map, bytes);
  return map;
}

function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").trimEnd().split("\n");
}

describe("compact to a size", () => {
  it.each([500, 2000])(
    "keeps to --max-lines %i, headers included, within 2 %",
    async (maxLines) => {
      const folder = scratchDir();
      const map = await sampleMap(folder);
      const small = join(folder, "small.ukvs");
      const { code } = await runCli(["compact", "--max-lines", String(maxLines), map, "-o", small]);
      expect(code).toBe(0);
      const { length } = linesOf(small);
      expect(length).toBeLessThanOrEqual(maxLines);
      expect(length).toBeGreaterThan(maxLines * 0.98);
    },
  );

  it("keeps to --relative-cost, of rows or of originals", async () => {
    const folder = scratchDir();
    const map = await sampleMap(folder);
    const small = join(folder, "small.ukvs");
    const rows = linesOf(map).filter((line) => !line.startsWith("!")).length;
    await runCli(["compact", "--relative-cost", "20%", map, "-o", small]);
    expect(linesOf(small).length / rows).toBeLessThanOrEqual(0.2);
    expect(linesOf(small).length / rows).toBeGreaterThan(0.195);
    const originals = ["--original-count", String(rows * 2)];
    await runCli(["compact", "--relative-cost", "20%", ...originals, map, "-o", small]);
    expect(linesOf(small).length / rows).toBeGreaterThan(0.39);
  });

  it("keeps to --max-bytes after gzip, within 2 %, and reads standard input", async () => {
    const folder = scratchDir();
    const map = await sampleMap(folder);
    const small = join(folder, "small.ukvs.gz");
    const { code } = await runCli(["compact", "--max-bytes", "12k", "-", "-o", small], {
      stdin: readFileSync(map),
    });
    expect(code).toBe(0);
    const size = gzipSync(gunzipSync(readFileSync(small))).length;
    expect(size).toBeLessThanOrEqual(12 * 1024);
    expect(size).toBeGreaterThan(12 * 1024 * 0.97);
  });

  it("makes the smallest map if it fits --max-bytes, and else says how large it is", async () => {
    const folder = scratchDir();
    const map = await sampleMap(folder);
    const small = join(folder, "small.ukvs");
    const tooSmall = await runCli(["compact", "--max-bytes", "10", map, "-o", small]);
    expect(tooSmall.code).toBe(2);
    const least = /smaller than (\d+) bytes after gzip; allow that many/.exec(tooSmall.stderr)?.[1];
    expect(Number(least)).toBeGreaterThan(0);
    const { code } = await runCli(["compact", "--max-bytes", String(least), map, "-o", small]);
    expect(code).toBe(0);
    expect(gzipSync(readFileSync(small)).length).toBeLessThanOrEqual(Number(least));
  });

  it.each([
    ["--max-lines", "1"],
    ["--relative-cost", "0.01%"],
    ["--max-bytes", "10"],
  ])("says that no map is so small by a code of its own: %s %s", async (...size) => {
    const folder = scratchDir();
    const map = await sampleMap(folder);
    const { code, stderr } = await runCli(["compact", ...size, map, "-o", join(folder, "small")]);
    expect([code, /\[\w+\]$/.exec(stderr.trimEnd())?.[0]]).toEqual([2, "[MM_BUDGET]"]);
  });

  it("learns from misses, and says what it did", async () => {
    const folder = scratchDir();
    const map = await sampleMap(folder);
    const misses = join(folder, "misses.txt");
    writeFileSync(misses, "http://example.pt/a\ncom,example)/b 3\n");
    const small = join(folder, "small.ukvs");
    const { code, stderr } = await runCli([
      "compact",
      "--json",
      "--max-lines",
      "1000",
      "--misses",
      misses,
      map,
      "-o",
      small,
    ]);
    expect(code).toBe(0);
    const summary = stderr.split("\n").find((line) => line.startsWith('{"rowsRead"'));
    expect(JSON.parse(summary ?? "")).toMatchObject({ exclusions: 0, prior: { misses: 0 } });
  });

  it.each([
    [["--misses", "x"], "--misses requires"],
    [["--max-lines", "0"], "max-lines"],
    [["--relative-cost", "most"], "not a share"],
  ])("refuses %j", async (flags, message) => {
    const { code, stderr } = await runCli(["compact", ...flags, "map.ukvs"]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("refuses a map with a datetime column", async () => {
    const folder = scratchDir();
    const map = join(folder, "map.ukvs");
    writeFileSync(
      map,
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}\ncom,a)/ 2014 1\n',
    );
    const { code, stderr } = await runCli(["compact", "--max-lines", "9", map]);
    expect(code).toBe(2);
    expect(stderr).toContain('the key "surt" alone');
  });
});

const congress = sharedData("congress-a.lookups.tsv.gz");

describe.skipIf(congress === undefined)("the sparse archive of docs/evaluation.md", () => {
  it("is answered better than by weights of the same size, and loses nothing", async () => {
    const folder = scratchDir();
    const at = (name: string): string => join(folder, name);
    const lines = gunzipSync(readFileSync(congress ?? ""))
      .toString()
      .split("\n")
      .map((line) => line.split("\t"));
    const urisOf = (keep: (year: string) => boolean): string =>
      lines
        .filter(([time, uri]) => uri !== undefined && keep(time.slice(0, 4)))
        .map(([, uri]) => `${uri}\n`)
        .join("");
    const { bytes } = await generateMap([
      { name: "held", chunks: [Buffer.from(urisOf((year) => year <= "2019"))] },
    ]);
    writeFileSync(at("truth.ukvs"), bytes);
    writeFileSync(
      at("misses.txt"),
      urisOf((year) => year === "2020"),
    );
    writeFileSync(
      at("lookups.txt"),
      urisOf((year) => year >= "2021"),
    );
    const size = ["--max-lines", "26573", at("truth.ukvs")];
    await runCli(["compact", ...size, "-o", at("content.ukvs")]);
    await runCli(["compact", ...size, "--misses", at("misses.txt"), "-o", at("trained.ukvs")]);
    const given = ["--truth", at("truth.ukvs"), "--lookups", at("lookups.txt"), "--json"];
    const { code, stdout } = await runCli([
      "evaluate",
      at("content.ukvs"),
      at("trained.ukvs"),
      ...given,
    ]);
    expect(code).toBe(0);
    const [content, trained] = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { accuracy: number }).accuracy);
    expect(content).toBeGreaterThan(0.54);
    expect(trained).toBeGreaterThan(0.7);
  }, 240_000);
});

describe("the summary of compact", () => {
  it.each([[["--host-weight", "1"]], [["--max-host-depth", "1"]], [["--max-lines", "3"]]])(
    "says how many rows there are: %s",
    async (options) => {
      const folder = folderWith({ "map.ukvs": "com,a)/ 1\ncom,b)/ 1\ncom,c)/ 1\n" });
      const { code, stdout, stderr } = await runCli([
        "compact",
        ...options,
        join(folder, "map.ukvs"),
      ]);
      expect(code).toBe(0);
      const rows = stdout.split("\n").filter((line) => /^[^!]/.test(line)).length;
      expect(stderr).toMatch(/^rows read +3\b/m);
      expect(stderr).toMatch(new RegExp(`^rows +${rows} `, "m"));
    },
  );
});
