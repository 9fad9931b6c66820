import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as index from "../../src/index.ts";
import * as node from "../../src/node.ts";
import * as server from "../../src/server.ts";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { codeBlocksOf, ROOT } from "../support/code-blocks.ts";

const run = promisify(execFile);
const names = (entry: object): string[] => Object.keys(entry).sort();
const exported = new Set([index, node, server].flatMap(names));

/** The code of `@example` in the comment of an exported value, and what it prints. */
interface Example {
  readonly name: string;
  readonly code: string;
  readonly output: string | undefined;
}

const COMMENT =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export (?:async )?(?:function\*?|class|const) (\w+)/g;

function examples(): Example[] {
  const sources = join(ROOT, "src");
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) =>
      [...readFileSync(join(sources, file), "utf8").matchAll(COMMENT)].flatMap(
        ([, comment = "", name = ""]) => {
          const [, example] = comment.replaceAll(/^ *\* ?/gm, "").split("@example\n");
          if (example === undefined || !exported.has(name)) return [];
          return codeBlocksOf(example)
            .filter(({ language }) => language === "ts")
            .map(({ text, output }) => ({ name, code: text, output }));
        },
      ),
    );
}

describe("the entries of the package", () => {
  it("export 40 names together, at most", () => {
    expect(exported.size).toBeLessThanOrEqual(40);
  });

  it("export from mementomap/node all that mementomap exports", () => {
    expect(names(node)).toEqual(expect.arrayContaining(names(index)));
  });
});

describe("the examples in the comments of exported values", () => {
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

  it("there is one for each, which names it", () => {
    const documented = examples().flatMap(({ name, code }) => (code.includes(name) ? [name] : []));
    expect([...new Set(documented)].sort()).toEqual([...exported].sort());
  });

  const lines = Buffer.concat([...sampleIndex({ lines: 2000 })]);

  it.concurrent.each(examples().map((example, number) => ({ ...example, number })))(
    "that of $name runs and prints what is shown",
    async ({ code, output, number }) => {
      const own = join(folder, String(number));
      await mkdir(own);
      await writeFile(join(own, "index.cdxj"), lines);
      const compiled = await transform(code, { loader: "ts", target: "node20" });
      await writeFile(join(own, "example.js"), compiled.code);
      const { stdout } = await run(process.execPath, ["example.js"], { cwd: own });
      expect(stdout).toBe(output);
    },
  );
});
