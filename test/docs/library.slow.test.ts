import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";

const run = promisify(execFile);

describe("the examples of docs/library.md", () => {
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "mementomap-docs-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(ROOT, join(folder, "node_modules", "mementomap"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "index.cdxj"), Buffer.concat([...sampleIndex({ lines: 2000 })]));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  const examples = codeBlocks("docs/library.md").filter(({ language }) => language === "ts");

  it("are there", () => {
    expect(examples.length).toBeGreaterThan(2);
  });

  it.each(examples)("line $line runs and prints what is shown", async ({ text, output, line }) => {
    const file = join(folder, `example-${line}.ts`);
    await writeFile(file, text);
    const tsx = join(ROOT, "node_modules", "tsx", "dist", "cli.mjs");
    const { stdout } = await run(process.execPath, [tsx, file], { cwd: folder });
    expect(stdout).toBe(output);
  });
});
