import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";

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
