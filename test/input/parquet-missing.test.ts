import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

vi.mock("hyparquet", () => {
  throw new Error("Cannot find package 'hyparquet'");
});

it("says what to install to read Parquet, where it is not", async () => {
  const path = join(scratchDir(), "a.parquet");
  writeFileSync(path, "PAR1 and more PAR1");
  const result = await runCli(["generate", "--threads", "1", path]);
  expect(result).toMatchObject({ code: 2, stdout: "" });
  expect(result.stderr).toMatch(/npm install hyparquet hyparquet-compressors \[MM_USAGE\]/);
});
