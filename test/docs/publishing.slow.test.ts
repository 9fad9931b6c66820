import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";
import { spawnCli } from "../support/spawn-cli.ts";

const run = promisify(execFile);
const MAP = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
!id {"uri":"https://archive.example.org/"}
org,example)/ 12
`;

const examples = codeBlocks("docs/publishing.md").filter(({ language }) => language === "ts");

it.each(examples)(
  "line $line of docs/publishing.md runs and prints what is shown",
  async (example) => {
    const folder = scratchDir();
    await mkdir(join(folder, "node_modules"));
    await symlink(ROOT, join(folder, "node_modules", "mementomap"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "map.ukvs"), MAP);
    const file = join(folder, "example.ts");
    await writeFile(file, example.text);
    const tsx = join(ROOT, "node_modules", "tsx", "dist", "cli.mjs");
    const { stdout } = await run(process.execPath, [tsx, file], { cwd: folder });
    expect(stdout).toBe(example.output);
  },
);

/** Starts `mementomap serve …` as a document has it, on a free port; the end of the test is its end. */
async function served(command: string, cwd: string): Promise<string> {
  const [, ...argv] = command.replace(/ --port \d+/, "").split(" ");
  const { child, done } = spawnCli([...argv, "--port", "0", "--json"], cwd);
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    void done.then((result) => reject(new Error(result.stderr)));
  });
  return (JSON.parse(line) as { url: string }).url;
}

describe.skipIf(process.platform === "win32")("the commands of docs/publishing.md", () => {
  const commands = codeBlocks("docs/publishing.md")
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.replaceAll("\\\n", " ").trim().split("\n"));

  it("work as they stand, one after the other", { timeout: 120_000 }, async () => {
    const folder = scratchDir();
    const shim = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli/bin.js" "$@"\n`;
    writeFileSync(join(folder, "mementomap"), shim, { mode: 0o755 });
    const held = 'org,example)/ 20200101000000 {"url":"https://example.org/"}\n';
    const index = Buffer.concat([...sampleIndex({ lines: 500 }), Buffer.from(held)]);
    await mkdir(join(folder, "index"));
    writeFileSync(join(folder, "index", "a.cdxj.gz"), gzipSync(index));
    await mkdir(join(folder, "collections", "web", "indexes"), { recursive: true });
    writeFileSync(join(folder, "collections", "web", "indexes", "index.cdxj"), index);
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    let url = "";
    const statuses: number[] = [];
    let found = "";
    for (const command of commands) {
      if (command.startsWith("mementomap serve ")) {
        url = await served(command, folder);
        statuses.push((await fetch(`${url}/.well-known/mementomap`)).status);
        continue;
      }
      // The archive of the examples is the server that runs.
      const local = command.replace("fetch https://archive.example.org/", `fetch ${url}/`);
      ({ stdout: found } = await run("sh", ["-e", "-c", local], { cwd: folder, env }));
    }
    expect(statuses).toEqual([200, 200, 200, 200]);
    // The last command is a lookup.
    expect(found).toContain("https://example.org/\tpresent");
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(["map.ukvs", "map.packed", "site", "archive.ukvs"]),
    );
  });
});
