import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { naiveRows, rowsOf } from "./naive-map.ts";
import { scratchDir } from "../support/scratch.ts";
import { type ProcessResult, spawnCli } from "../support/spawn-cli.ts";
import { until } from "../support/until.ts";

const THREADS = [1, 2, 3];

/** Unsorted lines of CDXJ, many of them with the same key. */
function linesOf(count: number, padding: number): string[] {
  const filler = `{"x": "${"-".repeat(padding)}"}`;
  return Array.from(
    { length: count },
    (_, i) =>
      `com,h${(i * 31) % 1009})/${(i * 7919) % (count >> 2)}?${i % 7} 201${i % 10} ${filler}`,
  );
}

interface World {
  /** Written to standard input. */
  readonly stdin?: Uint8Array;
  /** Leaves standard input open behind what was written to it. */
  readonly keepsOpen?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the built command line: Node 20 runs no TypeScript in worker threads. */
function start(argv: readonly string[], world: World = {}): ReturnType<typeof spawnCli> {
  const started = spawnCli(argv, undefined, world.env);
  const { stdin } = started.child;
  // A process that fails early does not read all of its input.
  stdin?.on("error", () => undefined);
  if (world.keepsOpen === true) stdin?.write(world.stdin);
  else stdin?.end(world.stdin);
  return started;
}

function run(argv: readonly string[], world?: World): Promise<ProcessResult> {
  return start(argv, world).done;
}

describe("generate on threads", () => {
  it("gives the same bytes for any number of threads, of one file and of many", async () => {
    const folder = scratchDir();
    const lines = linesOf(50_000, 660);
    const text = lines.join("\n");
    // More than a part of a file, and enough for three threads.
    expect(text.length).toBeGreaterThan(2 ** 25);
    const paths = ["whole", "a", "b"].map((name) => join(folder, name));
    const [whole = "", a = "", b = ""] = paths;
    writeFileSync(whole, text);
    writeFileSync(a, lines.slice(20_000).join("\r\n"));
    writeFileSync(b, lines.slice(0, 20_000).join("\n"));
    const env = { SOURCE_DATE_EPOCH: "0" };
    for (const options of [[], ["--originals", "--by", "datetime:year"]]) {
      const inputs = [[whole], [a, b], [whole], [whole]];
      const runs = inputs.map((paths, i) => [
        "generate",
        "-q",
        ...options,
        "--threads",
        String(THREADS[i % THREADS.length]),
        ...paths,
      ]);
      const maps: string[] = [];
      for (const argv of runs) maps.push((await run(argv, { env })).stdout);
      expect(new Set(maps).size).toBe(1);
      const naive = { originals: options.length > 0, datetimeDigits: options.length > 0 ? 4 : 0 };
      expect(rowsOf(maps[0] ?? "")).toEqual(naiveRows(lines, naive));
    }
  });

  it("gives the same bytes for any number of threads from stdin, compressed, in little memory", async () => {
    const lines = linesOf(110_000, 2);
    const stdin = gzipSync(lines.join("\n"), { level: 1 });
    const expected = naiveRows(lines);
    for (const threads of THREADS) {
      const argv = ["generate", "--json", "--memory", "1m", "--threads", String(threads)];
      const { stdout, stderr } = await run(argv, { stdin });
      expect(rowsOf(stdout)).toEqual(expected);
      expect((JSON.parse(stderr) as { runs: number }).runs).toBeGreaterThan(1);
    }
  });

  it.each(THREADS)(
    "tells the first bad line, with other parts read meanwhile: %i threads",
    async (threads) => {
      const lines = linesOf(160_000, 60);
      lines[30_000] = "the first bad line";
      lines[150_000] = "the second bad line";
      const stdin = Buffer.from(lines.join("\n"));
      const folder = scratchDir();
      writeFileSync(join(folder, "index"), stdin);
      for (const name of ["good", "better"]) writeFileSync(join(folder, name), "com,a)/ 2014 {}\n");
      const argv = ["generate", "-q", "--threads", String(threads), "-o", join(folder, "map")];
      const fault =
        'expected a datetime of 4 to 17 digits after the key: "the first bad line"; --skip-bad skips and counts such lines [MM_BAD_LINE]\n';
      expect(await run(argv, { stdin })).toMatchObject({
        code: 2,
        stdout: "",
        stderr: `mementomap: stdin:30001: ${fault}`,
      });
      const [index, good, better] = ["index", "good", "better"].map((name) => join(folder, name));
      expect(await run([...argv, index, good, better])).toMatchObject({
        code: 2,
        stdout: "",
        stderr: `mementomap: ${index}:30001: ${fault}`,
      });
      expect(existsSync(join(folder, "map"))).toBe(false);
    },
  );

  it("says that a worker died", async () => {
    const folder = scratchDir();
    const dying = join(folder, "dying.cjs");
    writeFileSync(
      dying,
      `if (!require("node:worker_threads").isMainThread) setTimeout(() => process.exit(7), 50);`,
    );
    const argv = ["generate", "-q", "--threads", "2", "--tmp", folder, "-o", join(folder, "map")];
    const { done } = start(argv, {
      stdin: Buffer.from(linesOf(100_000, 100).join("\n")),
      env: { NODE_OPTIONS: `--require ${dying}` },
    });
    expect(await done).toMatchObject({
      code: 2,
      stdout: "",
      stderr:
        "mementomap: a worker thread died; more --memory, fewer --threads or a higher limit on open files (ulimit -n) may help [MM_WORKER]\n",
    });
    expect(readdirSync(folder)).toEqual(["dying.cjs"]);
  });
});

describe.skipIf(process.platform === "win32")("generate, stopped half-way", () => {
  const OLD_MAP = "com,old)/ 1\n";

  /** Starts a run that waits for more input, with sorted runs in its scratch folder already. */
  async function startHalfWay(
    threads: number,
  ): Promise<ReturnType<typeof start> & { folder: string; scratch: string; map: string }> {
    const folder = scratchDir();
    const [scratch, map] = [join(folder, "scratch"), join(folder, "map")];
    mkdirSync(scratch);
    writeFileSync(map, OLD_MAP);
    const started = start(
      ["generate", "--memory", "1m", "--threads", String(threads), "--tmp", scratch, "-o", map],
      { stdin: Buffer.from(linesOf(300_000, 2).join("\n")), keepsOpen: true },
    );
    await until(() =>
      readdirSync(scratch, { recursive: true }).some((name) => String(name).endsWith(".run")),
    );
    return { ...started, folder, scratch, map };
  }

  it.each([
    ["SIGINT", 1],
    ["SIGINT", 2],
    ["SIGTERM", 2],
  ] as const)(
    "leaves the old map and nothing else behind: %s, %i threads",
    async (signal, threads) => {
      const { child, done, folder, scratch, map } = await startHalfWay(threads);
      child.kill(signal);
      expect(await done).toMatchObject({
        code: 130,
        stdout: "",
        stderr: `mementomap: stopped by ${signal} [MM_INTERRUPTED]\n`,
      });
      expect(readdirSync(folder).sort()).toEqual(["map", "scratch"]);
      expect(readdirSync(scratch)).toEqual([]);
      expect(readFileSync(map, "utf8")).toBe(OLD_MAP);
    },
  );

  it("leaves the old map even if it is killed", async () => {
    const { child, done, map } = await startHalfWay(1);
    child.kill("SIGKILL");
    expect(await done).toMatchObject({ code: null, stdout: "" });
    expect(readFileSync(map, "utf8")).toBe(OLD_MAP);
  });
});
