// Gives every parser mutated inputs, and fails where one breaks a promise: `npm run fuzz`.
//
//   npm run fuzz -- [TARGET…] [--runs N] [--seconds S] [--seed X] [--jobs N] [--json]
//                   [--feedback] [--no-keep] [--list]
//   npm run fuzz -- TARGET --file PATH     run one input again
//
// Without --runs and --seconds each target runs for ten seconds. What fails is made small and
// written to fuzz/kept/TARGET/, which test/fuzz/ runs with all other tests.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import type { FuzzOptions, FuzzResult } from "./fuzzer.ts";
import { failureOf, MAX_HEAP_GROWTH } from "./fuzzer.ts";
import { keepInput } from "./kept.ts";
import { MAX_INPUT_BYTES } from "./mutator.ts";
import { loadTarget, targetNames } from "./targets.ts";
import type { ThreadMessage, ThreadTask } from "./thread.ts";

const DEFAULT_SECONDS = 10;
/** An input that has not come to an end by then never will. */
const HANG_MS = 60_000;
const WATCH_MS = 500;
/** Bytes before the input in the shared memory of a thread. */
const HEAD_BYTES = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    runs: { type: "string" },
    seconds: { type: "string" },
    seed: { type: "string" },
    jobs: { type: "string" },
    file: { type: "string" },
    json: { type: "boolean", default: false },
    feedback: { type: "boolean", default: false },
    measure: { type: "boolean", default: false },
    keep: { type: "boolean", default: true },
    list: { type: "boolean", default: false },
  },
});

const known = targetNames();
for (const name of positionals) {
  if (!known.includes(name)) fail(`there is no target ${name}; there are: ${known.join(" ")}`);
}
const names = positionals.length > 0 ? positionals : known;
if (values.list) {
  for (const name of names) {
    const { holds } = await loadTarget(name);
    console.log(`${name.padEnd(20)} ${holds}`);
  }
} else if (values.file === undefined) {
  process.exitCode = await fuzzAll();
} else {
  if (positionals.length !== 1) fail("--file needs the name of one target");
  process.exitCode = await runFile(positionals[0], values.file);
}

async function fuzzAll(): Promise<number> {
  const seed = count("seed", values.seed) ?? Date.now() % 2 ** 32;
  const runs = count("runs", values.runs);
  const seconds = count("seconds", values.seconds);
  const options: FuzzOptions = {
    runs: runs ?? Number.POSITIVE_INFINITY,
    seconds: seconds ?? (runs === undefined ? DEFAULT_SECONDS : Number.POSITIVE_INFINITY),
    seed,
    feedback: values.feedback,
    measure: values.measure,
    keep: values.keep,
  };
  const jobs = Math.min(count("jobs", values.jobs) ?? availableParallelism(), names.length);
  const waiting = [...names];
  const results: FuzzResult[] = [];
  const running = new Map<string, number>();
  const report = (): void => {
    if (values.json || !process.stderr.isTTY) return;
    const now = [...running].map(([name, inputs]) => `${name} ${grouped(inputs)}`).join(", ");
    process.stderr.write(`\r\u001B[K${results.length}/${names.length} ${now}`);
  };
  if (!values.json) console.log(`seed ${seed}\n${head()}`);
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const target = name;
      running.set(target, 0);
      const result = await fuzz(target, options, (inputs) => {
        running.set(target, inputs);
        report();
      });
      running.delete(target);
      results.push(result);
      if (!values.json) {
        if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
        console.log(line(result));
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const failed = results.filter((result) => result.failures.length > 0 || isGrowing(result));
  if (values.json) console.log(JSON.stringify({ seed, results: results.map(toJson) }));
  else for (const result of failed) console.log(details(result));
  return failed.length > 0 ? 1 : 0;
}

/** Fuzzes one target on a thread, and ends it where an input never comes to an end. */
function fuzz(
  target: string,
  options: FuzzOptions,
  progress: (inputs: number) => void,
): Promise<FuzzResult> {
  const running = new SharedArrayBuffer(HEAD_BYTES + MAX_INPUT_BYTES);
  const task: ThreadTask = { target, options, running };
  return new Promise((resolve) => {
    const thread = new Worker(new URL("./thread.mjs", import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
    });
    const numbers = new Int32Array(running, 0, 2);
    const start = performance.now();
    let count = 0;
    let countedAt = start;
    let isDone = false;
    const end = (result: FuzzResult): void => {
      if (isDone) return;
      isDone = true;
      clearInterval(watch);
      resolve(result);
    };
    const broken = (message: string, stack: string): void => {
      if (isDone) return;
      const input = new Uint8Array(running, HEAD_BYTES, numbers[1]).slice();
      const path = options.keep ? keepInput(target, input) : undefined;
      end({
        target,
        inputs: numbers[0],
        seconds: (performance.now() - start) / 1000,
        refused: 0,
        failures: [{ message, stack, input, path }],
        slowestMs: performance.now() - countedAt,
        heapGrowth: 0,
        blocks: 0,
        found: 0,
      });
    };
    const watch = setInterval(() => {
      const now = Atomics.load(numbers, 0);
      if (now !== count || now === 0) {
        count = now;
        countedAt = performance.now();
      } else if (performance.now() - countedAt > HANG_MS) {
        broken(`does not end within ${HANG_MS / 1000} s`, "");
        void thread.terminate();
      }
    }, WATCH_MS);
    thread.on("message", (message: ThreadMessage) => {
      if ("result" in message) end(message.result);
      else progress(message.inputs);
    });
    thread.on("error", (error) => {
      broken(String(error), error.stack ?? "");
    });
    thread.on("exit", (code) => {
      broken(`the thread ended with status ${code}`, "");
    });
  });
}

async function runFile(name: string, path: string): Promise<number> {
  const start = performance.now();
  const outcome = await failureOf(await loadTarget(name), new Uint8Array(readFileSync(path)));
  const ms = Math.round(performance.now() - start);
  if (outcome instanceof Error) console.log(`${name}: fails after ${ms} ms\n${outcome.stack}`);
  else console.log(`${name}: ${outcome ?? "read"} in ${ms} ms`);
  return outcome instanceof Error ? 1 : 0;
}

function head(): string {
  return `${"target".padEnd(20)}     inputs  inputs/s  refused  failures  slowest      heap   blocks`;
}

function line(result: FuzzResult): string {
  const { target, inputs, seconds, refused, failures, slowestMs, heapGrowth, blocks } = result;
  return [
    target.padEnd(20),
    grouped(inputs).padStart(11),
    grouped(Math.round(inputs / seconds)).padStart(10),
    `${Math.round((100 * refused) / inputs)} %`.padStart(9),
    String(failures.length).padStart(10),
    `${slowestMs.toFixed(1)} ms`.padStart(11),
    `${(heapGrowth / 2 ** 20).toFixed(1)} MB`.padStart(10),
    String(blocks).padStart(7),
  ].join("");
}

function details(result: FuzzResult): string {
  const { target, failures } = result;
  const parts = failures.map(({ message, stack, input, path }) => {
    const again = path === undefined ? "" : `\n  npm run fuzz -- ${target} --file ${path}`;
    const shown = JSON.stringify(Buffer.from(input.subarray(0, 400)).toString("latin1"));
    return `\n${target}: ${message}${again}\n  ${shown}\n${stack.split("\n").slice(1, 6).join("\n")}`;
  });
  if (isGrowing(result)) parts.push(`\n${target}: memory grows: ${result.heapGrowth} bytes`);
  return parts.join("\n");
}

function isGrowing({ heapGrowth }: FuzzResult): boolean {
  return heapGrowth > MAX_HEAP_GROWTH;
}

function toJson(result: FuzzResult): object {
  return {
    ...result,
    failures: result.failures.map((failure) => ({
      ...failure,
      input: Buffer.from(failure.input).toString("base64"),
    })),
  };
}

function count(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text.replaceAll(/[_,]/g, ""));
  if (text !== "" && value >= 0) return value;
  return fail(`--${name} must be a number, not ${text}`);
}

function grouped(value: number): string {
  return value.toLocaleString("en");
}

function fail(message: string): never {
  console.error(`fuzz: ${message}`);
  process.exit(2);
}
