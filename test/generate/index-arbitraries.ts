import fc from "fast-check";

const surt = fc
  .tuple(
    fc.constantFrom("com,a", "com,a,b", "com,a-b", "org,x:8080", "localhost", "1,0,0,127"),
    fc.constantFrom("", "/", "a", "a/", "a/b", "a-b", "a.html", "a0", "a//b", "*", "%20", "é"),
    fc.constantFrom("", "", "?", "?x", "?x=1&y=/a", "?y"),
  )
  .map(([host, path, query]) => `${host})/${path}${query}`);
const date = fc.constantFrom(
  "2012",
  "201207",
  "20120701000000",
  "20130101000000",
  "20131231235959123",
);

/** A line of CDXJ. */
const cdxjLine: fc.Arbitrary<string> = fc
  .tuple(surt, date, fc.constantFrom("{}", '{"status": "200"}'))
  .map((parts) => parts.join(" "));

export const cdxjLines: fc.Arbitrary<string[]> = fc
  .array(cdxjLine, { maxLength: 60 })
  .chain((lines) => fc.constantFrom(lines, lines.toSorted()));

/** How the same lines may be laid out in a file. */
export const fileLayout: fc.Arbitrary<(lines: readonly string[]) => string> = fc
  .tuple(
    fc.constantFrom("\n", "\r\n", "\n\n"),
    fc.boolean(),
    fc.constantFrom("", "\n", "!meta {}\n", "\uFEFF"),
  )
  .map(
    ([newline, isEnded, before]) =>
      (lines) =>
        `${before}${lines.join(newline)}${isEnded && lines.length > 0 ? newline : ""}`,
  );
