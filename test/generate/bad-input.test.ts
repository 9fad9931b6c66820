import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

/** A folder with one good input and one old output, and what must still be there afterwards. */
class World {
  readonly folder: string = scratchDir();
  readonly scratch: string = join(this.folder, "scratch");

  constructor() {
    mkdirSync(this.scratch);
  }

  file(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** Names of everything in the folder and the scratch folder. */
  names(): string[] {
    return readdirSync(this.folder, { recursive: true })
      .map(String)
      .sort((a, b) => (a < b ? -1 : 1));
  }
}

const INDEX = "com,a)/ 2014 {}\n";
const MAP = "com,a)/ 1\ncom,b)/ 2\n";
const LONG = "x".repeat(10_000_000);
const GOOD = { generate: INDEX, compact: MAP, fit: MAP } as const;
const COMMANDS = ["generate", "compact", "fit"] as const;
type CommandName = (typeof COMMANDS)[number];

function oneThread(command: CommandName): string[] {
  return command === "generate" ? ["--threads", "1"] : [];
}

/** Arguments that send what a command writes elsewhere than to standard output, where it can. */
function elsewhere(command: CommandName, world: World): string[] {
  if (command === "fit") return [];
  return [...oneThread(command), "--tmp", world.scratch, "-o", join(world.folder, "out")];
}

describe("bad input", () => {
  const files: Record<string, (command: CommandName) => [string | Uint8Array, RegExp]> = {
    "a compressed file that is cut short": (command) => [
      gzipSync(GOOD[command]).subarray(0, -9),
      /input: the compressed data is truncated; fetch or copy the file again \[MM_BAD_INPUT\]$/,
    ],
    "a large compressed file that is cut short": (command) => {
      const rows = Array.from({ length: 200_000 }, (_, i) => `com,a)/${1e6 + i}`);
      const text = rows
        .map((row) => `${row} ${command === "generate" ? "2014 {}" : "1"}\n`)
        .join("");
      return [
        gzipSync(text).subarray(0, -1000),
        /input: the compressed data is truncated.*\[MM_BAD_INPUT\]$/,
      ];
    },
    "binary data": (command) => [
      Buffer.from("\u007fELF\u0002\u0001\u0001\0\0\0\0\0\0\n\0\0", "latin1"),
      command === "generate"
        ? /input: binary data is not an index.*\[MM_BAD_INPUT\]$/
        : /input:1: .*ELF.*\[MM_BAD_LINE\]$/,
    ],
    "a line of 10 MB": (command) => [
      `${GOOD[command]}${LONG}\n`,
      new RegExp(
        `input:${command === "generate" ? 2 : 3}: the line is longer than 1048576 bytes.*\\[MM_LIMIT\\]$`,
      ),
    ],
    "a line of 10 MB, compressed": (command) => [
      gzipSync(`${GOOD[command]}${LONG}\n`),
      new RegExp(
        `input:${command === "generate" ? 2 : 3}: the line is longer than 1048576 bytes.*\\[MM_LIMIT\\]$`,
      ),
    ],
  };
  const cases = COMMANDS.flatMap((command) =>
    Object.entries(files).map(([what, make]) => [command, what, make] as const),
  );

  it.each(cases)("%s: %s", async (command, _, make) => {
    const world = new World();
    const [content, message] = make(command);
    const input = world.file("input", content);
    const before = world.names();
    const result = await runCli([command, ...elsewhere(command, world), input]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr.trimEnd()).toMatch(message);
    expect(result.stderr).toMatch(/^mementomap: [^\n]*\n$/);
    expect(world.names()).toEqual(before);
  });

  it.each(COMMANDS)("%s: a file that is missing, and a folder", async (command) => {
    const world = new World();
    // A folder of indexes is an input; this one has none.
    const ofFolder =
      command === "generate"
        ? "no index in this folder: no .idx, .cdx, .cdxj, .parquet, .warc, .arc or .wacz file [MM_BAD_INPUT]"
        : "is a directory; name a file [MM_IO]";
    for (const [path, message] of [
      [join(world.folder, "none"), "no such file or folder; check the path [MM_IO]"],
      [world.folder, ofFolder],
    ] as const) {
      expect(await runCli([command, ...elsewhere(command, world), path])).toEqual({
        code: 2,
        stdout: "",
        stderr: `mementomap: ${path}: ${message}\n`,
      });
    }
    expect(world.names()).toEqual(["scratch"]);
  });

  it.each([
    [
      "compact",
      "com,b)/ 1\ncom,a)/ 1\n",
      ':2: key "com,a)/" comes after "com,b)/"; "mementomap merge" sorts a map [MM_NOT_SORTED]',
    ],
    [
      "fit",
      "com,b)/ 1\ncom,a)/ 1\n",
      ':2: key "com,a)/" comes after "com,b)/"; "mementomap merge" sorts a map [MM_NOT_SORTED]',
    ],
    ["compact", "!meta {}\ncom,a)/ many\n", ':2: frequency "many" is not of the form '],
    ["compact", "!meta {\ncom,a)/ 1\n", ":1: "],
    [
      "generate",
      "com,a)/ 2014 {}\n\ncom,a)/ yesterday {}\n",
      ':3: expected a datetime of 4 to 17 digits after the key: "com,a)/ yesterday {}"; --skip-bad skips and counts such lines [MM_BAD_LINE]',
    ],
  ] as const)("%s: %j", async (command, content, message) => {
    const world = new World();
    const input = world.file("input", content);
    const result = await runCli([command, ...elsewhere(command, world), input]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(`mementomap: ${input}${message}`);
    expect(world.names()).toEqual(["input", "scratch"]);
  });

  it("writes nothing to standard output before it knows that the first rows are good", async () => {
    const world = new World();
    const headers = '!context ["https://git.io/mementomap"]\n';
    const input = world.file("input", `${headers}com,b)/ 1\ncom,a)/ 1\n`);
    expect(await runCli(["compact", input])).toMatchObject({ code: 2, stdout: "" });
    const stdin = readFileSync(input);
    expect(await runCli(["compact"], { stdin })).toMatchObject({ code: 2, stdout: "" });
  });

  it.each(COMMANDS)(
    "%s: fine are CR LF and no line end at the end; an empty map is refused",
    async (command) => {
      const good = GOOD[command];
      const [plain, ...others] = await Promise.all(
        [good, good.replaceAll("\n", "\r\n"), good.trimEnd()].map(async (stdin) =>
          runCli([command, "-q", ...oneThread(command)], {
            stdin,
            env: { SOURCE_DATE_EPOCH: "0" },
          }),
        ),
      );
      expect(plain).toMatchObject({ code: 0, stderr: "" });
      for (const other of others) expect(other).toEqual(plain);
      // A map without a record may be one that was cut; an index has none to state.
      const empty = new World().file("empty", "");
      const refusal = expect.stringContaining("[MM_EMPTY]");
      const expected = command === "generate" ? { code: 0 } : { code: 2, stderr: refusal };
      expect(await runCli([command, "-q", empty])).toMatchObject(expected);
    },
  );

  it.each([
    [["generate", "--from", "20"], '--from: not a datetime: "20"'],
    [["generate", "--to", "2014-13"], '--to: not a datetime: "2014-13"'],
    [["generate", "--format", "nonsense"], '--format: unknown "nonsense"; use auto, warc'],
    [["generate", "--status", "ok"], 'not a status such as 200 or 2xx: "ok"'],
    [["generate", "--exclude", "("], 'not a regular expression: "("'],
    [["generate", "--by", "week"], '--by: cannot split by "week"; '],
    [["generate", "--preset", "x"], '--preset: unknown "x"; use paper'],
    [["generate", "--memory", "x"], '--memory: not a size: "x"; '],
    [["generate", "--threads", "0"], '--threads: expected an integer of at least 1, got "0"'],
    [
      ["compact", "--max-host-depth", "0"],
      '--max-host-depth: expected an integer of at least 1, got "0"',
    ],
    [["compact", "--max-path-depth", "2000"], "the path depth must be 1 to 1000, not 2000"],
    [["compact", "--host-weight=-1"], '--host-weight: expected a number of at least 0, got "-1"'],
    [
      ["compact", "--host-weight", "-1"],
      '--host-weight: expected a number of at least 0, got "-1"',
    ],
    [["compact", "--host-power", "1"], '--host-power: not a power law A,K: "1"; '],
    [["compact", "--path-power", "0,1"], "not a power law: a=0, k=1"],
    [["compact", "--bogus"], 'unknown option "--bogus"'],
    [["compact", "another-map"], "compact takes one map; merge makes one of several"],
    [["fit", "another-map"], "fit takes one map"],
  ])("%j", async (argv, message) => {
    const world = new World();
    const input = world.file("input", argv[0] === "generate" ? INDEX : MAP);
    const output = argv[0] === "fit" ? [] : ["-o", join(world.folder, "out")];
    const result = await runCli([...argv, ...output, input]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(/^mementomap: [^\n]* \[MM_USAGE\]\n$/);
    expect(result.stderr).toContain(message);
    expect(world.names()).toEqual(["input", "scratch"]);
  });
});

describe("places that cannot be written to", () => {
  const WRITERS = ["generate", "compact"] as const;

  it.each(WRITERS)(
    "%s: a folder that is missing, a folder, a file as a folder",
    async (command) => {
      const world = new World();
      const input = world.file("input", GOOD[command]);
      for (const [target, message] of [
        [
          join(world.folder, "none", "out"),
          `the folder ${join(world.folder, "none")} does not exist; create it first`,
        ],
        [world.folder, "is a directory; name a file"],
        [join(input, "out"), "a component of the path is not a folder; check the path"],
      ] as const) {
        expect(await runCli([command, input, "-o", target])).toEqual({
          code: 2,
          stdout: "",
          stderr: `mementomap: ${target}: ${message} [MM_IO]\n`,
        });
      }
      const missing = join(world.folder, "none");
      expect(await runCli([command, input, "--tmp", missing])).toEqual({
        code: 2,
        stdout: "",
        stderr: `mementomap: ${missing}: no such file or folder; check the path [MM_IO]\n`,
      });
      expect(world.names()).toEqual(["input", "scratch"]);
    },
  );

  it.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
    "a folder without permission (skipped for root, whom nothing stops)",
    async () => {
      for (const command of WRITERS) {
        const world = new World();
        const input = world.file("input", GOOD[command]);
        chmodSync(world.folder, 0o555);
        const target = join(world.folder, "out");
        const result = await runCli([command, input, "-o", target]);
        chmodSync(world.folder, 0o755);
        expect(result).toEqual({
          code: 2,
          stdout: "",
          stderr: `mementomap: ${target}: permission denied; check the file permissions [MM_IO]\n`,
        });
        expect(world.names()).toEqual(["input", "scratch"]);
      }
    },
  );

  it.skipIf(process.platform !== "linux")("a disk that is full", async () => {
    for (const command of WRITERS) {
      const world = new World();
      const input = world.file("input", GOOD[command]);
      expect(await runCli([command, "--tmp", world.scratch, input, "-o", "/dev/full"])).toEqual({
        code: 2,
        stdout: "",
        stderr:
          "mementomap: /dev/full: no space left on the device; free some or choose another place [MM_IO]\n",
      });
      expect(world.names()).toEqual(["input", "scratch"]);
    }
  });

  it("compact: a map may be its own output", async () => {
    const world = new World();
    const input = world.file("input", GOOD.compact);
    const env = { SOURCE_DATE_EPOCH: "0" };
    const { stdout } = await runCli(["compact", "-q", input], { env });
    expect(await runCli(["compact", "-q", input, "-o", input], { env })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(readFileSync(input, "utf8")).toBe(stdout);
    expect(world.names()).toEqual(["input", "scratch"]);
  });

  it("a scratch folder that is full (skipped where no small file system can be mounted)", async (context) => {
    const world = new World();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "none", world.scratch], {
        stdio: "ignore",
      });
    } catch {
      context.skip("no permission to mount a small file system");
    }
    onTestFinished(() => {
      execFileSync("umount", [world.scratch]);
    });
    const hash = (i: number): string => ((i * 2_654_435_761) % 2 ** 32).toString(36);
    const keys = Array.from({ length: 60_000 }, (_, i) => `com,a)/${hash(i)}${hash(i + 1)}`);
    for (const [command, text] of [
      ["generate", keys.map((key) => `${key} 2014 {}\n`).join("")],
      [
        "compact",
        keys
          .toSorted()
          .map((key) => `${key} 1\n`)
          .join(""),
      ],
    ] as const) {
      const input = world.file(command, text);
      const argv = [
        ...oneThread(command),
        "--tmp",
        world.scratch,
        "-o",
        // Rows for a plain file would not go through the scratch folder.
        join(world.folder, "out.gz"),
        input,
      ];
      const weights = command === "compact" ? ["--path-weight", "inf"] : [];
      const result = await runCli([command, ...weights, ...argv]);
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toContain(`mementomap: ${world.scratch}`);
      expect(result.stderr).toContain(
        ": no space left on the device; free some or choose another place [MM_IO]\n",
      );
      expect(readdirSync(world.scratch)).toEqual([]);
    }
    expect(world.names()).toEqual(["compact", "generate", "scratch"]);
  });
});
