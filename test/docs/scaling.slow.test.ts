import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";

const document = readFileSync(join(ROOT, "docs/scaling.md"), "utf8");

/** The fenced blocks of a section of the document. */
function blocksOf(title: string, language: string): string[] {
  const section = document.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? "");
}

/** As GNU parallel does, one after the other: `parallel [--halt now,fail=1] COMMAND ::: ARGUMENT...`. */
const PARALLEL = `#!/bin/bash
halt=
[ "$1" = --halt ] && { halt=1; shift 2; }
failed=0
command=()
while [ "$1" != ":::" ]; do command+=("$1"); shift; done
shift
for argument in "$@"; do
  name=\${argument##*/}
  words=("\${command[@]//\\{\\/.\\}/\${name%.*}}")
  words=("\${words[@]//\\{\\/\\}/$name}")
  "\${words[@]//\\{\\}/$argument}" || { failed=$((failed + 1)); [ -z "$halt" ] || exit 1; }
done
exit $failed
`;

/** As Slurm does for a job array, one task after the other. */
const SBATCH = `#!/bin/bash
for word in "$@"; do
  case $word in --array=1-*) last=\${word#--array=1-};; --*) ;; *) script=$word;; esac
done
for task in $(seq "$last"); do SLURM_ARRAY_TASK_ID=$task bash "$script" || exit 1; done
`;

/** Another machine, whose home is this folder. */
const SSH = `#!/bin/bash
shift
exec bash -c "$*"
`;

interface Place {
  readonly folder: string;
  readonly run: (script: string) => void;
  readonly read: (name: string) => string;
}

/** A folder with an index in two files, and stand-ins for what is not on every machine. */
function place(): Place {
  const folder = scratchDir();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const programs = {
    mementomap: `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli/bin.js" "$@"\n`,
    sbatch: SBATCH,
    ssh: SSH,
    parallel: PARALLEL,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), text, { mode: 0o755 });
  }
  mkdirSync(join(folder, "indexes"));
  const lines = Buffer.concat([...sampleIndex({ lines: 3000 })]);
  const middle = lines.indexOf("\n", lines.length / 2) + 1;
  writeFileSync(join(folder, "indexes/a.cdxj"), lines.subarray(0, middle));
  writeFileSync(join(folder, "indexes/b.cdxj"), lines.subarray(middle));
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    SOURCE_DATE_EPOCH: "1700000000",
  };
  return {
    folder,
    run(script) {
      execFileSync("bash", ["-c", script], { cwd: folder, env, stdio: "pipe" });
    },
    read: (name) => readFileSync(join(folder, name), "utf8"),
  };
}

describe.skipIf(process.platform === "win32")("the examples of docs/scaling.md", () => {
  const whole = "mementomap generate -q indexes/*.cdxj -o whole.ukvs";

  it.each(["GNU parallel", "Slurm", "ssh"])(
    "%s makes the map that one machine makes",
    { timeout: 120_000 },
    (title) => {
      const { folder, run, read } = place();
      const [extract = "", reduce = ""] = blocksOf(title, "bash");
      writeFileSync(join(folder, "extract.sh"), extract);
      writeFileSync(join(folder, "reduce.sh"), reduce);
      const [script = "exit 1"] = blocksOf(title, "sh");
      run(script);
      run(whole);
      expect(read("map.ukvs")).toBe(read("whole.ukvs"));
    },
  );

  it.each(["GNU parallel", "Slurm", "ssh"])(
    "%s fails where a file of the index has a bad line, and makes no map",
    { timeout: 120_000 },
    (title) => {
      const { folder, run } = place();
      const [extract = "", reduce = ""] = blocksOf(title, "bash");
      writeFileSync(join(folder, "extract.sh"), extract);
      writeFileSync(join(folder, "reduce.sh"), reduce);
      appendFileSync(join(folder, "indexes/a.cdxj"), "com,example)/ 20200101000000 broken\n");
      const [script = ""] = blocksOf(title, "sh");
      expect(() => run(script)).toThrow(/MM_BAD_LINE/);
      expect(existsSync(join(folder, "map.ukvs"))).toBe(false);
    },
  );
});
