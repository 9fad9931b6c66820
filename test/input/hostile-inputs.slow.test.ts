import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { isChunk, newDamageLog } from "../../src/bytes/damage.ts";
import { warcRows } from "../../src/input/warc.ts";
import { soundMembers } from "../../src/files/gzip-members.ts";
import { chunked } from "../support/chunked.ts";
import { cpuTime } from "../support/cpu-time.ts";

const CHUNK_BYTES = 1 << 16;
/** Four times the input may take this many times the work; quadratic work would take 16 times. */
const LINEAR = 9;

async function drain(parts: AsyncIterable<object | string>): Promise<number> {
  let bytes = 0;
  for await (const part of parts)
    if (typeof part === "object" && isChunk(part)) bytes += part.length;
  return bytes;
}

/** How many times the work four times the input takes. */
async function growth(count: number, work: (count: number) => Promise<unknown>): Promise<number> {
  await work(count);
  const once = await cpuTime(() => work(count));
  const fourTimes = await cpuTime(() => work(4 * count));
  // Short times are mostly those of the runtime.
  return fourTimes / Math.max(once, 50);
}

/** Text that takes some hundred bytes when it is compressed, as the smallest records do. */
function text(i: number): string {
  return Array.from({ length: 60 }, (_, n) => Math.sin(i * 60 + n).toString(36)).join("\n");
}

/** The start of a gzip member whose data is one stored block of 65,535 bytes. */
const FALSE_HEAD = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0, 0xff, 0xff, 0, 0);

describe("inputs that were made to take long", () => {
  it("reads records that state false lengths in linear time", async () => {
    const record = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9000000\r\n\r\nx\r\n\r\n";
    const times = await growth(10_000, async (count) => {
      const damage = newDamageLog();
      await drain(
        warcRows(chunked(Buffer.from(record.repeat(count)), [CHUNK_BYTES]), {
          source: "x",
          maxLineBytes: 1 << 20,
          damage,
        }),
      );
      expect(damage.places).toBe(count);
    });
    expect(times).toBeLessThan(LINEAR);
  });

  it("reads a line that comes in very small pieces in linear time", async () => {
    const times = await growth(60_000, async (count) => {
      const line = Buffer.from(`WARC/1.0\r\nx: ${"y".repeat(count)}\r\nContent-Length: 0\r\n\r\n`);
      await drain(
        warcRows(chunked(line, [1]), {
          source: "x",
          maxLineBytes: 1 << 20,
          damage: newDamageLog(),
        }),
      );
    });
    expect(times).toBeLessThan(LINEAR);
  });

  it("passes over false starts of gzip members in linear time, and finds what comes behind", async () => {
    const member = gzipSync("the end\n");
    const times = await growth(20_000, async (count) => {
      const heads = Array.from({ length: count }, () => FALSE_HEAD);
      const bytes = Buffer.concat([...heads, Buffer.alloc(1 << 21, 1), member]);
      const damage = newDamageLog();
      const given = await drain(soundMembers(chunked(bytes, [CHUNK_BYTES]), "x", damage));
      expect(given).toBeGreaterThanOrEqual("the end\n".length);
    });
    expect(times).toBeLessThan(LINEAR);
  });

  it("looks for members near the end of a file without copying it each time", async () => {
    const broken = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff);
    const times = await growth(10_000, async (count) => {
      const bytes = Buffer.concat(Array.from({ length: count }, () => broken));
      await drain(soundMembers(chunked(bytes, [CHUNK_BYTES]), "x", newDamageLog()));
    });
    expect(times).toBeLessThan(LINEAR);
  });

  it("finds every member behind ordinary damage", async () => {
    const members = Array.from({ length: 2000 }, (_, i) => gzipSync(text(i)));
    for (const [i, member] of members.entries()) if (i % 2 === 1) member[member.length - 6] ^= 1;
    const damage = newDamageLog();
    await drain(soundMembers(chunked(Buffer.concat(members), [CHUNK_BYTES]), "x", damage));
    expect(damage.places).toBe(1000);
  });
});
