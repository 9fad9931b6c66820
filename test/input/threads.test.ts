import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { spawnCli } from "../support/spawn-cli.ts";
import { until } from "../support/until.ts";
import { zipFile } from "../support/zip-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

/** Large enough for a second thread to be worth its while, compressed. */
const LINES = 250_000;

describe("inputs that several threads read", () => {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
  const inputs = join(folder, "inputs");
  const scratch = join(folder, "scratch");
  let expected: Buffer;

  beforeAll(async () => {
    mkdirSync(inputs);
    mkdirSync(scratch);
    const lines = Buffer.concat([...sampleIndex({ lines: LINES })])
      .toString()
      .split("\n")
      .filter((line) => line !== "");
    const third = Math.ceil(lines.length / 3);
    for (let i = 0; i < 3; i++) {
      const text = lines.slice(i * third, (i + 1) * third).join("\n");
      writeFileSync(join(inputs, `part-${i}.cdxj.gz`), gzipSync(text, { level: 1 }));
    }
    const cluster = zipNum(lines, 3000, "index.cdx.gz");
    mkdirSync(join(inputs, "cluster"));
    writeFileSync(join(inputs, "cluster", "index.idx"), cluster.index);
    writeFileSync(join(inputs, "cluster", "index.cdx.gz"), cluster.data);
    const wacz = zipFile([
      { name: "indexes/index.idx", data: Buffer.from(cluster.waczIndex) },
      { name: "indexes/index.cdx.gz", data: cluster.data },
    ]);
    writeFileSync(join(inputs, "crawl.wacz"), wacz);
    await generate(1, parts(), "one.ukvs");
    expected = readFileSync(join(folder, "one.ukvs"));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const parts = (): string[] => [0, 1, 2].map((i) => join(inputs, `part-${i}.cdxj.gz`));

  function generate(threads: number, paths: readonly string[], target: string) {
    const options = ["-q", "--threads", String(threads), "--tmp", scratch, "--memory", "200m"];
    return spawnCli(["generate", ...options, ...paths, "-o", join(folder, target)]).done;
  }

  it.each([
    ["several compressed files", parts],
    ["a ZipNum cluster", () => [join(inputs, "cluster")]],
    ["a WACZ file", () => [join(inputs, "crawl.wacz")]],
  ])("give the same rows on two threads as on one: %s", async (_name, paths) => {
    const result = await generate(2, paths(), "two.ukvs");
    expect(result).toMatchObject({ code: 0, stderr: "" });
    const rows = (map: Buffer): Buffer => map.subarray(map.indexOf("\n", map.indexOf("!meta")));
    expect(rows(readFileSync(join(folder, "two.ukvs"))).equals(rows(expected))).toBe(true);
  });

  it("say what is wrong with one of them, and leave nothing behind", async () => {
    const whole = readFileSync(join(inputs, "part-1.cdxj.gz"));
    const path = join(inputs, "cut.cdxj.gz");
    writeFileSync(path, whole.subarray(0, whole.length >> 1));
    const result = await generate(2, [...parts(), path], "bad.ukvs");
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(
      /cut\.cdxj\.gz: the compressed data is truncated.*\[MM_BAD_INPUT\]/,
    );
    expect(readdirSync(scratch)).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.includes("bad"))).toEqual([]);
  });

  it("are let go of when the user wants to stop", async () => {
    const options = ["-q", "--threads", "2", "--tmp", scratch, "-o", join(folder, "stopped.ukvs")];
    const many = Array.from({ length: 8 }, (_, i) =>
      parts().map((part) => {
        const copy = join(folder, `${i}-${basename(part)}`);
        copyFileSync(part, copy);
        return copy;
      }),
    ).flat();
    const { child, done } = spawnCli(["generate", ...options, ...many]);
    await until(() => readdirSync(scratch).length > 0);
    child.kill("SIGINT");
    expect(await done).toMatchObject({ code: 130, stdout: "" });
    expect(readdirSync(scratch)).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.includes("stopped"))).toEqual([]);
  });
});
