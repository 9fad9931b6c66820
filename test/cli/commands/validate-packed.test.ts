import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../../src/bytes/byte-source.ts";
import { isMementoMapError } from "../../../src/errors.ts";
import { checkPacked } from "../../../src/packed/read-packed.ts";
import { formatHead, parseHead } from "../../../src/packed/packed-file.ts";
import { packedBytes } from "../../support/packed-file.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

function fileWith(bytes: Uint8Array): string {
  const path = join(scratchDir(), "map.packed");
  writeFileSync(path, bytes);
  return path;
}

async function codeOf(bytes: Uint8Array): Promise<string> {
  try {
    await checkPacked(new MemorySource(bytes, "a.packed"));
    return "sound";
  } catch (error) {
    if (isMementoMapError(error) && error.position?.source === "a.packed") return error.code;
    throw error;
  }
}

describe("validate, of packed maps", () => {
  it("says what a sound one has", async () => {
    const bytes = await packedBytes();
    const path = fileWith(bytes);
    const { code, stdout, stderr } = await runCli(["validate", path]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/map\.packed: a packed map, \d+ rows?, \d+ hosts?, 1 void, [\d.]+ kB/);
    expect(stderr).toMatch(/0 errors, 0 warnings\n$/);
    const json = await runCli(["validate", "--json", path]);
    expect(JSON.parse(json.stderr)).toMatchObject({
      errors: 0,
      packed: [{ source: path, bytes: bytes.length }],
    });
  });

  it("takes one that is compressed, or comes from standard input", async () => {
    const file = await packedBytes();
    const zipped = await runCli(["validate", fileWith(gzipSync(file))]);
    expect([zipped.code, zipped.stderr]).toEqual([0, expect.stringContaining("a packed map, ")]);
    const piped = await runCli(["validate"], { stdin: Buffer.from(file) });
    expect([piped.code, piped.stderr]).toEqual([0, expect.stringContaining("a packed map, ")]);
    const damaged = file.slice();
    damaged[file.length - 1] ^= 1;
    const refused = await runCli(["validate"], { stdin: Buffer.from(damaged) });
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/damaged: shard \d/)]);
  });

  it("checks an archive that publishes nothing else", async () => {
    const site = await serving(await packedBytes());
    const { code, stdout } = await runCli(["validate", "--url", site.url]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("error:");
    expect(stdout).toMatch(/^ok: the map has \d+ bytes and no fault \[P2\]$/m);
    expect(stdout).toMatch(/^warning: !id is https:\/\/archive.example.org\/.* \[P3\]$/m);
    for (const rule of ["P9", "P10", "P15"]) {
      expect(stdout).toMatch(new RegExp(`^skipped: a packed map .* \\[${rule}\\]$`, "m"));
    }
  });

  it("names the damaged part, with status 1", async () => {
    const bytes = await packedBytes();
    const { dataStart } = parseHead(bytes, bytes.length, "");
    const flipped = (at: number): Uint8Array => {
      const copy = bytes.slice();
      copy[at] ^= 4;
      return copy;
    };
    const cases: readonly (readonly [Uint8Array, RegExp])[] = [
      [bytes.subarray(0, bytes.length - 1), /cut short.* \[cut\]/],
      [bytes.subarray(0, 20), /cut short.* \[cut\]/],
      [flipped(8), /version 5; this program reads 1 \[damaged\]/],
      [flipped(40), /damaged: header; .* \[damaged\]/],
      [flipped(dataStart), /damaged: shard 0; .* \[damaged\]/],
      [flipped(bytes.length - 1), /damaged: shard \d+; .* \[damaged\]/],
      [Buffer.concat([bytes, bytes.subarray(0, 4)]), /damaged: end/],
    ];
    for (const [damaged, message] of cases) {
      const path = fileWith(damaged);
      const { code, stdout, stderr } = await runCli(["validate", path]);
      expect(code).toBe(1);
      expect(stdout).toMatch(message);
      expect(stdout.startsWith(`${path}: error: `)).toBe(true);
      expect(stderr).toBe("1 error, 0 warnings\n");
    }
    const json = await runCli(["validate", "--json", "-q", fileWith(flipped(dataStart))]);
    expect(JSON.parse(json.stdout)).toMatchObject({ line: null, severity: "error" });
    expect(json.stderr).toBe("");
  });

  it("notices every flipped bit and every cut", async () => {
    const bytes = await packedBytes();
    for (let bit = 64; bit < bytes.length * 8; bit++) {
      const copy = bytes.slice();
      copy[bit >> 3] ^= 1 << (bit & 7);
      expect([bit, await codeOf(copy)]).not.toEqual([bit, "sound"]);
    }
    for (let length = 8; length < bytes.length; length++) {
      expect([length, await codeOf(bytes.subarray(0, length))]).toEqual([length, "MM_CUT"]);
    }
  });

  it("notices another file's shard in the place of its own", async () => {
    const [own, other] = await Promise.all(
      ["a", "b"].map((name) => packedBytes(`${EXAMPLE_MAP}uk,co,cnn)/ 1\nuk,co,cnn)/${name} 3\n`)),
    );
    const { dataStart } = parseHead(own, own.length, "");
    expect(other.length).toBe(own.length);
    const mixed = own.slice();
    mixed.set(other.subarray(dataStart), dataStart);
    expect(await codeOf(mixed)).toBe("MM_BAD_INPUT");
  });

  it("refuses a header that lacks what lookups need, whatever its checksum", async () => {
    const bytes = await packedBytes();
    const { header, descriptors, shards, voids, dataStart } = parseHead(bytes, bytes.length, "");
    const withHeader = (members: object, kept = descriptors): Uint8Array =>
      Buffer.concat([
        formatHead({ ...header, ...members }, kept, shards, voids),
        bytes.subarray(dataStart),
      ]);
    expect(await codeOf(withHeader({}))).toBe("sound");
    for (const members of [
      { filters: undefined },
      { filters: [{ kind: "rows", bits: 8, shards: 0 }, ...header.filters] },
      { table: {} },
      { headers: [null] },
      { headers: [{ name: "meta", value: 3 }] },
      { rows: "many" },
    ]) {
      expect(await codeOf(withHeader(members))).toBe("MM_BAD_INPUT");
    }
    expect(await codeOf(withHeader({}, []))).toBe("MM_BAD_INPUT");
  });
});

describe("commands that need rows", () => {
  it("refuse a packed map by name", async () => {
    const folder = scratchDir();
    const packed = join(folder, "map.packed");
    const text = join(folder, "map.ukvs");
    const output = join(folder, "out.ukvs");
    writeFileSync(packed, await packedBytes());
    writeFileSync(text, EXAMPLE_MAP);
    const index = join(folder, "index.cdxj");
    writeFileSync(index, 'org,example)/ 20200101000000 {"url":"https://example.org/"}\n');
    const commands = [
      ["merge", packed, "-o", output],
      ["merge", text, packed, "-o", output],
      ["compact", packed, "-o", output],
      ["compact", packed, "--max-lines", "10", "-o", output],
      ["split", packed, "--pages", "2", "-o", join(folder, "pages")],
      ["diff", text, packed],
      ["diff", packed, text],
      ["generate", index, "--add", packed, "-o", output],
      ["fit", packed],
      ["pack", packed, "-o", join(folder, "again.packed")],
    ];
    for (const command of commands) {
      const { code, stderr } = await runCli(command);
      expect([command, code, stderr]).toEqual([
        command,
        2,
        expect.stringMatching(/map\.packed.*packed map, which has no rows/),
      ]);
    }
  });
});
