import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiDocs, exportedValues } from "../../scripts/api-docs.ts";
import * as index from "../../src/index.ts";
import * as node from "../../src/node.ts";
import * as server from "../../src/server.ts";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";

const run = promisify(execFile);
const names = (entry: object): string[] => Object.keys(entry).sort();

describe("the entries of the package", () => {
  it("export 40 names together, at most", () => {
    const all = new Set([index, node, server].flatMap(names));
    expect(all.size).toBeLessThanOrEqual(40);
  });

  it("export from mementomap/node all that mementomap exports", () => {
    expect(names(node)).toEqual(expect.arrayContaining(names(index)));
  });
});

describe("docs/api.md", () => {
  it("is what the comments say (write it with `npm run docs`)", () => {
    expect(readFileSync(join(ROOT, "docs/api.md"), "utf8")).toBe(apiDocs());
  });

  it("has a section with an example for each export", () => {
    const listed = new Set([...exportedValues().values()].flat());
    expect([...listed].sort()).toEqual([...new Set([index, node, server].flatMap(names))].sort());
    const text = apiDocs();
    const without = [...listed].filter((name) => {
      const section = text.split(`\n### ${name}\n`)[1]?.split("\n### ")[0] ?? "";
      const [, example = ""] = /^```ts\n([\s\S]*?)^```\n```\n/m.exec(section) ?? [];
      return !example.includes(name);
    });
    expect(without).toEqual([]);
  });

  describe("its examples", () => {
    let folder = "";

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "mementomap-api-"));
      await mkdir(join(folder, "node_modules"));
      await symlink(ROOT, join(folder, "node_modules", "mementomap"));
      await writeFile(join(folder, "package.json"), '{"type":"module"}');
    });

    afterAll(async () => {
      await rm(folder, { recursive: true });
    });

    const examples = codeBlocks("docs/api.md").filter(({ language }) => language === "ts");
    const index = Buffer.concat([...sampleIndex({ lines: 2000 })]);

    it.concurrent.each(examples)("line $line runs and prints what is shown", async (example) => {
      const own = join(folder, String(example.line));
      await mkdir(own);
      await writeFile(join(own, "index.cdxj"), index);
      const { code } = await transform(example.text, { loader: "ts", target: "node20" });
      await writeFile(join(own, "example.js"), code);
      const { stdout } = await run(process.execPath, ["example.js"], { cwd: own });
      expect(stdout).toBe(example.output);
    });
  });
});
