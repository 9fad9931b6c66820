import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isMementoMapError } from "../../src/errors.ts";
import { lineBatches, type LineOptions } from "../../src/bytes/lines.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Line {
  readonly text: string;
  readonly number: number;
  readonly isTerminated: boolean;
}

async function linesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options?: LineOptions,
): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const batch of lineBatches(chunks, options)) {
    for (let i = 0; i < batch.count; i++) {
      lines.push({
        text: decoder.decode(batch.bytes.subarray(batch.starts[i], batch.ends[i])),
        number: batch.firstLine + i,
        isTerminated: batch.isTerminated,
      });
    }
  }
  return lines;
}

/** Cuts a text at the given places, in any order and possibly twice, so that chunks may be empty. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length];
  cuts.sort((a, b) => a - b);
  return cuts.slice(1).map((cut, index) => bytes.slice(cuts[index], cut));
}

async function* arriving(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** What lines are, said with strings. */
function expectedLines(text: string): Line[] {
  const parts = text.split("\n");
  const last = parts.pop();
  const lines = parts.map((part) => ({ part, isTerminated: true }));
  if (last !== undefined && last !== "") lines.push({ part: last, isTerminated: false });
  return lines.map(({ part, isTerminated }, index) => ({
    text: part.replace(/\r$/, ""),
    number: index + 1,
    isTerminated,
  }));
}

const text = fc
  .array(fc.constantFrom("a", "bc", "é", " ", "\r", "\n", "\r\n", "\n\n"), { maxLength: 30 })
  .map((parts) => parts.join(""));

describe("lineBatches", () => {
  it("gives the same lines however the input is cut", async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 12 }), async (input, places) => {
        const chunks = cutAt(encoder.encode(input), places);
        expect(await linesOf(chunks)).toEqual(expectedLines(input));
      }),
      { numRuns: 1000 },
    );
  });

  it("applies the limit however the input is cut", async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 6 }), async (input, places) => {
        const tooLong = expectedLines(input).find((line) => encoder.encode(line.text).length > 4);
        const chunks = cutAt(encoder.encode(input), places);
        const fault = await linesOf(chunks, { maxLineBytes: 4 }).then(
          () => undefined,
          (error: unknown) => (isMementoMapError(error) ? error.describe() : error),
        );
        expect(fault).toBe(
          tooLong && `input:${tooLong.number}: the line is longer than 4 bytes [MM_LIMIT]`,
        );
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["", []],
    ["\n", [""]],
    ["one", ["one"]],
    ["one\n", ["one"]],
    ["one\r", ["one"]],
    ["\r\n\r\n", ["", ""]],
    ["a\r\r\n", ["a\r"]],
  ])("reads %j", async (input, expected) => {
    const lines = await linesOf([encoder.encode(input)]);
    expect(lines.map((line) => line.text)).toEqual(expected);
  });

  it("reads asynchronous chunks, more lines than it made room for, and where CRs are", async () => {
    let count = 0;
    for await (const batch of lineBatches(arriving(encoder.encode("x\r\n".repeat(5000))))) {
      count += batch.count;
      expect(batch.bytes[batch.ends[batch.count - 1]]).toBe(0x0d);
    }
    expect(count).toBe(5000);
  });

  it("reads a line of 2 MB in small chunks, if allowed to", async () => {
    const chunk = encoder.encode("x".repeat(50_000));
    const chunks = Array.from({ length: 40 }, () => chunk);
    const [line] = await linesOf(chunks, { maxLineBytes: 2_000_000 });
    expect(line?.text).toHaveLength(2_000_000);
    await expect(linesOf(chunks, { source: "big.txt" })).rejects.toMatchObject({
      code: "MM_LIMIT",
      position: { source: "big.txt", line: 1 },
    });
  });
});
