import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { sampleLookups } from "../../src/study/sample/sample-lookups.ts";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";

const run = promisify(execFile);

describe("the README", () => {
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "mementomap-readme-"));
    await writeFile(join(folder, "index.cdxj"), Buffer.concat([...sampleIndex({ lines: 2000 })]));
    const lookups = [...sampleLookups({ lines: 2000, count: 100 })];
    await writeFile(join(folder, "urls.txt"), `${lookups.join("\n")}\n`);
    const command = join(folder, "mementomap");
    const shim = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli/bin.js" "$@"\n`;
    await writeFile(command, shim, { mode: 0o755 });
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it("has commands that work as they stand, one after the other", async () => {
    const script = codeBlocks("README.md")
      .filter(({ language }) => language === "sh")
      .map(({ text }) => text)
      .join("\n");
    expect(script).toContain("mementomap generate");
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    await run("sh", ["-e", "-c", script], { cwd: folder, env });
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(["map.ukvs", "small.ukvs", "answers.tsv"]),
    );
  });

  it("is shorter than 110 lines", async () => {
    const { stdout } = await run("wc", ["-l", `${ROOT}README.md`]);
    expect(Number.parseInt(stdout, 10)).toBeLessThan(110);
  });
});
