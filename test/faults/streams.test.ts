import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { type Inputs, makeInputs } from "./jobs.ts";
import { shell } from "./process.ts";

let inputs: Inputs;

beforeAll(async () => {
  inputs = await makeInputs(20_000);
});

afterAll(() => inputs.close());

/** Every command that prints; some more than a pipe holds. */
const PRINTING = [
  "generate -q $INDEX",
  "compact -q --host-weight inf --path-weight inf $MAP",
  "compact -q --relative-cost 50% $MAP",
  "merge -q $MAP $OTHER",
  "diff $MAP $OTHER",
  "analyze -q $INDEX",
  "sample -q --lines 20000",
  "lookup $MAP --batch $MISSES",
  "lookup $MAP http://example.com/",
  "validate $MAP",
  "fit $MAP",
  "evaluate --truth $MAP --lookups $MISSES $OTHER",
  "surt http://example.com/",
  "completion bash",
  "--help",
  "generate --help",
  "--version",
];

function env(): Record<string, string> {
  const { index: INDEX, map: MAP, otherMap: OTHER, misses: MISSES } = inputs;
  return { INDEX, MAP, OTHER, MISSES };
}

describe.skipIf(process.platform === "win32")("standard streams", () => {
  it.each(PRINTING)("ends quietly when nobody reads any more: %s", async (line) => {
    const script = `mementomap ${line} </dev/null | head -c 1 >/dev/null; exit \${PIPESTATUS[0]}`;
    const { code, stderr } = await shell(script, { env: env() });
    // The answer of a lookup or a comparison may be "no".
    expect([0, 1]).toContain(code);
    expect(stderr).not.toMatch(/should not have happened|at file:|EPIPE/);
  });

  // A map without a fault has nothing printed about it.
  const ALWAYS = PRINTING.filter((line) => !line.startsWith("validate"));

  it.skipIf(!existsSync("/dev/full")).each(ALWAYS)(
    "says that what it prints could not be written: %s",
    async (line) => {
      const { code, stderr } = await shell(`mementomap ${line} </dev/null >/dev/full`, {
        env: env(),
      });
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/mementomap: stdout: no space left [^\n]*\[MM_IO\]\n$/),
      });
    },
  );

  it.each(["2>&-", "<&-", ">&- 2>&-", "2>/dev/full"])("works with %s", async (closed) => {
    const target = join(scratchDir(), "map.ukvs");
    const line = `mementomap generate $INDEX -o '${target}' ${closed}`;
    expect(await shell(line, { env: env() })).toMatchObject({ code: 0 });
    const failing = await shell(`mementomap generate none.cdxj -o '${target}' ${closed}`);
    expect(failing.code).toBe(2);
    expect(existsSync(target)).toBe(true);
  });

  it("reads nothing from a standard input that is closed", async () => {
    const ended = await shell("mementomap surt <&-");
    expect(ended).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });
});
