import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { EXAMPLE_MAP } from "../support/serving.ts";

const BIN = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));
const ENTRY = new URL("../../dist/node.js", import.meta.url).href;
const run = promisify(execFile);

/** Runs a command; tells whether it loaded JSON5. */
async function loadsJson5(args: readonly string[]): Promise<boolean> {
  const folder = scratchDir();
  const hook = join(folder, "hook.cjs");
  const report = `process.on("exit", () => {
    const paths = Object.keys(require.cache).map((path) => path.replaceAll("\\\\", "/"));
    const isLoaded = paths.some((path) => path.includes("node_modules/json5/"));
    require("node:fs").writeSync(2, "loaded " + isLoaded + "\\n");
  });`;
  writeFileSync(hook, report);
  const { stderr } = await run(process.execPath, ["--require", hook, BIN, ...args]);
  return /^loaded true$/m.test(stderr);
}

describe("the command line", () => {
  it("loads a package for the headers of older maps only where there are any", async () => {
    const [map, older] = ["map.ukvs", "older.ukvs"].map((name) => join(scratchDir(), name));
    writeFileSync(map, EXAMPLE_MAP);
    writeFileSync(older, "!id {uri: 'https://archive.example/'}\ncom,a)/ 1\n");
    expect(await loadsJson5(["validate", map])).toBe(false);
    expect(await loadsJson5(["validate", older])).toBe(true);
  });
});

describe("a program that uses the library", () => {
  it("ends after its last answer", async () => {
    const { url } = await scriptedServer((_request, response) => {
      // The server would keep the connection for a minute.
      response.writeHead(200, { "Keep-Alive": "timeout=60", Connection: "keep-alive" });
      response.end(EXAMPLE_MAP);
    });
    const program = `
      import { openMap } from ${JSON.stringify(ENTRY)};
      await openMap(${JSON.stringify(url)}, { inMemory: true });`;
    const began = performance.now();
    await run(process.execPath, ["--input-type=module", "--eval", program]);
    expect(performance.now() - began).toBeLessThan(9000);
  });
});
