import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

/** A folder with the index of a sample archive, `index.cdxj`, and its map, `map.ukvs`. */
async function sample(): Promise<(name: string) => string> {
  const folder = scratchDir();
  const path = (name: string): string => join(folder, name);
  const index: Uint8Array[] = [];
  for (const block of sampleIndex({ lines: 4000 })) index.push(block.slice());
  writeFileSync(path("index.cdxj"), Buffer.concat(index));
  const made = await runCli(["generate", path("index.cdxj"), "-q", "-o", path("map.ukvs")]);
  expect(made.code).toBe(0);
  return path;
}

/** The keys of a map in text. */
function keysOf(path: string): string[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.filter((line) => !line.startsWith("!")).map((line) => line.split(" ")[0]);
}

/** How many of these keys a map calls present. */
async function present(map: string, keys: readonly string[]): Promise<number> {
  const stdin = keys.join("\n");
  const { code, stdout } = await runCli(["lookup", map, "--surt", "--batch", "-", "-q"], { stdin });
  expect(code).toBe(0);
  return stdout.split("\tpresent\t").length - 1;
}

describe("pack", () => {
  it("makes files of at most a size that hold all keys, the larger the better", async () => {
    const path = await sample();
    const keys = keysOf(path("map.ukvs"));
    const others = keys.map((key) => `${key}-not-held`);
    const mistakes: number[] = [];
    for (const size of [2500, 5000, 20_000]) {
      const argv = ["pack", path("map.ukvs"), "--max-bytes", String(size), "-o", path("packed")];
      expect((await runCli([...argv, "--force"])).code).toBe(0);
      expect(statSync(path("packed")).size).toBeLessThanOrEqual(size);
      expect(await present(path("packed"), keys)).toBe(keys.length);
      mistakes.push(await present(path("packed"), others));
    }
    expect(mistakes.toSorted((a, b) => b - a)).toEqual(mistakes);
    expect(mistakes[2]).toBeLessThan(keys.length / 100);
  });

  it("keeps a size with given bits, with a base, and where a plan comes out too large", async () => {
    const path = await sample();
    const run = async (...args: string[]): Promise<string> => {
      const argv = ["pack", path("map.ukvs"), "-o", path("packed"), "--force", ...args];
      const { code, stderr } = await runCli(argv);
      expect(code).toBe(0);
      return stderr;
    };
    for (const bits of ["4", "8", "16"]) {
      await run("--bits", bits, "--max-bytes", "3000");
      expect(statSync(path("packed")).size).toBeLessThanOrEqual(3000);
      expect(await present(path("packed"), keysOf(path("map.ukvs")))).toBe(
        keysOf(path("map.ukvs")).length,
      );
    }
    writeFileSync(path("misses.txt"), "http://example.com/a\nhttp://example.org/b/c\n");
    for (const size of [900, 1000, 1100, 1300]) {
      await run("--misses", path("misses.txt"), "--max-bytes", String(size));
      expect(statSync(path("packed")).size).toBeLessThanOrEqual(size);
    }
  });

  it.each([[[]], [["--bits", "8"]], [["--max-bytes", "1k"]]])(
    "packs a map that says that it holds nothing: %j",
    async (options) => {
      const path = (name: string): string => join(folder, name);
      const folder = scratchDir();
      writeFileSync(path("map.ukvs"), '!size {"bytes":0,"records":0}\n');
      const packed = ["pack", path("map.ukvs"), ...options, "-q", "-o", path("packed")];
      expect(await runCli(packed)).toMatchObject({ code: 0, stderr: "" });
      const answer = await runCli(["lookup", path("packed"), "http://a.com/"]);
      expect(answer.stdout).toContain("\tabsent\t");
      expect((await runCli(["validate", path("packed")])).code).toBe(0);
    },
  );

  it("makes files that are read compressed and from standard input", async () => {
    const path = await sample();
    const [key] = keysOf(path("map.ukvs"));
    const packed = ["pack", path("map.ukvs"), "--bits", "16", "-q", "-o"];
    for (const name of ["map.packed", "map.packed.gz"]) {
      expect((await runCli([...packed, path(name)])).code).toBe(0);
      const lookup = await runCli(["lookup", path(name), "--surt", key]);
      expect(lookup.stdout).toContain("\tpresent\t");
      expect(await present(path(name), [key, `${key}-not-held`])).toBe(1);
      const stdin = readFileSync(path(name));
      expect((await runCli(["lookup", "-", "--surt", key], { stdin })).stdout).toBe(lookup.stdout);
      expect((await runCli(["page", path(name), "-q", "-o", path(`${name}-site`)])).code).toBe(0);
    }
    expect((await runCli(["merge", path("map.packed.gz")])).stderr).toContain(
      "this is a packed map",
    );
  });

  it("refuses damaged files for what they are", async () => {
    const path = await sample();
    const packed = ["pack", path("map.ukvs"), "--bits", "8", "-q", "-o", path("packed")];
    expect((await runCli(packed)).code).toBe(0);
    const bytes = readFileSync(path("packed"));
    const text = (from: string, to: string): Buffer =>
      Buffer.from(bytes.toString("latin1").replaceAll(from, to), "latin1");
    const starts = [text("\r\n", "\n"), text("\n", "\r\n"), bytes.subarray(0, 4)];
    for (const damaged of [...starts, bytes.with(6, 0)]) {
      writeFileSync(path("damaged"), damaged);
      const { code, stderr } = await runCli(["lookup", path("damaged"), "http://a.com/"]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("this is a damaged packed map")]);
    }
    writeFileSync(path("damaged"), bytes.with(bytes.length - 9, bytes[bytes.length - 9] ^ 1));
    const page = await runCli(["page", path("damaged"), "-o", path("site")]);
    expect(page.stderr).toContain("the packed map is damaged: shard");
  });

  it("gives the same bytes from a map, compressed or not, from standard input and from an index", async () => {
    const path = await sample();
    const map = readFileSync(path("map.ukvs"));
    writeFileSync(path("map.ukvs.gz"), gzipSync(map));
    const made: Buffer[] = [];
    for (const input of ["map.ukvs", "map.ukvs.gz", "index.cdxj"]) {
      const argv = ["pack", path(input), "--bits", "8", "-q", "-o", path("packed"), "--force"];
      expect(await runCli(argv)).toEqual({ code: 0, stdout: "", stderr: "" });
      made.push(readFileSync(path("packed")));
    }
    const argv = ["pack", "--bits", "8", "-q", "-o", path("packed"), "--force"];
    expect((await runCli(argv, { stdin: map })).code).toBe(0);
    made.push(readFileSync(path("packed")));
    expect(made.map((bytes) => bytes.equals(made[0]))).toEqual([true, true, true, true]);
  });

  it("keeps the queries of an index if told to", async () => {
    const path = await sample();
    writeFileSync(path("uris"), "http://a.example/x?q=1\nhttp://a.example/y\n");
    const argv = ["pack", path("uris"), "--queries", "--bits", "24", "-q", "-o", path("packed")];
    expect((await runCli(argv)).code).toBe(0);
    const uris = ["http://a.example/x?q=1", "http://a.example/x?q=2", "http://a.example/y"];
    const { stdout } = await runCli(["lookup", path("packed"), ...uris]);
    expect(stdout.split("\n").map((line) => line.split("\t")[1])).toEqual([
      "present",
      "absent",
      "present",
      undefined,
    ]);
  });

  it("takes an index from standard input, compressed or not", async () => {
    const path = await sample();
    const index = readFileSync(path("index.cdxj"));
    const argv = ["pack", path("index.cdxj"), "--queries", "--bits", "8", "-q", "-o"];
    expect((await runCli([...argv, path("packed")])).code).toBe(0);
    for (const stdin of [index, gzipSync(index)]) {
      const result = await runCli([...argv.with(1, "-"), path("other"), "--force"], { stdin });
      expect(result).toEqual({ code: 0, stdout: "", stderr: "" });
      const [one, other] = ["packed", "other"].map((name) => statSync(path(name)).size);
      expect(other).toBe(one);
      const keys = keysOf(path("map.ukvs"));
      expect(await present(path("other"), keys)).toBe(await present(path("packed"), keys));
    }
  });

  it("learns from misses", async () => {
    const path = await sample();
    const keys = keysOf(path("map.ukvs"));
    const misses = keys.map((key) => `${key}-not-held`);
    writeFileSync(path("misses"), misses.join("\n"));
    const argv = ["pack", path("map.ukvs"), "--max-bytes", "3000", "-o", path("packed")];
    const { code } = await runCli([...argv, "--misses", path("misses")]);
    expect(code).toBe(0);
    expect(await present(path("packed"), keys)).toBe(keys.length);
  });

  it("packs a map without headers, however long its first key is", async () => {
    const path = await sample();
    const key = `com,a)/${"x".repeat(8000)}`;
    writeFileSync(path("long.ukvs"), `${key} 1\n`);
    const { code, stderr } = await runCli(["pack", "-q", path("long.ukvs"), "-o", path("long")]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(await present(path("long"), [key])).toBe(1);
  });

  it("writes nothing when it fails, and says why", async () => {
    const path = await sample();
    const map = readFileSync(path("map.ukvs"));
    writeFileSync(path("cut.ukvs"), map.subarray(0, map.lastIndexOf("\n", -2) + 1));
    const before = readdirSync(path("."));
    const failures = [
      [["pack", path("cut.ukvs"), "-o", path("x")], "[MM_CUT]"],
      [["pack", path("map.ukvs"), "-o", path("map.ukvs")], "map.ukvs"],
      [["pack", path("map.ukvs"), "-o", path("index.cdxj")], "is an index, not a packed map"],
      [["pack", path("map.ukvs"), "--max-bytes", "200", "-o", path("x")], "allow more"],
      [["pack", path("map.ukvs"), "--bits", "40", "-o", path("x")], "0 to 31"],
      [["pack", path("map.ukvs"), "--queries", "-o", path("x")], "--queries requires an index"],
      [["pack", path("none.ukvs"), "-o", path("x")], "none.ukvs"],
    ] as const;
    for (const [argv, message] of failures) {
      const { code, stderr } = await runCli([...argv, "-q"]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    expect(readdirSync(path("."))).toEqual(before);
    expect(readFileSync(path("map.ukvs")).equals(map)).toBe(true);
  });
});
