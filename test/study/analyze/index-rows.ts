import fc from "fast-check";

/** A capture as a test makes it. */
export interface Row {
  /** A SURT, with its query. */
  readonly surt: string;
  readonly datetime: string;
  readonly uri: string;
  readonly mime: string;
  readonly status: string;
}

const label = fc.constantFrom("a", "a-b", "b", "shop");
const host = fc.oneof(
  { weight: 8, arbitrary: fc.array(label, { maxLength: 3 }).map((labels) => ["com", ...labels]) },
  { weight: 3, arbitrary: fc.array(label, { maxLength: 2 }).map((labels) => ["pt", ...labels]) },
  { weight: 1, arbitrary: fc.constant(["7", "0", "0", "10"]) },
);
const path = fc.array(fc.constantFrom("a", "a-b", "a.gif", "b", "2020"), { maxLength: 6 });
const query = fc.constantFrom("", "", "?x=1", "?x=1&y=2", "?a&b&c&d&e&f");
const datetime = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(fc.integer({ min: 2003, max: 2006 }), fc.constantFrom("01", "02", "11"))
      .map(([year, month]) => `${year}${month}02030405`),
  },
  { weight: 1, arbitrary: fc.constantFrom("2004", "20041302030405", "20050230030405", "200501") },
);
const mime = fc.constantFrom(
  "text/html",
  "text/html",
  "image/gif",
  "application/rss+xml",
  "warc/revisit",
  "unk",
  "text/html;",
  "html",
  "Content-Type:",
);
const status = fc.constantFrom("200", "200", "301", "404", "503", "-", "0", "2000", "199");

/** Captures with many that share originals, keys, hosts and prefixes. */
export const rows: fc.Arbitrary<Row[]> = fc.array(
  fc
    .tuple(host, path, query, datetime, mime, status)
    .map(([labels, segments, rest, date, type, code]) => {
      const tail = `/${segments.join("/")}${rest}`;
      return {
        surt: `${labels.join(",")})${tail}`,
        uri: `http://${labels.toReversed().join(".")}${tail}`,
        datetime: date,
        mime: type,
        status: code,
      };
    }),
  { maxLength: 120 },
);

export function asCdx(list: readonly Row[]): string {
  const lines = list.map(
    ({ surt, datetime: date, uri, mime: type, status: code }) =>
      `${surt} ${date} ${uri} ${type} ${code} SHA1 - - 100 200 a.warc.gz\n`,
  );
  return ` CDX N b a m s k r M S V g\n${lines.join("")}`;
}

export function asCdxj(list: readonly Row[]): string {
  return list
    .map(({ surt, datetime: date, uri, mime: type, status: code }) => {
      const json = JSON.stringify({ url: uri, mime: type, status: code, digest: "SHA1" });
      return `${surt} ${date} ${json}\n`;
    })
    .join("");
}
