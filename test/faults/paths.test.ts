import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { type Inputs, makeInputs } from "./jobs.ts";
import { run, start } from "./process.ts";

let inputs: Inputs;

beforeAll(async () => {
  inputs = await makeInputs(20_000);
});

afterAll(() => inputs.close());

const isRoot = process.getuid?.() === 0;
/** Nobody's, so that rights count; root may do everything. */
const NOBODY = isRoot
  ? `exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0" "$@"`
  : undefined;

/** Commands that write to OUT; none gets as far as the server it names. */
const WRITING = [
  "generate -q INDEX -o OUT",
  "generate -q INDEX -o OUT.gz",
  "compact -q MAP -o OUT",
  "merge -q MAP MAP -o OUT",
  "split -q --pages 2 MAP -o OUT",
  "page -q MAP -o OUT",
  "sample -q -o OUT",
  "analyze -q INDEX --html OUT",
  "harvest -q http://127.0.0.1:1/ --url a -o OUT",
  "aggregate --serve --port 0 -a LIST --log OUT",
  "aggregate --serve --port 0 -a LIST --state OUT",
];

function words(line: string, out: string): string[] {
  const list = join(inputs.folder, "list.json");
  const archive = { id: "a", timemap: "http://127.0.0.1:1/m/", timegate: "http://127.0.0.1:1/g/" };
  writeFileSync(list, JSON.stringify([archive]));
  const known: Record<string, string> = {
    INDEX: inputs.index,
    MAP: inputs.map,
    LIST: list,
    OUT: out,
  };
  return line.split(" ").map((word) => word.replace(/^[A-Z]+/, (name) => known[name] ?? name));
}

/** One line that names the file and what to do. */
const PLAIN = /^mementomap: [^\n]*: [^\n]+; [^\n]+ \[MM_IO\]\n$/;

describe.skipIf(process.platform === "win32")("where nothing can be written", () => {
  it.each(WRITING)("a folder without rights: %s", async (line) => {
    const folder = scratchDir();
    chmodSync(inputs.folder, 0o755);
    chmodSync(folder, 0o555);
    const ended = await run(words(line, join(folder, "out")), { under: NOBODY });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(PLAIN) });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(WRITING)("a part of the path is a file: %s", async (line) => {
    const path = join(scratchDir(), "file");
    writeFileSync(path, "x");
    const ended = await run(words(line, join(path, "out")));
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(PLAIN) });
    expect(readFileSync(path, "utf8")).toBe("x");
  });

  it.each(WRITING)("a name that is too long: %s", async (line) => {
    const folder = scratchDir();
    const ended = await run(words(line, join(folder, "x".repeat(256))));
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("too long") });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(WRITING.filter((line) => !/split|page|--state/.test(line)))(
    "the output is a folder: %s",
    async (line) => {
      const folder = scratchDir();
      mkdirSync(join(folder, "out.gz"));
      mkdirSync(join(folder, "out"));
      const ended = await run(words(line, join(folder, "out")));
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("is a directory") });
      expect(readdirSync(folder)).toEqual(["out", "out.gz"]);
    },
  );

  it.each([
    "generate -q INDEX -o OUT",
    "compact -q MAP -o OUT",
    "analyze -q INDEX --html OUT",
    "serve MAP --port 0",
  ])("no folder for scratch files: %s", async (line) => {
    const folder = scratchDir();
    const ended = await run(words(line, join(folder, "out")), {
      env: { TMPDIR: join(folder, "none") },
    });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(PLAIN) });
    expect(ended.stderr).toContain(join(folder, "none"));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("the folder of the output goes while it is written", async () => {
    const folder = join(scratchDir(), "gone");
    mkdirSync(folder);
    const argv = ["sample", "-q", "--lines", "300000", "-o", join(folder, "out")];
    const { ended } = start(argv);
    await until(() => readdirSync(folder).length > 0);
    rmSync(folder, { recursive: true });
    expect(await ended).toMatchObject({ code: 2, stderr: expect.stringMatching(PLAIN) });
  });

  it("a file that may not be read is named", async () => {
    const path = join(scratchDir(), "secret.cdxj");
    cpSync(inputs.small.index, path);
    chmodSync(path, 0o000);
    chmodSync(join(path, ".."), 0o755);
    const ended = await run(["generate", "-q", path], { under: NOBODY });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(path) });
  });
});
