import { randomBytes } from "node:crypto";
import { crc32, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatNamed, rowSource } from "../../src/input/formats.ts";
import { linesOf as readBlocks } from "../../src/input/stream-lines.ts";
import type { DamageLog } from "../../src/bytes/damage.ts";
import { addDamage, newDamageLog } from "../../src/bytes/damage.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { rowTexts } from "../support/batch-text.ts";
import { chunked, collected } from "../support/chunked.ts";
import { cases } from "../support/cases.ts";

/** What is read of a file of lines, passing over what is damaged. */
async function readLines(
  file: Uint8Array,
  lengths: readonly number[] = [1 << 16],
): Promise<{ lines: string[]; damage: DamageLog }> {
  const damage = newDamageLog();
  const options = { source: "x.gz", maxLineBytes: 1 << 20, damage };
  const chunks = decompressed(chunked(file, lengths), options);
  const text = Buffer.from(
    await collected(readBlocks(chunks, formatNamed("surts"), options)),
  ).toString("latin1");
  return { lines: text.split("\n").filter((line) => line !== ""), damage };
}

/** Lines that nobody could take for those of another member. */
function linesOf(member: number, count: number, more = ""): string[] {
  const name = ["alpha", "bravo", "carol", "delta", "eagle", "frost", "giant", "honey"][member];
  return Array.from({ length: count }, (_, i) => `com,${name})/${i * i}${more}`);
}

function gzipLines(lines: readonly string[]): Buffer {
  return gzipSync(lines.map((line) => `${line}\n`).join(""));
}

type Harm = "flip" | "remove" | "zeros" | "noise";

/** Harms a member between two places, given as shares of it, except for its first and last bytes. */
function harmed(member: Buffer, harm: Harm, [a, b]: readonly number[], kept: number): Buffer {
  const from = kept + Math.floor(Math.min(a, b) * (member.length - 3));
  const to = Math.min(member.length - 1, from + 1 + Math.floor(Math.abs(a - b) * member.length));
  if (harm === "remove") return Buffer.concat([member.subarray(0, from), member.subarray(to)]);
  const copy = Buffer.from(member);
  if (harm === "flip") copy[from] ^= 1 << Math.floor(b * 7.99);
  else if (harm === "zeros") copy.fill(0, from, to);
  else copy.set(randomBytes(to - from), from);
  return copy;
}

/** Without its first bytes a file is not a gzip file, and zeros at its end belong to no member. */
function keptOf(member: number, isLast: boolean): number {
  return member === 0 ? 2 : isLast ? 1 : 0;
}

/** The lines of all members but the bad one; a byte of its header may be wrong without any harm. */
function expectedOf(all: readonly string[][], bad: number, { places }: DamageLog): string[] {
  return all.flatMap((own, i) => (i === bad && places > 0 ? [] : own));
}

/** All lines; but of the last member, if it has no end because the file has none, some may be there. */
function compared(
  lines: string[],
  all: readonly string[][],
  bad: number,
  log: DamageLog,
): string[] {
  return bad === all.length - 1 ? lines.slice(0, expectedOf(all, bad, log).length) : lines;
}

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const lengths = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 3 });

describe("gzip members with damage among them", () => {
  it("are all read but the one that is harmed, wherever the file is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 2, maxLength: 8 }),
        share,
        fc.constantFrom<Harm>("flip", "remove", "zeros", "noise"),
        fc.tuple(share, share),
        lengths,
        async (counts, which, harm, where, chunkLengths) => {
          const all = counts.map((count, i) => linesOf(i, count));
          const bad = Math.floor(which * counts.length);
          const isLast = bad === counts.length - 1;
          const members = all.map(gzipLines);
          members[bad] = harmed(members[bad], harm, where, keptOf(bad, isLast));
          const { lines, damage } = await readLines(Buffer.concat(members), chunkLengths);
          expect(compared(lines, all, bad, damage)).toEqual(expectedOf(all, bad, damage));
          expect(damage.places).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: cases(300) },
    );
  });

  it("are all read but the one that is harmed where they are large", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 2, maxLength: 5 }),
        share,
        fc.constantFrom<Harm>("flip", "remove", "zeros", "noise"),
        fc.tuple(share, share),
        async (counts, which, harm, where) => {
          const noise = randomBytes(60).toString("base64url");
          const all = counts.map((count, i) =>
            linesOf(i, count).map((line) => line + Buffer.from(line + noise).toString("base64url")),
          );
          const bad = Math.floor(which * counts.length);
          const members: Buffer[] = all.map((own) => gzipSync(`${own.join("\n")}\n`, { level: 1 }));
          members[bad] = harmed(members[bad], harm, where, keptOf(bad, bad === counts.length - 1));
          const file = Buffer.concat(members);
          const { lines, damage } = await readLines(file);
          expect(compared(lines, all, bad, damage)).toEqual(expectedOf(all, bad, damage));
          for (const other of [[1 << 20], [777], [65_536, 1]]) {
            expect(await readLines(file, other)).toEqual({ lines, damage });
          }
        },
      ),
      { numRuns: cases(25) },
    );
  });

  it.each([30_000, 300_000])(
    "lose their rest if there is but one, and say so: %i lines",
    async (count) => {
      const own = Array.from({ length: count }, (_, i) => `com,a)/${i}-${(i * 7919) % 10_007}`);
      const file = gzipLines(own);
      const half = file.length >> 1;
      file.fill(0xff, half, half + 100);
      const { lines, damage } = await readLines(file);
      expect(lines.length).toBeGreaterThan(5000);
      expect(lines.slice(0, 5000)).toEqual(own.slice(0, 5000));
      expect(damage.places).toBe(1);
      expect(damage.first[0]?.message).toMatch(
        /^the gzip member at byte 0 is damaged, detected at byte \d+ \(.+\), and no readable one follows: the rest is lost$/,
      );
      expect(damage.bytes).toBeGreaterThan(half - 2 ** 17);
    },
  );

  it("are given up to the damage where they are too large to be held", async () => {
    const own = Array.from({ length: 50_000 }, (_, i) => `com,c)/${i}`.padEnd(60, "x"));
    const large = gzipSync(`${own.join("\n")}\n`, { level: 0 });
    // More than a block, and so the header of one, which cannot be all ones.
    large.fill(0xff, large.length >> 1, (large.length >> 1) + 70_000);
    const file = Buffer.concat([gzipLines(["com,a)/"]), large, gzipLines(["com,b)/"])]);
    const { lines, damage } = await readLines(file);
    expect(lines[0]).toBe("com,a)/");
    expect(lines.at(-1)).toBe("com,b)/");
    const given = Math.floor(own.length * 0.45);
    expect(lines.slice(1, given)).toEqual(own.slice(0, given - 1));
    expect(damage.places).toBe(1);
    expect(damage.bytes).toBeGreaterThan(large.length * 0.4);
    expect(await readLines(file, [5000])).toEqual({ lines, damage });
  });

  it.each([2000, 30_000])(
    "give what is there of a file that is cut off: %i lines",
    async (count) => {
      const own = Array.from({ length: count }, (_, i) => `com,a)/${i}-${(i * 7919) % 10_007}`);
      const whole = gzipLines(own);
      for (const length of [whole.length - 1, whole.length - 9, whole.length >> 1]) {
        const { lines, damage } = await readLines(whole.subarray(0, length), [1000]);
        expect(lines).toEqual(own.slice(0, lines.length));
        expect(lines.length / count).toBeGreaterThan((length / whole.length) * 0.8);
        expect(damage).toMatchObject({ places: 1, bytes: 0 });
        expect(damage.first[0]?.message).toBe("the file is truncated in the gzip member at byte 0");
      }
    },
  );

  it("never join a line that is cut to what comes behind", async () => {
    // Blocks that are cut without regard to lines, as bgzip writes them.
    const text = linesOf(0, 300).join("\n");
    const blocks = Array.from({ length: 10 }, (_, i) =>
      gzipSync(text.slice((i * text.length) / 10, ((i + 1) * text.length) / 10)),
    );
    blocks[5].fill(0xff, 20, 60);
    const { lines, damage } = await readLines(Buffer.concat(blocks), [50]);
    const all = new Set(text.split("\n"));
    expect(lines.filter((line) => !all.has(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(240);
    expect(damage).toMatchObject({ places: 1, cutLines: 2 });
  });

  it("may have something between them, or behind them", async () => {
    const [a, b] = [gzipLines(["com,a)/"]), gzipLines(["com,b)/"])];
    const zeros = Buffer.alloc(100_000);
    const text = Buffer.from("not found\u001f\u008b\u0008\0\0", "latin1");
    const cases: [Buffer[], number][] = [
      [[a, b, zeros], 0],
      [[a, zeros, b], 1],
      [[a, text, b], 1],
      [[a, b, text], 1],
      [[a, text, zeros, b, text], 2],
    ];
    for (const [parts, places] of cases) {
      const { lines, damage } = await readLines(Buffer.concat(parts), [999]);
      expect(lines).toEqual(["com,a)/", "com,b)/"]);
      expect(damage.places).toBe(places);
    }
    const { damage } = await readLines(Buffer.concat([a, text, b]));
    expect(damage.first).toEqual([
      {
        source: "x.gz",
        offset: a.length,
        bytes: text.length,
        message: `the gzip member at byte ${a.length} is damaged (no gzip header)`,
      },
    ]);
  });

  it("may have names, comments, extra fields and checksums in their headers", async () => {
    const member = gzipLines(["com,a)/"]);
    const fields = Buffer.from("\u0005\0extraa name\0a comment\0", "latin1");
    const head = Buffer.concat([
      Buffer.of(0x1f, 0x8b, 8, 2 + 4 + 8 + 16, 0, 0, 0, 0, 0, 3),
      fields,
    ]);
    const check = Buffer.alloc(2);
    check.writeUInt16LE(crc32(head) & 0xffff);
    const file = Buffer.concat([head, check, member.subarray(10), gzipLines(["com,b)/"])]);
    const sound = await readLines(file, [3]);
    expect(sound).toEqual({ lines: ["com,a)/", "com,b)/"], damage: newDamageLog() });
    file[14] ^= 1;
    const { lines, damage } = await readLines(file, [3]);
    expect(lines).toEqual(["com,b)/"]);
    expect(damage.places).toBe(1);
  });

  it("are read as without passing over anything where they are sound", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 2000 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 200_000 }),
        lengths,
        async (texts, repeated, chunkLengths) => {
          const parts = [...texts, randomBytes(repeated)];
          const file = Buffer.concat(parts.map((part) => gzipSync(part)));
          const damage = newDamageLog();
          const chunks = chunked(file, [...chunkLengths, 30_000]);
          const read = await collected(decompressed(chunks, { source: "x", damage }));
          expect(Buffer.compare(read, Buffer.concat(parts))).toBe(0);
          expect(damage).toEqual(newDamageLog());
        },
      ),
      { numRuns: cases(40) },
    );
  });

  it("may not grow beyond the limit", async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const options = { source: "x", maxDecompressedBytes: 5000, damage: newDamageLog() };
    const read = collected(decompressed(chunked(bomb, [100]), options));
    await expect(read).rejects.toMatchObject({ code: "MM_LIMIT" });
  });
});

describe("damage that is not skipped", () => {
  const read = async (
    file: Uint8Array,
    name: "timemap" | "json" | "memgator-log",
    damage: DamageLog = newDamageLog(),
  ) => {
    const options = { source: "x.gz", maxLineBytes: 1 << 20, damage };
    const rows = await rowSource(formatNamed(name));
    if (rows === undefined) throw new TypeError("a format without lines of its own");
    return rowTexts(rows(decompressed(chunked(file, [100]), options), options));
  };

  it.each(["timemap", "json", "memgator-log"] as const)(
    "is that of what makes no sense in part: %s",
    async (container) => {
      await expect(read(gzipSync("[[1], [2]]").subarray(0, -8), container)).rejects.toMatchObject({
        code: "MM_BAD_INPUT",
        message: expect.stringContaining("this format cannot be read in part"),
      });
    },
  );

  it("is named, and not that of another input", async () => {
    const damage = newDamageLog();
    addDamage(damage, { source: "other.gz", offset: 0, bytes: 1, message: "another file is cut" });
    const cut = gzipSync("[[1], [2]]").subarray(0, -8);
    await expect(read(cut, "json", damage)).rejects.toMatchObject({
      message: expect.stringContaining("the file is truncated in the gzip member at byte 0"),
    });
  });

  it("is that of zstd", async () => {
    const cut = Buffer.from("KLUv/QRYMQAAaGVs", "base64");
    await expect(readLines(cut)).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
  });
});
