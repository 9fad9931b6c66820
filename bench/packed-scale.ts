// What it costs to pack a large map: `npm run build && npx tsx bench/packed-scale.ts [--rows 4000000,16000000,50000000]`
//
// Makes maps of so many rows, packs each with --bits 8, to the size that pays, and to one bit a row, for which rows are
// rolled up; then asks the packed maps for every row. Fails if a row is not found, or if memory grows with the map by more than its hosts need. On a busy machine, processor time counts.
import { createWriteStream } from "node:fs";
import { open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LF, SPACE } from "../src/bytes/bytes.ts";
import { hasSurt } from "../src/lookup/map-lookup.ts";
import { PackedLookup } from "../src/lookup/packed-lookup.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes, seconds } from "./markdown-table.ts";
import { timed, type TimedRun } from "./peers/timed.ts";

const PROGRAM = fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const BLOCK_CHARACTERS = 1 << 20;
const READ_BYTES = 1 << 22;
/** Rows of the largest host, and how many hosts have at least n rows: a share of n^-EXPONENT. */
const MOST_ROWS = 1e6;
const EXPONENT = 0.75;
/** Bytes that memory may grow by for each host: their profiles. */
const HOST_BYTES = 150;
const FIXED_BYTES = 420e6;
/** And for each row, where rows are rolled up: up to 40 bytes for every roll-up, of twenty rows or more. */
const ROLL_UP_BYTES = 2;

/** Writes a map of hosts of very different sizes, in byte order. */
async function writeMap(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write('!fields {"keys":["surt"],"values":["frequency"]}\n');
  let text = "";
  let [written, host] = [0, 0];
  while (written < rows) {
    const share = (hashOf(host + 1) + 1) / 2 ** 32;
    const own = Math.min(rows - written, MOST_ROWS, Math.ceil(share ** (-1 / EXPONENT)));
    const start = `com,${letters(host)})/`;
    for (let row = 0; row < own; row++) {
      const folder = Math.floor(row / 24);
      const below = hashOf(folder) % 3 === 0 ? "/archive" : "";
      const page = hashOf(host * 31 + row).toString(36);
      text +=
        row === 0
          ? `${start} 3\n`
          : `${start}section-${digits(folder)}${below}/${digits(row)}-${page}.html ${1 + (row % 9)}\n`;
      if (text.length < BLOCK_CHARACTERS) continue;
      if (!file.write(text)) await once(file, "drain");
      text = "";
    }
    written += own;
    host++;
  }
  file.end(text);
  await once(file, "finish");
}

function hashOf(number: number): number {
  let x = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Names in the order of their numbers. */
function letters(number: number): string {
  let [name, rest] = ["", number];
  for (let i = 0; i < 6; i++) {
    name = String.fromCharCode(97 + (rest % 26)) + name;
    rest = Math.floor(rest / 26);
  }
  return name;
}

function digits(number: number): string {
  return String(number).padStart(6, "0");
}

/** Asks a packed map for every row of its map; gives the number of those that it does not find. */
async function countLost(map: string, packed: string): Promise<number> {
  const lookup = PackedLookup.of(await readFile(packed), packed);
  const file = await open(map);
  const buffer = new Uint8Array(READ_BYTES);
  let [held, lost] = [0, 0];
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, held, READ_BYTES - held);
      if (bytesRead === 0) break;
      const end = held + bytesRead;
      let at = 0;
      for (
        let feed = buffer.indexOf(LF);
        feed !== -1 && feed < end;
        feed = buffer.indexOf(LF, at)
      ) {
        const keyEnd = buffer.indexOf(SPACE, at);
        if (buffer[at] !== 0x21 && !hasSurt(lookup, buffer, at, keyEnd)) lost++;
        at = feed + 1;
      }
      buffer.copyWithin(0, at, end);
      held = end - at;
    }
  } finally {
    await file.close();
  }
  return lost;
}

function pack(map: string, target: string, ...options: string[]): Promise<TimedRun> {
  const args = ["pack", map, "-o", target, "--force", "-q", ...options];
  return timed(process.execPath, [PROGRAM, ...args]);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: "string", default: "4000000,16000000,50000000" },
      keep: { type: "boolean", default: false },
    },
  });
  const folder = await benchFolder();
  const faults: string[] = [];
  const table: string[][] = [];
  for (const rows of values.rows.split(",").map(Number)) {
    const map = await madeOnce(folder, `packed-scale-${rows}.ukvs`, (path) => writeMap(path, rows));
    const [plain, best, small] = ["plain", "best", "small"].map((name) =>
      join(folder, `packed-scale-${name}.packed`),
    );
    const runs: [string, string, TimedRun][] = [
      ["8 bits", plain, await pack(map, plain, "--bits", "8")],
      ["size that pays", best, await pack(map, best)],
      ["1 bit a row", small, await pack(map, small, "--max-bytes", String(rows / 8))],
    ];
    const { hosts } = PackedLookup.of(await readFile(plain), plain).header;
    for (const [name, target, run] of runs) {
      const { size } = await stat(target);
      const lost = await countLost(map, target);
      if (lost > 0) faults.push(`${rows} rows: ${lost} are not found`);
      const rollUps = target === small ? ROLL_UP_BYTES * rows : 0;
      if ((run.peakBytes ?? 0) > FIXED_BYTES + HOST_BYTES * hosts + rollUps) {
        faults.push(`${rows} rows: ${megabytes(run.peakBytes)} of memory`);
      }
      const cpu = run.cpuSeconds ?? Number.NaN;
      table.push([
        name,
        (rows / 1e6).toFixed(0),
        String(hosts),
        seconds(run.seconds),
        seconds(run.cpuSeconds),
        `${((cpu * 1e9) / rows).toFixed(0)} ns`,
        megabytes(run.peakBytes),
        megabytes(size),
        ((8 * size) / rows).toFixed(2),
      ]);
      console.log(table[table.length - 1].join("  "));
    }
    await Promise.all([plain, best, small].map((path) => rm(path)));
    if (!values.keep) await rm(map);
  }
  const head = ["run", "M rows", "hosts", "wall", "processor", "a row", "peak", "file"];
  console.log(`\n${machine()}\n\n${markdownTable([...head, "bits a row"], table)}`);
  for (const fault of faults) console.log(`FAIL ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

await main();
