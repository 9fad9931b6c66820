import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";

const run = promisify(execFile);

describe.skipIf(process.platform === "win32")("docs/routing.md", () => {
  it("has commands that print what it says, one after the other", async () => {
    const folder = scratchDir();
    const shim = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli/bin.js" "$@"\n`;
    writeFileSync(join(folder, "mementomap"), shim, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    const blocks = codeBlocks("docs/routing.md").filter(({ language }) => language === "sh");
    expect(blocks.length).toBeGreaterThan(2);
    for (const { text, output } of blocks) {
      const { stdout, stderr } = await run("sh", ["-e", "-c", text], { cwd: folder, env });
      expect({ stdout, stderr }).toEqual({ stdout: output, stderr: "" });
    }
  });
});
