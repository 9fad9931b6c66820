import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
// The kernel exists only in the build.
import { CdxjScanner } from "../../../src/map/generate/cdxj-scanner.ts";
import { IndexReader } from "../../../src/map/generate/index-reader.ts";
import type { KeyRunScanner } from "../../../src/map/generate/key-run-scanner.ts";
import { KeyTable } from "../../../src/map/generate/key-table.ts";
import type { CaptureFilter } from "../../../src/input/filter.ts";
import { PAPER_PRESET } from "../../../src/input/filter.ts";

const OPTIONS = {
  originals: false,
  datetimeDigits: 0,
  skipBad: true,
  maxLineBytes: 300,
  checkKeys: true,
};

/** Counts lines, read from a buffer of the test's or the scanner's own. */
function count(
  lines: string,
  scanner: (KeyRunScanner & { readonly buffer?: Buffer }) | undefined,
  isInPlace: boolean,
  filter: CaptureFilter = {},
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
  const reader = new IndexReader({ ...OPTIONS, filter }, table, drain, scanner);
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
      "urn:x",
      "urn:pageinfo:http://a.com/(x)/y",
      "urn,x)/",
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

const FILTERS: readonly CaptureFilter[] = [
  { status: ["200"] },
  { status: ["2xx", "-"] },
  { mime: ["text/html"] },
  { mime: ["image/*"], skipRevisits: true },
  { skipRevisits: true },
  { status: ["200", "301"], mime: ["text/html", "warc/revisit"], skipRevisits: true },
  { from: "2015" },
  { from: "201506", to: "20151231" },
  { to: "20150601", status: ["200"], skipRevisits: true },
  { exclude: ["robots\\.txt"] },
  { exclude: ["ROBOTS", "x{2}/robots"], from: "2015" },
  { exclude: ["[^/]$"] },
  PAPER_PRESET,
];

/** JSON blocks as different programs write them, and some that are broken. */
const BLOCKS = [
  '{"url": "URL", "mime": "MIME", "status": "STATUS", "digest": "X"}',
  '{"url":"URL","status":STATUS,"mime":"MIME","length":123}',
  '{"url":"URL","status": STATUS,"mime":"MIME","length":123}',
  '{"url":"URL","status":  STATUS,"mime":"MIME","length":123}',
  '{"mime": "MIME", "length":123, "status": STATUS}',
  '{"mime": "MIME", "length":123, "status": STATUS',
  '{"mime": "MIME", "length":123, "status":  STATUS}',
  '{"statuscode": "STATUS", "mimetype": "MIME"}',
  '{"status": "STATUS", "mime": "MIME", "status": "404"}',
  '{"url": "URL", "mime": "MIME", "digest": "X"}',
  '{"url": "URL", "status": "STATUS"}',
  '{"url": "URL", "x": {"status": "200"}, "mime": "MIME", "status": "STATUS"}',
  '{"url": "URL", "mime": "MIME", "status": "STATUS',
  '{"url": "URL", "mime": "MIME" "status" "STATUS"}',
];
const url = fc.oneof(
  fc.constantFrom(
    "http://a.com/",
    "http:\\/\\/a.com\\/",
    'http://a.com/\\"',
    "http://a.com/x\\\\",
    "http://a.com/\\",
    "dns:a",
    "",
  ),
  // Wherever it begins and ends within what is looked at in one go.
  fc
    .tuple(
      fc.constantFrom("http://a.com/", "http:\\/\\/a.com\\/", ""),
      fc.nat(40),
      fc.constantFrom("robots.txt", "ROBOTS.txt?x", "robots\\u002etxt", "robots_txt", "robot"),
      fc.nat(20),
    )
    .map(
      ([start, before, name, after]) => `${start}${"x".repeat(before)}/${name}${"y".repeat(after)}`,
    ),
);
const date = fc.constantFrom(
  "20200101000000",
  "2014",
  "201505",
  "2015",
  "20150601",
  "20150602000000",
  "20151231235959",
  "20160101000000999",
);
const status = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("200", "301", "404") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("-", "", "20", "2000", '2\\"0', "null", "200]", "\u00e9"),
  },
);
const mime = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("text/html", "image/png", "warc/revisit") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "warc\\/revisit",
      "text\\/html",
      "text/html;charset=x",
      "TEXT/HTML",
      "",
      "caf\u00e9",
      "\u00a0",
      "\t",
      "x".repeat(112),
      "x".repeat(113),
    ),
  },
);
// Few forms in a file, so that a row often has that of the row before.
const filteredFile = fc
  .tuple(fc.shuffledSubarray(BLOCKS, { minLength: 1, maxLength: 3 }), fc.constantFrom("\n", "\r\n"))
  .chain(([blocks, lineEnd]) =>
    fc
      .array(
        fc.oneof(
          {
            weight: 30,
            arbitrary: fc
              .tuple(key, date, fc.constantFrom(...blocks), url, status, mime)
              .map(([surt, datetime, block, ...values]) => {
                const [ofUrl, ofStatus, ofMime] = values.map((value) => () => value);
                return `${surt} ${datetime} ${block
                  .replace("URL", ofUrl)
                  .replace("STATUS", ofStatus)
                  .replace("MIME", ofMime)}`;
              }),
          },
          { weight: 1, arbitrary: line },
        ),
        { maxLength: 60 },
      )
      .map((lines) => lines.map((text) => text + lineEnd).join("")),
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

  it("changes nothing about what filters leave out", () => {
    fc.assert(
      fc.property(
        filteredFile,
        fc.constantFrom(...FILTERS),
        fc.boolean(),
        (lines, filter, isInPlace) => {
          const expected = count(lines, undefined, false, filter);
          expect(count(lines, scanner, isInPlace, filter)).toEqual(expected);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it.each([
    [
      "more values than it has room for",
      Array.from({ length: 2000 }, (_, i) => `{"mime": "x", "status": "${100 + ((i * 7) % 900)}"}`),
    ],
    [
      "a number behind more blanks than in the row before",
      [" ", "", " ", "  200", " 200"].map((value) => `{"mime": "x", "status":${value}}`),
    ],
  ])("judges %s", (_, blocks) => {
    const lines = blocks.map((block, i) => `com,a)/${i} 20200101000000 ${block}\n`).join("");
    const filter = { status: ["2xx"] };
    expect(count(lines, scanner, false, filter)).toEqual(count(lines, undefined, false, filter));
  });

  it("leaves most rows of an index to the kernel once it has seen a few", () => {
    const lines = Array.from(
      { length: 1000 },
      (_, i) =>
        `com,a)/${i} 20200101000000 {"url": "http://a.com/${i}", ` +
        `"mime": "text/html", "status": "${i % 3 === 0 ? 404 : 200}"}\n`,
    ).join("");
    const open = CdxjScanner.open(1 << 16, OPTIONS.maxLineBytes);
    const scan = open && vi.spyOn(open, "scan");
    const { counts } = count(lines, open, false, { status: ["200"] });
    expect(counts).toMatchObject({ lines: 1000, captures: 666, filtered: { status: 334 } });
    expect(scan?.mock.calls.length).toBeLessThan(10);
  });

  it("takes more lines than its table has runs, and more bytes than its buffer", () => {
    const lines = Array.from(
      { length: 9000 },
      (_, i) => `com,a)/${String(i).padStart(5, "0")} 20200101000000 {"url": "http://a.com/"}\n`,
    ).join("");
    expect(count(lines, scanner, false)).toEqual(count(lines, undefined, false));
  });
});
