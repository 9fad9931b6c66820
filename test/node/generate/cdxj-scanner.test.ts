import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The kernel exists only in the build.
import { CdxjScanner } from "../../../dist/node/generate/cdxj-scanner.js";
import { IndexReader } from "../../../src/generate/index-reader.ts";
import type { KeyRunScanner } from "../../../src/generate/key-run-scanner.ts";
import { KeyTable } from "../../../src/generate/key-table.ts";

const OPTIONS = {
  originals: false,
  datetimeDigits: 0,
  filter: {},
  skipBad: true,
  maxLineBytes: 300,
  checkKeys: true,
};

/** Counts lines, read from a buffer of the test's or the scanner's own. */
function count(
  lines: string,
  scanner: (KeyRunScanner & { readonly buffer?: Buffer }) | undefined,
  isInPlace: boolean,
): { keys: Record<string, number>; counts: unknown } {
  const keys: Record<string, number> = {};
  const table = new KeyTable(1 << 20);
  const drain = (): void => {
    table.drain((sorted) => {
      sorted.forEach((arena, start, end, lineCount) => {
        const key = Buffer.from(arena.subarray(start, end)).toString("latin1");
        keys[key] = (keys[key] ?? 0) + lineCount;
      });
    });
  };
  const reader = new IndexReader(OPTIONS, table, drain, scanner);
  reader.startPart({ name: "cdxj" });
  const given = Buffer.from(lines, "latin1");
  const bytes = isInPlace && scanner?.buffer !== undefined ? scanner.buffer : given;
  if (bytes !== given) given.copy(bytes);
  reader.readLines(bytes, 0, given.length);
  drain();
  return { keys, counts: reader.counts };
}

const key = fc.oneof(
  {
    weight: 10,
    arbitrary: fc
      .tuple(
        fc.constantFrom("com,a", "com,a,b", "com,a:80", "org,longer-name", "dns", "metadata"),
        fc.constantFrom(
          "/",
          "/x",
          "/x/",
          "/x//",
          "/x/y",
          "/x0",
          "/x-y",
          "/(z)",
          "/a/very/long/path/with/parts",
        ),
        fc.constantFrom("", "", "?q=1", "?q=2", "?"),
      )
      .map(([host, path, query]) => `${host})${path}${query}`),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "com,a)",
      "com,a)/*",
      "com,a)/x*",
      "dns:a.com",
      "warcinfo:x",
      "example.com/x",
      "com,a)/\u007f",
      "com,a)/\u00e9",
      '"x',
      "{x",
      ")/x",
      "!x",
    ),
  },
);
const tail = fc.constantFrom(
  ' 20200101000000 {"url": "http://a.com/"}',
  ' 20200101000000 {"url":"https://a.com/"}',
  ' 20200101000000 {"url": "dns:a.com"}',
  ' 20200101000000 {"mime": "text/html"}',
  ' 20200101000000 {"url": "http://a.com/r", "mime": "warc/revisit", "status": "200"}',
  ' 20200101000000 {"mime":"warc\\/revisit"}',
  ' 20200101000000 {"url": "http://a.com/warc/revisit", "mime": "xwarc/revisit"}',
  ' 20200101000000 {"mime": "warc/revisited"}',
  ' 20200101000000 {"mime": "warc/revisit',
  " 2020 {}",
  " 202 {}",
  " 20200101000000",
  "  20200101000000 {}",
  "\t20200101000000 {}",
  " 20200101000000000000 {}",
  "",
  ` 20200101000000 {"x": "${"y".repeat(300)}"}`,
);
const line = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(key, tail).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.constantFrom("", "!meta {}", "@id x") },
);
const plainTail = fc.constant(' 20200101000000 {"url": "http://a.com/"}');
const file = fc
  .array(
    fc.oneof(
      line,
      fc.tuple(key, plainTail).map((parts) => parts.join("")),
    ),
    { maxLength: 60 },
  )
  .chain((lines) =>
    fc.constantFrom("\n", "\r\n").map((end) => lines.map((text) => text + end).join("")),
  );

describe("the CDXJ scanner", () => {
  const scanner = CdxjScanner.open(1 << 16, OPTIONS.maxLineBytes);

  it("is built", () => {
    expect(scanner).toBeDefined();
  });

  it("changes nothing but the speed", () => {
    fc.assert(
      fc.property(file, fc.boolean(), fc.boolean(), (text, isInPlace, isCut) => {
        const lines = isCut ? text.replace(/\r?\n$/, "") : text;
        expect(count(lines, scanner, isInPlace)).toEqual(count(lines, undefined, false));
      }),
      { numRuns: 3000 },
    );
  });

  it("takes more lines than its table has runs, and more bytes than its buffer", () => {
    const lines = Array.from(
      { length: 9000 },
      (_, i) => `com,a)/${String(i).padStart(5, "0")} 20200101000000 {"url": "http://a.com/"}\n`,
    ).join("");
    expect(count(lines, scanner, false)).toEqual(count(lines, undefined, false));
  });
});
