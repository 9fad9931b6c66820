import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wholeLines } from "../../src/bytes/lines.ts";
import { chunked } from "../support/chunked.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\n"), maxLength: 60 });
const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });

async function groups(
  content: string,
  lengths: readonly number[],
  max?: number,
): Promise<string[]> {
  const found: string[] = [];
  for await (const group of wholeLines(chunked(Buffer.from(content), lengths), "file", max)) {
    found.push(Buffer.from(group).toString());
  }
  return found;
}

describe("wholeLines", () => {
  it("gives the same bytes in groups that end where lines end", async () => {
    await fc.assert(
      fc.asyncProperty(text, cuts, async (content, lengths) => {
        const found = await groups(content, lengths);
        expect(found.join("")).toBe(content);
        expect(found).not.toContain("");
        expect(found.slice(0, -1).filter((group) => !group.endsWith("\n"))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("takes a line as long as allowed, and none that is longer, across chunks", async () => {
    for (let cut = 1; cut < 11; cut++) {
      expect((await groups("aa\n1234567890\nb", [2, cut], 10)).join("")).toBe("aa\n1234567890\nb");
      expect((await groups("1234567890", [cut], 10)).join("")).toBe("1234567890");
      await expect(groups("aa\n12345678901\nb", [4, cut], 10)).rejects.toMatchObject({
        code: "MM_LIMIT",
        position: { source: "file" },
      });
    }
  });

  it("names the line that is too long, if it is told how many were taken", async () => {
    let taken = 0;
    const reading = async (): Promise<void> => {
      const chunks = chunked(Buffer.from("a\nb\n12345678901\n"), [3]);
      for await (const group of wholeLines(chunks, "file", 10, () => taken)) {
        taken += Buffer.from(group).toString().split("\n").length - 1;
      }
    };
    await expect(reading()).rejects.toMatchObject({ position: { source: "file", line: 3 } });
  });

  it("does not wait for the end of a line that is too long", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield Buffer.from("aaaa");
    }
    const reading = wholeLines(endless(), "file", 100)[Symbol.asyncIterator]();
    await expect(reading.next()).rejects.toMatchObject({ code: "MM_LIMIT" });
  });
});
