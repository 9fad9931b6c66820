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

/** Runs a command; tells whether it loaded undici, and all of it. */
async function loaded(args: readonly string[]): Promise<string[]> {
  const folder = scratchDir();
  const hook = join(folder, "hook.cjs");
  const report = `process.on("exit", () => {
    const paths = Object.keys(require.cache).map((path) => path.replaceAll("\\\\", "/"));
    const found = ["undici/lib/dispatcher/pool.js", "undici/index.js"].filter((name) =>
      paths.some((path) => path.endsWith(name)));
    require("node:fs").writeSync(2, "loaded " + JSON.stringify(found) + "\\n");
  });`;
  writeFileSync(hook, report);
  const { stderr } = await run(process.execPath, ["--require", hook, BIN, ...args]);
  return JSON.parse(/^loaded (.*)$/m.exec(stderr)?.[1] ?? "null") as string[];
}

describe("the command line", () => {
  it("loads the client for HTTP only where it is used, and no more of it", async () => {
    const map = join(scratchDir(), "map.ukvs");
    writeFileSync(map, EXAMPLE_MAP);
    expect(await loaded(["--version"])).toEqual([]);
    expect(await loaded(["validate", map])).toEqual([]);
    const { url } = await scriptedServer((_request, response) => response.end(EXAMPLE_MAP));
    const copy = join(scratchDir(), "copy.ukvs");
    expect(await loaded(["fetch", url, "--direct", "-o", copy])).toEqual([
      "undici/lib/dispatcher/pool.js",
    ]);
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
