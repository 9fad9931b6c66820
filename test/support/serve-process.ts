import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { scratchDir } from "./scratch.ts";
import { EXAMPLE_MAP } from "./serving.ts";
import { spawnCli } from "./spawn-cli.ts";

/** Starts `mementomap serve` with the example map on a free port until the test ends. */
export async function startServe(
  argv: readonly string[],
): Promise<{ readonly url: string; readonly metrics: string | undefined }> {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, EXAMPLE_MAP);
  const { child, done } = spawnCli(["serve", path, "--port", "0", "--json", ...argv]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    void done.then((result) => reject(new Error(result.stderr)));
  });
  return JSON.parse(line) as { url: string; metrics: string | undefined };
}
