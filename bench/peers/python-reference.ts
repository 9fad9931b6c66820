import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MementoMapError, isMementoMapError, quote } from "../../src/errors.ts";
import type { Peer } from "./peer.ts";
import { timed } from "./timed.ts";
import type { TimedRun } from "./timed.ts";

/** The newest release when these benches were written. */
const PACKAGE = "mementomap==0.1.0b2";

/**
 * Sorts behind every key: without such a last line the reference fails on keys behind its last one,
 * and its whole batch ends there.
 */
const SENTINEL = "zzzz,zzzz) 1\n";

/** What the reference prints of a `generate` or `compact`, beside how long it took. */
export interface ReferenceRun extends TimedRun {
  /** Of `generate`: runs of equal keys, not lines of the index. */
  readonly inLines: number;
  readonly outLines: number;
  readonly outBytes: number;
  readonly rollups: number;
}

/** How a batch of lookups went. */
export interface ReferenceLookupRun extends TimedRun {
  /** Lookups that were answered; it prints nothing for the others. */
  readonly answers: number;
}

/** The paper's implementation, run as a program. */
export class PythonReference {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  /** `mementomap generate`: a sorted index to a map. Its keys come unsorted where queries were cut. */
  async generate(index: string, map: string): Promise<ReferenceRun> {
    return readCounts(await timed(this.#program, ["generate", index, map]));
  }

  /** `mementomap compact` with the given weights. */
  async compact(
    map: string,
    compacted: string,
    weights: { readonly host: number; readonly path: number } = { host: 4, path: 2 },
  ): Promise<ReferenceRun> {
    const options = ["--hcf", String(weights.host), "--pcf", String(weights.path)];
    return readCounts(await timed(this.#program, ["compact", ...options, map, compacted]));
  }

  /**
   * `mementomap batchlookup` of a file of SURTs, one a line: the reference cannot make them of URIs.
   *
   * Searches a copy of the map, made beside it before the clock starts: home pages are written as
   * it writes and searches them, `com,cnn)` and not `com,cnn)/`, and there is one line more.
   */
  async batchLookup(map: string, surts: string): Promise<ReferenceLookupRun> {
    const copy = `${map}.reference`;
    const rows = await readFile(map, "latin1");
    await writeFile(copy, rows.replaceAll(/^([^ )]+\))\/ /gm, "$1 ") + SENTINEL, "latin1");
    const run = await timed(this.#program, ["batchlookup", copy, surts]);
    rejectUsage(run);
    return { ...run, answers: run.stdout.split("\n").length - 1 };
  }
}

/**
 * Installs the reference in a virtual environment below a directory, unless it is there already.
 *
 * Needs `python3` with `venv` and `pip`, and a package index.
 */
export async function pythonReference(cacheDirectory: string): Promise<Peer<PythonReference>> {
  const environment = join(cacheDirectory, "python-reference");
  const program = join(environment, "bin", "mementomap");
  try {
    if (!existsSync(program)) {
      await timed("python3", ["-m", "venv", environment]);
      await timed(join(environment, "bin", "pip"), ["install", "--quiet", PACKAGE]);
    }
    return { peer: new PythonReference(program) };
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    return { missing: `no Python reference: ${error.message}` };
  }
}

function readCounts(run: TimedRun): ReferenceRun {
  rejectUsage(run);
  const numbers = run.stdout.trim().split(/\s+/).map(Number);
  if (numbers.length !== 5 || numbers.some(Number.isNaN)) {
    const said = quote(run.stdout);
    throw new MementoMapError("MM_BAD_INPUT", `the reference printed ${said}, not five counts`);
  }
  const [inLines, outLines, , outBytes, rollups] = numbers;
  return { ...run, inLines, outLines, outBytes, rollups };
}

/** The reference shows its usage and exits with 0 when it fails. */
function rejectUsage({ stdout }: TimedRun): void {
  if (/^usage:/m.test(stdout)) {
    throw new MementoMapError("MM_BAD_INPUT", "the reference failed and showed its usage instead");
  }
}
