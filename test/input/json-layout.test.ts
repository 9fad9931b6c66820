import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Capture } from "../../src/input/capture.ts";
import { CdxjParser } from "../../src/input/cdxj.ts";

const member = fc.tuple(
  fc.constantFrom("url", "original", "mime", "status", "digest", "x"),
  fc.oneof(
    fc.constantFrom("200", "text/html", 'a"b', "a\\b", "", "http://a.com/é?x"),
    fc.constantFrom(200, null, true),
    fc.constant({ status: "404" }),
  ),
);
const block = fc
  .tuple(fc.array(member, { maxLength: 5 }), fc.constantFrom("", " "), fc.boolean())
  .map(([members, blank, isCut]) => {
    const pairs = members.map(([name, value]) => `"${name}":${blank}${JSON.stringify(value)}`);
    const text = `{${pairs.join(`,${blank}`)}}`;
    return isCut && members.length > 3 ? text.slice(0, -9) : text;
  });

/** What a parser makes of a row, as text. */
function read(parser: CdxjParser, row: string): string {
  const bytes = new TextEncoder().encode(row);
  const capture = new Capture();
  const kind = parser.parse(bytes, 0, bytes.length, capture);
  const part = (start: number, end: number): string =>
    start === -1 ? "none" : Buffer.from(bytes.subarray(start, end)).toString();
  return JSON.stringify([
    kind,
    capture.fault,
    part(capture.uriStart, capture.uriEnd),
    part(capture.statusStart, capture.statusEnd),
    part(capture.mimeStart, capture.mimeEnd),
    capture.hasEscapes,
  ]);
}

describe("the layout of the row before", () => {
  it("changes nothing about what a row says", () => {
    fc.assert(
      fc.property(
        // Few blocks, so that neighbours often have the same layout.
        fc.array(block, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 30 }),
        fc.record({ uri: fc.boolean(), status: fc.boolean(), mime: fc.boolean() }),
        fc.boolean(),
        (blocks, order, needs, keyedByUri) => {
          const reused = new CdxjParser(needs, keyedByUri);
          for (const i of order) {
            const row = `com,a)/ 20140101000000 ${blocks[i % blocks.length]}`;
            expect(read(reused, row)).toBe(read(new CdxjParser(needs, keyedByUri), row));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
