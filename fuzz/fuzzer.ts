import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { hashRange } from "../src/bytes/bytes.ts";
import { isMementoMapError } from "../src/errors.ts";
import { Random } from "../src/bytes/random.ts";
import { bytesOf } from "./check.ts";
import { Coverage } from "./coverage.ts";
import { keepInput, keptInputs } from "./kept.ts";
import { minimised } from "./minimise.ts";
import { Mutator } from "./mutator.ts";
import type { Target } from "./target.ts";

/** How to fuzz a target. */
export interface FuzzOptions {
  /** Inputs to try; it ends earlier when the time is up. */
  readonly runs: number;
  readonly seconds: number;
  readonly seed: number;
  /** Whether inputs that reach new code are mutated further. */
  readonly feedback: boolean;
  /** Count blocks of code reached although there is no feedback. */
  readonly measure?: boolean | undefined;
  /** Whether failures are written to `fuzz/kept/`. */
  readonly keep: boolean;
}

/** A way to fail, with the smallest input found. */
export interface Failure {
  readonly message: string;
  readonly stack: string;
  readonly input: Uint8Array;
  /** Where it is kept. */
  readonly path: string | undefined;
}

/** What came of fuzzing a target. */
export interface FuzzResult {
  readonly target: string;
  readonly inputs: number;
  readonly seconds: number;
  /** Inputs that were refused with an error of this package. */
  readonly refused: number;
  readonly failures: readonly Failure[];
  readonly slowestMs: number;
  /** Growth of the memory in use, after collection, since the first tenth of the inputs. */
  readonly heapGrowth: number;
  /** Blocks of code that were reached; 0 unless they were counted. */
  readonly blocks: number;
  /** Inputs that reached new code. */
  readonly found: number;
}

/** What the thread that watches over a fuzzer is told. */
export interface Watcher {
  /** Called before an input is run, which may never come to an end. */
  running(input: Uint8Array): void;
  progress(inputs: number, failures: number): void;
}

/** No input may take longer. */
const MAX_INPUT_MS = 1000;
/** Memory may grow by this much; caches and compiled code take some. */
export const MAX_HEAP_GROWTH: number = 32 * 2 ** 20;
const MAX_FAILURES = 5;
const BATCH = 512;
const MAX_FOUND = 2000;
const MAX_FOUND_BYTES = 2048;
const PROGRESS_MS = 500;

/** Gives one target mutated inputs, and finds those for which it does not hold. */
export class Fuzzer {
  readonly #target: Target;
  readonly #options: FuzzOptions;
  readonly #watcher: Watcher | undefined;
  readonly #failures = new Map<string, Failure>();
  #inputs = 0;
  #refused = 0;
  #slowestMs = 0;

  constructor(target: Target, options: FuzzOptions, watcher?: Watcher) {
    this.#target = target;
    this.#options = options;
    this.#watcher = watcher;
  }

  async run(): Promise<FuzzResult> {
    const { name, seeds, words, share = 1 } = this.#target;
    const { seconds, seed, feedback, measure = false } = this.#options;
    const runs = Math.ceil(this.#options.runs * share);
    const start = performance.now();
    const isDone = (): boolean =>
      this.#inputs >= runs ||
      performance.now() - start > seconds * 1000 ||
      this.#failures.size >= MAX_FAILURES;
    const given: Uint8Array[] = [...seeds().map(bytesOf), ...keptInputs(name).map((k) => k.bytes)];
    const coverage = feedback || measure ? new Coverage() : undefined;
    for (const input of given) await this.#try(input);
    const random = new Random(seed, name);
    const mutator = new Mutator(random, words);
    const found: Uint8Array[] = [];
    let foundCount = 0;
    let reportedAt = start;
    let heapAtFirst: number | undefined;
    while (!isDone()) {
      const batch: Uint8Array[] = [];
      while (batch.length < BATCH && !isDone()) {
        const input = mutator.next(found.length > 0 && random.chance(0.5) ? found : given);
        if (coverage !== undefined) batch.push(input);
        await this.#try(input);
        if (coverage === undefined && this.#inputs % BATCH === 0) break;
      }
      const unknown = coverage?.lookForNew();
      if (coverage !== undefined && unknown !== undefined && unknown.size > 0 && feedback) {
        for (const input of await this.#reaching(unknown, batch, coverage)) {
          foundCount++;
          // Long inputs would beget longer ones, and slow all down.
          if (input.length > MAX_FOUND_BYTES) continue;
          if (found.length < MAX_FOUND) found.push(input);
          else found[random.below(MAX_FOUND)] = input;
        }
      }
      const now = performance.now();
      if (heapAtFirst === undefined && isPartDone(0.1, this.#inputs / runs, now - start, seconds)) {
        heapAtFirst = memoryInUse();
      }
      if (now - reportedAt > PROGRESS_MS) {
        this.#watcher?.progress(this.#inputs, this.#failures.size);
        reportedAt = now;
      }
    }
    const blocks = coverage?.blocks ?? 0;
    coverage?.close();
    found.length = 0;
    return {
      target: name,
      inputs: this.#inputs,
      seconds: (performance.now() - start) / 1000,
      refused: this.#refused,
      failures: [...this.#failures.values()],
      slowestMs: this.#slowestMs,
      heapGrowth: heapAtFirst === undefined ? 0 : memoryInUse() - heapAtFirst,
      blocks,
      found: foundCount,
    };
  }

  /** Runs one input, and keeps it if it fails in a way not seen before. */
  async #try(input: Uint8Array): Promise<void> {
    this.#inputs++;
    this.#watcher?.running(input);
    const start = performance.now();
    const error = await failureOf(this.#target, input);
    const ms = performance.now() - start;
    if (error === REFUSED) this.#refused++;
    if (ms > this.#slowestMs) {
      // On a busy machine time passes without any work; what is slow is slow again.
      const again = ms > MAX_INPUT_MS / 2 ? await quickest(this.#target, input, ms) : ms;
      this.#slowestMs = Math.max(this.#slowestMs, again);
      if (again > MAX_INPUT_MS) {
        await this.#fail(new Error(`takes ${Math.round(again)} ms`), input, async (candidate) => {
          return (await quickest(this.#target, candidate, Number.POSITIVE_INFINITY)) > MAX_INPUT_MS;
        });
      }
    }
    if (error instanceof Error) {
      const signature = signatureOf(error);
      await this.#fail(error, input, async (candidate) => {
        const other = await failureOf(this.#target, candidate);
        return other instanceof Error && signatureOf(other) === signature;
      });
    }
  }

  async #fail(
    error: Error,
    input: Uint8Array,
    fails: (candidate: Uint8Array) => Promise<boolean>,
  ): Promise<void> {
    const signature = signatureOf(error);
    if (this.#failures.has(signature)) return;
    const isSlow = error.message.startsWith("takes ");
    const smallest = await minimised(input, fails, isSlow ? 20 : undefined);
    const path = this.#options.keep ? keepInput(this.#target.name, smallest) : undefined;
    const last = isSlow ? error : await failureOf(this.#target, smallest);
    const shown = last instanceof Error ? last : error;
    const { message, stack = "" } = shown;
    this.#failures.set(signature, {
      message: `${shown.name}: ${message}`,
      stack,
      input: smallest,
      path,
    });
  }

  /** The first inputs of a batch that reach each of some blocks, found by halving it. */
  async #reaching(
    blocks: Set<string>,
    batch: readonly Uint8Array[],
    coverage: Coverage,
  ): Promise<Uint8Array[]> {
    for (const input of batch) {
      this.#watcher?.running(input);
      await failureOf(this.#target, input);
    }
    const reached = coverage.look();
    const hit = [...blocks].filter((block) => reached.has(block));
    if (hit.length === 0) return [];
    if (batch.length === 1) {
      for (const block of hit) blocks.delete(block);
      return [...batch];
    }
    const half = batch.length >> 1;
    const first = await this.#reaching(blocks, batch.slice(0, half), coverage);
    if (!hit.some((block) => blocks.has(block))) return first;
    return [...first, ...(await this.#reaching(blocks, batch.slice(half), coverage))];
  }
}

/** What an input of a target is refused with. */
const REFUSED = "refused";

/** How an input fails: an error that is not of this package, or undefined. */
export async function failureOf(
  target: Target,
  input: Uint8Array,
): Promise<Error | typeof REFUSED | undefined> {
  try {
    const running = target.run(input, new Random(hashRange(input, 0, input.length)));
    if (running !== undefined) await running;
    return undefined;
  } catch (error) {
    if (isMementoMapError(error)) return REFUSED;
    return error instanceof Error ? error : new Error(`threw ${String(error)}`);
  }
}

async function quickest(target: Target, input: Uint8Array, before: number): Promise<number> {
  let least = before;
  for (let i = 0; i < 2 && least > MAX_INPUT_MS / 2; i++) {
    const start = performance.now();
    await failureOf(target, input);
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

/** Failures of the same kind, thrown at the same place, are one. */
function signatureOf(error: Error): string {
  const words = error.message.replaceAll(/:.*|\d+/gs, "");
  const place = /\bat .*?([^/]+:\d+:\d+)\)?$/m.exec(error.stack ?? "")?.[1] ?? "";
  return `${error.name} ${words} ${error.name === "Violation" ? "" : place}`;
}

function isPartDone(part: number, ofRuns: number, ms: number, seconds: number): boolean {
  return ofRuns >= part || ms / 1000 >= part * seconds;
}

let collect: (() => void) | undefined;

/** Bytes in use by this thread, after garbage is collected. */
function memoryInUse(): number {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
  // Buffers that the first collection found free are counted until the next.
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
