import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { AGGREGATE_OPTIONS } from "../../src/cli/common/aggregate-options.ts";
import type { OptionTable } from "../../src/cli/common/command-line.ts";
import { environmentSettings, fileSettings } from "../../src/cli/common/command-line.ts";
import { packageVersion } from "../../src/files/package-file.ts";
import { plainArchive } from "../support/aggregating.ts";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";

const run = promisify(execFile);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.skipIf(process.platform === "win32")("docs/aggregating.md", () => {
  it("has commands that work as they stand, one after the other", async () => {
    const folder = scratchDir();
    const shim = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli/bin.js" "$@"\n`;
    writeFileSync(join(folder, "mementomap"), shim, { mode: 0o755 });
    const archives = [await plainArchive("ia", ["20150101000000"]), await plainArchive("loc", [])];
    writeFileSync(
      join(folder, "archives.json"),
      JSON.stringify(archives.map(({ archive }) => archive)),
    );
    writeFileSync(
      join(folder, "memgator.log"),
      "INFO: 2016/06/09 12:00:00.123456 Aggregating Mementos for http://example.org/a\n" +
        "INFO: 2016/06/09 12:00:01.123456 ia => Success: 42 mementos\n",
    );
    const port = await freePort();
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    const blocks = codeBlocks("docs/aggregating.md").filter(({ language }) => language === "sh");
    const script = blocks
      .map(({ text }) =>
        text.replaceAll("1208", String(port)).replace("--serve", `--serve --port ${port}`),
      )
      .join("\n");
    const { stdout } = await run("sh", ["-e", "-c", script], { cwd: folder, env });
    expect(stdout.match(/^<http:\/\/example\.org\/>; rel="original",$/gm)).toHaveLength(3);
    expect(stdout).toContain('"closest": {');
    expect(stdout).toContain('"reason": "no-map"');
    expect(stdout).toContain("## Upstream Archives");
  });

  it("tells of every option of MemGator", () => {
    const text = readFileSync(`${ROOT}docs/aggregating.md`, "utf8");
    const options = "A a b c D d F f H k l m P p R r S T t V";
    for (const option of options.split(" "))
      expect(text).toMatch(new RegExp(`\\| .*\`-${option}\``));
  });
});

describe("deploy/", () => {
  it("has settings that exist", () => {
    const { values } = fileSettings(AGGREGATE_OPTIONS, `${ROOT}deploy/aggregator.example.json`);
    const options: OptionTable = AGGREGATE_OPTIONS;
    for (const [name, [text = ""]] of values) {
      const option = options[name];
      expect(() => option.value !== undefined && option.parse?.(text)).not.toThrow();
    }
    expect(values.size).toBeGreaterThan(5);
  });

  it("builds the program from what the Dockerfile copies", { timeout: 300_000 }, async () => {
    const copied = readFileSync(`${ROOT}deploy/Dockerfile`, "utf8")
      .split("\nFROM ")[1]
      .split("\n")
      .flatMap((line) => (line.startsWith("COPY ") ? line.split(" ").slice(1, -1) : []));
    const folder = scratchDir();
    for (const name of copied) cpSync(`${ROOT}${name}`, join(folder, name), { recursive: true });
    symlinkSync(`${ROOT}node_modules`, join(folder, "node_modules"), "dir");
    await run("npm", ["run", "--silent", "build"], { cwd: folder });
    const { stdout } = await run(process.execPath, [join(folder, "dist/cli/bin.js"), "--version"]);
    expect(stdout).toContain(packageVersion());
  });

  it.each(["Dockerfile", "mementomap-aggregate.service"])(
    "has variables that exist, in %s",
    (file) => {
      const text = readFileSync(`${ROOT}deploy/${file}`, "utf8");
      const named = [...text.matchAll(/^(?:ENV |Environment=|\s+)(MEMENTOMAP_\w+)=(\S+)/gm)];
      const env = Object.fromEntries(named.map(([, name = "", value = ""]) => [name, value]));
      const known = environmentSettings(AGGREGATE_OPTIONS, env).values.size;
      expect(named.length).toBeGreaterThan(1);
      expect(known).toBe(named.filter(([, name]) => name !== "MEMENTOMAP_CONFIG").length);
    },
  );
});
