import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markLength } from "../../src/bytes/bytes.ts";
import { withoutMark } from "../../src/bytes/peek.ts";
import { chunked } from "../support/chunked.ts";

async function without(text: string, cut: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of withoutMark(chunked(Buffer.from(text), [cut]))) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("the byte order mark", () => {
  it("is taken from the start of a text, and from nowhere else, wherever chunks end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("\uFEFF", "a", "\n", "\u00ef")),
        fc.integer({ min: 1, max: 8 }),
        async (parts, cut) => {
          const text = parts.join("");
          const bytes = text.startsWith("\uFEFF") ? 3 : 0;
          expect(markLength(Buffer.from(text))).toBe(bytes);
          expect(await without(text, cut)).toBe(Buffer.from(text).subarray(bytes).toString());
        },
      ),
    );
  });
});
