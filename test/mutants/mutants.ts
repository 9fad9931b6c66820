// Applies the mutants in mutants.txt to src one at a time, and reports those that survive the tests. Files are restored.
//
//   npm run mutants               all of them: first the tests of the room, then all tests
//   npm run mutants -- surt-www   some of them
//   npm run mutants -- --check    check that the text of each occurs once in its file
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Mutant {
  readonly id: string;
  readonly file: string;
  readonly what: string;
  readonly from: string;
  readonly to: string;
}

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const lines = readFileSync("test/mutants/mutants.txt", "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));
const mutants: Mutant[] = [];
for (let i = 0; i < lines.length; i += 3) {
  const [id = "", file = "", ...what] = (lines[i] ?? "").split(" ");
  const [from = "", to = ""] = lines
    .slice(i + 1, i + 3)
    .map((line) => line.slice(2).replaceAll("\\n", "\n"));
  mutants.push({ id, file, what: what.join(" "), from, to });
}

/** The test folders to run: first that of the file, then all. */
function roomsOf(file: string): string[][] {
  const folder = file.replace(/^src/, "test").replace(/\/[^/]*$/, "");
  return existsSync(folder) ? [[`${folder}/`], []] : [[]];
}

/** Whether any test fails whose path contains one of the words. */
function isNoticed(words: readonly string[]): boolean {
  const run = ["vitest", "run", "--project", "test", "--bail", "1", "--reporter", "dot", ...words];
  const { status } = spawnSync("npx", run, { stdio: "ignore", timeout: 900_000 });
  return status !== 0;
}

const args = process.argv.slice(2);
const isCheck = args.includes("--check");
const ids = args.filter((arg) => !arg.startsWith("--"));
const stale: string[] = [];
const survivors: string[] = [];
for (const { id, file, what, from, to } of mutants) {
  if (ids.length > 0 && !ids.includes(id)) continue;
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (text.split(from).length !== 2) {
    stale.push(id);
    say(`${id}: its text does not occur exactly once in ${file}`);
    continue;
  }
  if (isCheck) continue;
  try {
    writeFileSync(
      file,
      text.replace(from, () => to),
    );
    const isKilled = roomsOf(file).some(isNoticed);
    if (!isKilled) survivors.push(id);
    say(`${isKilled ? "killed  " : "SURVIVES"} ${id}: ${what}`);
  } finally {
    writeFileSync(file, text);
  }
}
say(`${mutants.length} mutants, ${survivors.length} survive, ${stale.length} stale`);
process.exitCode = survivors.length + stale.length === 0 ? 0 : 1;
