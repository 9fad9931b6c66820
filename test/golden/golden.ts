// Compares the external behaviour of commands, lookups and services with that at 2a991ff: statuses, output, files.
//
//   npm run golden                              compare this build with recorded.txt
//   npm run golden -- --quick                   commands only, without the largest map
//   npm run golden -- --only compact            only records with a word in their names
//   npm run golden -- --only compact --accept "reason"   record the differences, and the reason in changes.txt
//   npm run golden -- --record DIR              record everything from another build, such as 2a991ff
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { doors } from "./doors.ts";
import { digest, writeInputs } from "./inputs.ts";
import { services } from "./services.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = join(HERE, "../..");

/** Masks numbers in JSON that differ from run to run. */
const plain = (text: string): string =>
  text.replaceAll(/"(seconds|cpuSeconds|peakMemoryBytes|memory|rate)":[\d.e-]+/g, '"$1":0');

function output(text: string): string {
  return text.length > 300
    ? `${text.split("\n").length - 1} lines ${digest(text)}`
    : JSON.stringify(text);
}

/** Error codes and line numbers; the wording of messages may change. */
function faults(text: string): string {
  return [...text.matchAll(/\bMM_\w+|\b[\w.-]+\.\w+:\d+\b|\[[a-z-]+\]/g)]
    .map(([found]) => found)
    .join(" ");
}

/** A text map: what its rows are, and its headers apart, which have versions in them. */
function map(name: string, bytes: Buffer): [string, string][] {
  const rows: string[] = [];
  const headers: string[] = [];
  for (const line of bytes.toString("latin1").split("\n"))
    (line.startsWith("!") ? headers : rows).push(line);
  const sorted = headers.map((line) => plain(line)).sort();
  return [
    [`rows of ${name}`, `${rows.length - 1} rows ${digest(rows.join("\n"))}`],
    [`headers of ${name}`, digest(sorted.join("\n"))],
  ];
}

function commands(build: string, folder: string): [string, string][] {
  const records: [string, string][] = [];
  const seen = new Map<string, string>();
  const files = (): string[] => readdirSync(folder, { recursive: true }).map(String).sort();
  for (const name of files()) seen.set(name, "input");
  const env = {
    PATH: process.env["PATH"],
    SOURCE_DATE_EPOCH: "1700000000",
    TZ: "UTC",
    HOME: folder,
  };
  for (const line of readFileSync(join(HERE, "commands.txt"), "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const names = readdirSync(folder);
    const words = line.split(" ").flatMap((word) => {
      if (!word.includes("real-*")) return [word];
      return names.filter(
        (name) => name.startsWith("real-") && name.endsWith(word.slice(word.indexOf("*") + 1)),
      );
    });
    if (values.quick === true && line.includes("eot")) continue;
    const real = words.find((word) => /^(real|eot)[\w.-]*\.(cdxj?|txt|ukvs|packed|gz)$/.test(word));
    if (real !== undefined && (!names.includes("eot.ukvs") || !names.includes("real-held.txt")))
      continue;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(build, "dist/cli/bin.js"), ...words],
      { cwd: folder, env, maxBuffer: 2 ** 29, encoding: "utf8" },
    );
    records.push([
      line,
      `${status} ${words[0] === "validate" ? faults(stdout) : output(plain(stdout))} ${faults(stderr)}`.trimEnd(),
    ]);
    for (const name of files()) {
      if (!statSync(join(folder, name)).isFile()) continue;
      const bytes = readFileSync(join(folder, name));
      const now = digest(bytes);
      if (seen.get(name) === now || seen.get(name) === "input") continue;
      seen.set(name, now);
      if (name.endsWith(".ukvs")) records.push(...map(name, bytes));
      else if (/\.(packed|run)$/.test(name)) records.push([`made ${name}`, "made"]);
      else records.push([`made ${name}`, digest(plain(bytes.toString()))]);
    }
  }
  return records;
}

async function record(build: string): Promise<Map<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  writeInputs(folder);
  const records = new Map(commands(build, folder));
  if (values.quick !== true) {
    for (const [name, value] of await doors(build, folder)) records.set(name, value);
    for (const [name, value] of await services(build, folder)) records.set(name, value);
  }
  rmSync(folder, { recursive: true });
  return records;
}

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    accept: { type: "string" },
    record: { type: "string" },
    quick: { type: "boolean" },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const recorded = join(HERE, "recorded.txt");
const write = (records: ReadonlyMap<string, string>): void =>
  writeFileSync(recorded, [...records].map(([name, value]) => `${name}\t${value}\n`).join(""));

if (values.record === undefined) {
  const lines = readFileSync(recorded, "utf8").split("\n").slice(0, -1);
  const then = new Map(
    lines.map((line) => [line.slice(0, line.indexOf("\t")), line.slice(line.indexOf("\t") + 1)]),
  );
  const now = await record(ROOT);
  let differing = 0;
  const accepted: string[] = [];
  for (const name of new Set([...then.keys(), ...now.keys()])) {
    const value = now.get(name);
    const absent = value === undefined && (values.quick === true || /\b(real|eot)/.test(name));
    if (value === then.get(name) || absent || !name.includes(values.only ?? "")) continue;
    differing += 1;
    say(`  ${name}\n- ${then.get(name) ?? "(not recorded)"}\n+ ${value ?? "(nothing)"}`);
    if (values.accept === undefined) continue;
    if (value === undefined) then.delete(name);
    else then.set(name, value);
    accepted.push(name);
  }
  if (values.accept !== undefined) {
    write(then);
    const names = accepted.map((name) => `  ${name}\n`).join("");
    appendFileSync(join(HERE, "changes.txt"), `${values.accept}\n${names}`);
  }
  say(`${now.size} records, ${differing} ${values.accept === undefined ? "differ" : "accepted"}`);
  process.exitCode = differing === 0 || values.accept !== undefined ? 0 : 1;
} else {
  write(await record(values.record));
}
