import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../src/bytes/random.ts";
import { isMementoMapError, MementoMapError } from "../../src/errors.ts";
import { packedBytes } from "../pack/packed-bytes.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import { packMap, type PackOptions } from "../../src/pack/pack-files.ts";
import { eighth, fingerprint, NameHash } from "../../src/packed/name-hash.ts";
import { surtKey } from "../../src/surt/key.ts";
import { anyMap, questions } from "../lookup/any-map-and-questions.ts";
import { FAULTY_PACKED, rewritten } from "../support/faulty-packed.ts";
import { scratchDir } from "../support/scratch.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const PYTHON_READER = fileURLToPath(new URL("packed_reader.py", EXAMPLES));
const PYTHON_PROGRAM = fileURLToPath(new URL("packed_lookup.py", EXAMPLES));
const SCRIPT_READER = fileURLToPath(new URL("packed-reader.mjs", EXAMPLES));
const SCRIPT_PROGRAM = fileURLToPath(new URL("packed-lookup.mjs", EXAMPLES));
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** Says of each file whether the reader refuses it. */
const REFUSED_BY_PYTHON = `
import sys
import packed_reader
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        data = file.read()
    try:
        packed_reader.PackedMap(data)
        print("read")
    except Exception:
        print("refused")
`;
import { cases } from "../support/cases.ts";

interface ExampleReader {
  readonly openPacked: (bytes: Uint8Array | ArrayBuffer) => {
    lookup(key: string): { present: boolean; name?: string };
  };
}
const { openPacked } = (await import(SCRIPT_READER)) as ExampleReader;

function answerLine(key: string, present: boolean, name?: string): string {
  return `${key} ${present ? "present" : "absent"} ${name ?? "-"}`;
}

/** What the library says, in the words of the examples. */
async function expectedLines(map: PackedLookup, keys: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const key of keys) {
    const { present, key: name } = await map.lookupSurt(key);
    lines.push(answerLine(key, present, name));
  }
  return lines;
}

function scriptLines(file: Uint8Array, keys: readonly string[]): string[] {
  const map = openPacked(file);
  return keys.map((key) => {
    const { present, name } = map.lookup(key);
    return answerLine(key, present, name);
  });
}

function processLines(command: readonly [string, string], file: string, input: string): string[] {
  const { stdout, stderr, status } = spawnSync(command[0], [command[1], file], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  expect([stderr, status]).toEqual(["", 0]);
  return stdout.split("\n").slice(0, -1);
}

async function pack(text: string, options: Partial<PackOptions>): Promise<Uint8Array | undefined> {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, text);
  try {
    return (await packMap(path, { streams: { stdin: process.stdin }, ...options })).file;
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_EMPTY") return undefined;
    throw error;
  }
}

interface Kinds {
  readonly queries: boolean;
  readonly wildcards: boolean;
  readonly voids: boolean;
}

/** A key of a host, page or folder of a made-up archive. */
function randomKey(random: Random, { queries, wildcards }: Kinds): string {
  const labels = Array.from({ length: 1 + random.below(3) }, () => `h${random.below(12)}`);
  const host = ["com", ...labels].join(",");
  const path = Array.from({ length: random.below(10) }, () => `/s${random.below(6)}`).join("");
  const query = queries && random.chance(0.5) ? `?q=${random.below(9)}` : "";
  const page = `${host})${path || "/"}${query}`;
  if (!wildcards || random.chance(0.7)) return random.chance(0.02) ? `dns:${host}${query}` : page;
  const kinds = [`${host})${path}/*`, `${host},*`, `${host},*)${path || "/"}${query}`];
  if (queries) kinds.push(`${host})${path || "/"}?*`, `${host},*)${path || "/"}?*`);
  return random.pick(kinds);
}

function askedOf(random: Random, kinds: Kinds): string[] {
  return Array.from({ length: 4000 }, () => randomKey(random, { ...kinds, wildcards: false }));
}

function randomMap(random: Random, kinds: Kinds): string {
  const keys = new Set(Array.from({ length: 4000 }, () => randomKey(random, kinds)));
  const rows = [...keys]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((key) => {
      const isVoid = kinds.voids && random.chance(0.2);
      return `${key} ${isVoid ? 0 : 1 + random.below(2 ** random.below(20))}\n`;
    });
  const more = kinds.queries ? ',"queries":true' : "";
  return `!fields {"keys":["surt"],"values":["frequency"]${more}}\n${rows.join("")}`;
}

const MAPS: readonly (readonly [string, Kinds, Partial<PackOptions>])[] = [
  ["pages", { queries: false, wildcards: false, voids: false }, { bits: 9 }],
  ["pages and voids", { queries: false, wildcards: false, voids: true }, { bits: 7.375 }],
  ["wildcards", { queries: false, wildcards: true, voids: false }, { bits: 5.125 }],
  ["queries", { queries: true, wildcards: true, voids: false }, { bits: 6.5 }],
  ["queries and voids", { queries: true, wildcards: true, voids: true }, { bits: 8 }],
  ["no table", { queries: false, wildcards: true, voids: false }, { maxBytes: 1500 }],
  ["no table, with queries", { queries: true, wildcards: true, voids: false }, { maxBytes: 1000 }],
  ["wildcards and voids", { queries: false, wildcards: true, voids: true }, { bits: 4.5 }],
];

describe("the example readers answer as the library does", () => {
  it.each(MAPS)("for a map with %s", async (name, kinds, options) => {
    const random = new Random(7, name);
    const file = (await pack(randomMap(random, kinds), options)) ?? new Uint8Array();
    const map = PackedLookup.of(file, "memory");
    expect(map.header.table.fingerprint === 0).toBe(name.startsWith("no table"));
    const asked = askedOf(random, kinds);
    const expected = await expectedLines(map, asked);
    expect(scriptLines(file, asked)).toEqual(expected);
    expect(expected.some((line) => line.includes(" absent "))).toBe(true);
    expect(expected.some((line) => line.includes(" present "))).toBe(true);
  });

  it.skipIf(!hasPython).each(MAPS)(
    "for a map with %s, in Python (skipped without python3)",
    async (name, kinds, options) => {
      const random = new Random(8, name);
      const file = (await pack(randomMap(random, kinds), options)) ?? new Uint8Array();
      const path = join(scratchDir(), "map.packed");
      writeFileSync(path, file);
      const asked = askedOf(random, kinds);
      const expected = await expectedLines(PackedLookup.of(file, "memory"), asked);
      expect(processLines(["python3", PYTHON_PROGRAM], path, asked.join("\n"))).toEqual(expected);
    },
    30_000,
  );

  it("for all that the format allows", async () => {
    const sizes = fc.constantFrom({}, { bits: 3.25 }, { bits: 0 }, { bits: 12 }, { maxBytes: 900 });
    await fc.assert(
      fc.asyncProperty(anyMap, questions, sizes, async ({ text }, asked, options) => {
        const file = await pack(text, options).catch((error: unknown) => {
          if (isMementoMapError(error) && error.code === "MM_BUDGET") return undefined;
          throw error;
        });
        if (file === undefined) return;
        const map = PackedLookup.of(file, "memory");
        const { queries } = map.header;
        const keys = asked.map(([surt]) => surtKey(surt, { queries }));
        expect(scriptLines(file, keys)).toEqual(await expectedLines(map, keys));
      }),
      { numRuns: cases(200) },
    );
  });

  it("for home pages without a slash, and from an ArrayBuffer", async () => {
    const fields = '!fields {"keys":["surt"],"values":["frequency"],"queries":true}\n';
    const text = `${fields}com,a)/?x=1 1\ncom,b)/ 1\n`;
    const file = (await pack(text, { bits: 16 })) ?? new Uint8Array();
    const keys = ["com,a)?x=1", "com,a)?x=2", "com,b)?", "com,b)", "com,b)?x=1"];
    const expected = [true, false, true, true, false];
    const reader = openPacked(file.slice().buffer);
    expect(keys.map((key) => reader.lookup(key).present)).toEqual(expected);
    const map = PackedLookup.of(file, "memory");
    const answers = await Promise.all(keys.map((key) => map.lookupSurt(key)));
    expect(answers.map(({ present }) => present)).toEqual(expected);
    if (!hasPython) return;
    const path = join(scratchDir(), "map.packed");
    writeFileSync(path, file);
    const lines = processLines(["python3", PYTHON_PROGRAM], path, keys.join("\n"));
    expect(lines.map((line) => line.includes(" present "))).toEqual(expected);
  });

  it("as programs, too, and refuse what is damaged", async () => {
    const text = "com,a)/ 5\ncom,a)/b 1\n";
    const file = (await pack(text, { bits: 16 })) ?? new Uint8Array();
    const path = join(scratchDir(), "map.packed");
    writeFileSync(path, file);
    const lines = processLines([process.execPath, SCRIPT_PROGRAM], path, "com,a)/b\ncom,a)/c\n");
    expect(lines).toEqual(["com,a)/b present com,a)/b", "com,a)/c absent -"]);
    for (let at = 0; at < file.length; at++) {
      const damaged = file.slice();
      damaged[at] ^= 1 << (at % 8);
      expect(() => openPacked(damaged), `byte ${at}`).toThrow(Error);
      expect(() => PackedLookup.of(damaged, "memory"), `byte ${at}`).toThrow(MementoMapError);
    }
  });
});

describe("the example readers are short", () => {
  it.each([
    [SCRIPT_READER, 150],
    [PYTHON_READER, 165],
  ])("%s", (path, most) => {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(most);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });
});

describe("the example readers refuse what section 9 tells them to", () => {
  it.each(FAULTY_PACKED)("where %s", (_, file) => {
    expect(() => openPacked(file)).toThrow(Error);
    expect(() => openPacked(rewritten(() => ({})))).not.toThrow();
  });

  it.skipIf(!hasPython)("in Python, too (skipped without python3)", () => {
    const sound = rewritten(() => ({}));
    const directory = scratchDir();
    const files = [...FAULTY_PACKED.map(([, file]) => file), sound].map((file, i) => {
      const path = join(directory, `${i}.packed`);
      writeFileSync(path, file);
      return path;
    });
    const { stdout } = spawnSync("python3", ["-B", "-c", REFUSED_BY_PYTHON, ...files], {
      cwd: fileURLToPath(EXAMPLES),
      encoding: "utf8",
    });
    const expected = [...FAULTY_PACKED.map(([what]) => `${what}: refused`), "sound: read"];
    const names = [...FAULTY_PACKED.map(([what]) => what), "sound"];
    const answers = stdout.trimEnd().split("\n");
    expect(names.map((name, i) => `${name}: ${answers[i]}`)).toEqual(expected);
  });
});

/** What is packed in docs/packed.md. */
const FOUR_ROWS = ["com,a)/ 5", "com,a)/b 1", "com,c)/ 2", "com,c)/d/e 3"];

describe("docs/packed.md", () => {
  const page = readFileSync(new URL("../../docs/packed.md", import.meta.url), "utf8");

  it("has the hashes of names", () => {
    const rows = [
      ...page.matchAll(/^\| `([^`]*)` \| `(\w{8})` \| `(\w{8})` \| `(\w{8})` \| (\d) \|/gm),
    ];
    expect(rows.length).toBeGreaterThan(4);
    for (const [, name = "", ...expected] of rows) {
      const bytes = new TextEncoder().encode(name);
      const { low, high } = new NameHash().extend(bytes, 0, bytes.length).finish();
      const own = [low, high, fingerprint(low, high) >>> 0].map((n) =>
        n.toString(16).padStart(8, "0"),
      );
      expect([name, ...own, String(eighth(high))]).toEqual([name, ...expected]);
    }
  });

  it("has a file, and what it answers", async () => {
    const [, base64 = ""] = /```base64\n([^`]*)```/.exec(page) ?? [];
    const [, answers = ""] = /```answers\n([^`]*)```/.exec(page) ?? [];
    const file = Uint8Array.from(Buffer.from(base64, "base64"));
    const lines = answers.trimEnd().split("\n");
    const keys = lines.map((line) => line.replace(/ .*/, ""));
    expect(lines.length).toBeGreaterThan(4);
    expect(await expectedLines(PackedLookup.of(file, "memory"), keys)).toEqual(lines);
    expect(scriptLines(file, keys)).toEqual(lines);
    const map = ['!id {"uri":"https://archive.example/"}', ...FOUR_ROWS];
    for (const row of FOUR_ROWS) expect(page).toContain(`\`${row}\``);
    expect(await packedBytes(`${map.join("\n")}\n`, { bits: 6.5 })).toEqual(file);
  });
});
