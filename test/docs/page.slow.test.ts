import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";

const run = promisify(execFile);

describe.skipIf(process.platform === "win32")("docs/page.md", () => {
  it("has commands that make a folder of files", async () => {
    const folder = scratchDir();
    const shim = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli/bin.js" "$@"\n`;
    writeFileSync(join(folder, "mementomap"), shim, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    const [block] = codeBlocks("docs/page.md").filter(({ language }) => language === "sh");
    await run("sh", ["-e", "-c", block?.text ?? "false"], { cwd: folder, env });
    expect(existsSync(join(folder, "site", "index.html"))).toBe(true);
    expect(existsSync(join(folder, "site", "page", "elements.js"))).toBe(true);
  });

  it("has pictures that are there, together below 1.5 MB", () => {
    const text = readFileSync(`${ROOT}docs/page.md`, "utf8");
    const pictures = Array.from(text.matchAll(/\]\((pictures\/[^)]+)\)/g), ([, path = ""]) => path);
    expect(pictures.length).toBeGreaterThanOrEqual(7);
    const sizes = pictures.map((path) => statSync(`${ROOT}docs/${path}`).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_500_000);
  });
});
