import { cpSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { digestOf, type Inputs, makeInputs } from "./jobs.ts";
import { type Ended, run, start } from "./process.ts";

const SHRINK_AT = fileURLToPath(new URL("shrink-at.mjs", import.meta.url));
/** The first reads find out what the file is. */
const READS = [2, 3, 5];
/** Reports say when they were made. */
const DATED = { SOURCE_DATE_EPOCH: "1700000000" };

let inputs: Inputs;
/** A map by days, which is longer than what is read of a file at once. */
let timed: string;

beforeAll(async () => {
  inputs = await makeInputs(30_000);
  timed = join(inputs.folder, "timed.ukvs");
  const byDay = ["generate", "-q", "--by", "datetime:day", inputs.index, "-o", timed];
  const { code, stderr } = await run(byDay);
  if (code !== 0) throw new Error(stderr);
});

afterAll(() => inputs.close());

/** Where the line ends that has the middle of a file: what is before looks like a whole file. */
function middleLineEnd(bytes: Buffer): number {
  return bytes.indexOf(10, bytes.length >> 1) + 1;
}

/** Runs a command that has its input cut to a length before its nth read. */
function runShrinking(
  argv: readonly string[],
  input: string,
  to: number,
  at: number,
): Promise<Ended> {
  const env = { ...DATED, SHRINK_PATH: input, SHRINK_TO: String(to), SHRINK_AT: String(at) };
  return run(argv, { env: { ...env, NODE_OPTIONS: `--import ${SHRINK_AT}` } });
}

/** What a run that failed says, if it names the file; what it said otherwise. */
function refusalOf({ code, stderr }: Ended, input: string): string {
  const isPlain = /^mementomap: [^\n]+ \[MM_\w+\]\n$/.test(stderr) && stderr.includes(input);
  return code === 2 && isPlain ? "refused" : `${code}: ${stderr}`;
}

describe.skipIf(process.platform === "win32")(
  "a file that becomes shorter while it is read",
  () => {
    it.each([
      ["generate, one thread", "index", "generate -q --threads 1 INPUT -o OUT"],
      ["generate, three threads", "index", "generate -q --threads 3 INPUT -o OUT"],
      ["generate, gzip", "index.gz", "generate -q --threads 1 INPUT -o OUT"],
      ["compact by weights", "timed", "compact -q INPUT -o OUT"],
      ["compact to a number of rows", "map", "compact -q --relative-cost 20% INPUT -o OUT"],
      ["merge", "map", "merge -q OTHER INPUT -o OUT"],
      ["split", "map", "split -q --pages 3 INPUT -o OUT"],
      ["analyze", "index", "analyze -q INPUT --html OUT"],
    ])("is never taken for a whole one: %s", async (_name, kind, line) => {
      const { index, map } = inputs;
      const source = readFileSync(kind === "timed" ? timed : kind === "map" ? map : index);
      const bytes = kind.endsWith(".gz") ? gzipSync(source) : source;
      const folder = scratchDir();
      const input = join(folder, `input.${kind}`);
      const argv = (name: string): string[] => {
        const known = { INPUT: input, OTHER: inputs.otherMap, OUT: join(folder, name) };
        return line.split(" ").map((word) => known[word as keyof typeof known] ?? word);
      };
      writeFileSync(input, bytes);
      expect(await run(argv("whole"), { env: DATED })).toMatchObject({ code: 0 });
      const to = kind.endsWith(".gz") ? bytes.length >> 1 : middleLineEnd(bytes);
      const outcomes: string[] = [];
      for (const at of READS) {
        writeFileSync(input, bytes);
        const ended = await runShrinking(argv(`out-${at}`), input, to, at);
        // What was read before it became shorter makes the same result.
        const isSame = digestOf(join(folder, `out-${at}`)) === digestOf(join(folder, "whole"));
        outcomes.push(ended.code === 0 && isSame ? "whole" : refusalOf(ended, input));
        const left = ended.code === 0 ? "" : digestOf(join(folder, `out-${at}`));
        expect(["", "nothing"]).toContain(left);
      }
      expect(outcomes).toContain("refused");
      expect(new Set([...outcomes, "whole", "refused"])).toEqual(new Set(["whole", "refused"]));
    });

    it("is an error of a lookup, not an absent page", async () => {
      const map = join(scratchDir(), "map.ukvs");
      const text = readFileSync(inputs.map, "utf8");
      const [key = ""] = /^\S+/.exec(text.trimEnd().split("\n").at(-1) ?? "") ?? [];
      const [host = "", path = ""] = key.split(")");
      const uri = `http://${host.split(",").reverse().join(".")}${path}`;
      const outcomes: string[] = [];
      for (const at of [2, 3, 4, 6]) {
        cpSync(inputs.map, map);
        const ended = await runShrinking(
          ["lookup", map, uri],
          map,
          middleLineEnd(Buffer.from(text)),
          at,
        );
        outcomes.push(ended.code === 0 ? "present" : refusalOf(ended, map));
      }
      expect(outcomes).toContain("refused");
      expect(new Set([...outcomes, "present", "refused"])).toEqual(new Set(["present", "refused"]));
    });

    it("does not end a server, which sends nothing that could pass for the whole", async () => {
      const map = join(scratchDir(), "map.ukvs");
      cpSync(inputs.map, map);
      const { child, ended } = start(["serve", map, "--port", "0"]);
      const url = await new Promise<string>((resolve) => {
        child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
      });
      const whole = readFileSync(map, "utf8");
      truncateSync(map, middleLineEnd(readFileSync(map)));
      const cut = await fetch(`${url}/.well-known/mementomap`, {
        headers: { "Accept-Encoding": "identity" },
      })
        .then((response) => response.text())
        .catch(() => "cut off");
      expect([whole, "cut off"]).toContain(cut);
      expect((await fetch(`${url}/health`)).status).toBeGreaterThan(0);
      child.kill("SIGTERM");
      expect(await ended).toMatchObject({ code: 0 });
    });
  },
);
