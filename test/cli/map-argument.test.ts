import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

function fileOf(content: string): string {
  const path = join(scratchDir(), "file");
  writeFileSync(path, content);
  return path;
}

describe("a file that is named as a map", () => {
  it("comes before the URIs", async () => {
    const { code, stderr } = await runCli(["lookup", "https://a.com/", fileOf("com,a)/ 1\n")]);
    expect(code).toBe(2);
    expect(stderr).toContain('the first argument must be a map file, not "https://a.com/"');
  });
});
