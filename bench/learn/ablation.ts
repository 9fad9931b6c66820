/**
 * Takes the learner apart, mechanism by mechanism: what each is worth in requests saved.
 *
 *     npx tsx bench/learn/ablation.ts [SEEDS] [NAME...]
 *
 * Each variant is a copy of the sources in which a few words are replaced. A variant whose words are no longer
 * there is an error.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { markdownTable } from "../markdown-table.ts";
import type { WorldResult } from "./run-world.ts";
import { type SetName, SETS, worldFile } from "./worlds.ts";

/** Savings are compared where as many hits are kept: between the promises 0.95 and 0.98. */
const AT_RECALL = 0.965;
const RECALLS = [0.95, 0.98];

type Patch = readonly [file: string, words: string, instead: string];

const VARIANTS: Readonly<Record<string, readonly Patch[]>> = {
  "the learner as it is": [],
  "no floor for archives": [["policy.ts", "const FLOOR = 0.7", "const FLOOR = 0"]],
  "all that the promise allows": [["policy.ts", "const USED = 0.9", "const USED = 1"]],
  "explore evenly": [
    ["policy.ts", "seen.data[cell] * Math.sqrt(rates[cell])", "seen.data[cell]"],
    ["policy.ts", "rates[cell] ** 1.5", "rates[cell]"],
    ["policy.ts", "scale * Math.sqrt(rates[cell])", "scale"],
  ],
  "rates of archives together": [
    ["policy.ts", "(hits[cell] + POOLED_HITS) / (answered[cell] + POOLED_HITS / rate)", "rate"],
    ["policy.ts", "? found / expected : 1", "? 1 : 1"],
  ],
  "no factor of an archive": [["policy.ts", "? found / expected : 1", "? 1 : 1"]],
  "no pooling of classes": [
    ["policy.ts", "if (last.hits * pool.asked < pool.hits * last.asked) break;", "break;"],
  ],
  "no requests to learn": [["learner.ts", "if (marginal === 0) return false;", "return false;"]],
  "no requests to learn of the same original": [
    [
      "learner.ts",
      "if (this.known(archive) === KNOWN.nothing && rate * (1 + repeats) >= marginal) return true;",
      "",
    ],
  ],
  "no logistic correction": [
    [
      "model.ts",
      "const SHARED_RATE = 0.05;\nconst OWN_RATE = 0.02;",
      "const SHARED_RATE = 0;\nconst OWN_RATE = 0;",
    ],
  ],
  "no weights of an archive": [["model.ts", "const OWN_RATE = 0.02;", "const OWN_RATE = 0;"]],
  "no weights of cells": [
    ["model.ts", "this.#step(archive, CELL_BIAS + this.#cells[archive], error);", ""],
  ],
  "no weights of shapes": [["model.ts", "this.#step(archive, SHAPE_BIAS + shape, error);", ""]],
  "no answers for the original": [
    ["model.ts", "const state = facts.answer < 0 ?", "const state = facts.answer < 1e9 ?"],
  ],
  "no prefixes of queries": [["prefixes.ts", "query < MAX_LENGTH &&", "query < 0 &&"]],
};

async function main(): Promise<void> {
  const [count = "2", ...names] = process.argv.slice(2);
  const seeds = Array.from({ length: Number(count) }, (_, i) => i + 1);
  for (const set of SETS) for (const seed of seeds) await worldFile(set, seed);
  const chosen = Object.entries(VARIANTS).filter(
    ([name], i) => i === 0 || names.length === 0 || names.some((each) => name.includes(each)),
  );
  const waiting = [...chosen.entries()];
  const results: (readonly WorldResult[])[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, [name, patches]] = next;
      results[place] = await run(name, patches, seeds);
    }
  };
  await Promise.all([work(), work()]);
  const rows = chosen.map(([name], place) => {
    const lost = SETS.map((set) => {
      const points = savings(results[place], set) - (place === 0 ? 0 : savings(results[0], set));
      return (place > 0 && points > 0 ? "+" : "") + (100 * points).toFixed(1);
    });
    return [name, ...lost, ...promises(results[place])];
  });
  console.log(
    markdownTable(
      ["", ...SETS, "worst shortfall", "lowest in 5,000", "mean over archives", "µs a lookup"],
      rows,
    ),
  );
}

/** Requests saved at the same recall, over seeds. */
function savings(results: readonly WorldResult[], set: SetName): number {
  const own = results.filter(({ run }) => run.startsWith(`${set}:`));
  let sum = 0;
  for (let i = 0; i < own.length; i += 2) {
    const [low, high] = [own[i], own[i + 1]];
    const part = (AT_RECALL - low.recall) / (high.recall - low.recall);
    sum += low.spared + part * (high.spared - low.spared);
  }
  return sum / (own.length / 2);
}

/** How far the promise was missed over a run, and figures at 0.95. */
function promises(results: readonly WorldResult[]): string[] {
  const shortfalls = results.map(({ run, coldRecall }) => Number(run.split(":")[2]) - coldRecall);
  const low = results.filter(({ run }) => run.endsWith(":0.95"));
  const mean = low.reduce((sum, { meanRecall }) => sum + meanRecall, 0) / low.length;
  const micros = results.reduce((sum, result) => sum + result.micros, 0) / results.length;
  const figures = [
    Math.max(0, ...shortfalls),
    Math.min(...low.map((each) => each.worstRecall)),
    mean,
  ];
  return [...figures.map((figure) => figure.toFixed(3)), micros.toFixed(1)];
}

async function run(
  name: string,
  patches: readonly Patch[],
  seeds: readonly number[],
): Promise<readonly WorldResult[]> {
  // Elsewhere, so that nothing checks these copies.
  const tree = mkdtempSync(join(tmpdir(), "learn-variant-"));
  const root = fileURLToPath(new URL("../..", import.meta.url));
  cpSync(join(root, "src"), join(tree, "src"), { recursive: true });
  cpSync(join(root, "package.json"), join(tree, "package.json"));
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  for (const [file, words, instead] of patches) {
    const path = join(tree, "src/aggregate/learn", file);
    const text = readFileSync(path, "utf8");
    if (!text.includes(words)) throw new Error(`${name}: ${file} has no ${JSON.stringify(words)}`);
    writeFileSync(path, text.replace(words, instead));
  }
  const runs = SETS.flatMap((set) =>
    seeds.flatMap((seed) => RECALLS.map((recall) => `${set}:${seed}:${recall}`)),
  );
  const program = fileURLToPath(new URL("run-world.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program, tree, ...runs], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const chunk of child.stdout) output += String(chunk);
  rmSync(tree, { recursive: true });
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as WorldResult);
}

await main();
