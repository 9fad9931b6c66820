import * as fc from "fast-check";
import type { KeyOptions } from "../../src/surt/key.ts";
import { ownSpelling } from "../../src/surt/spelling.ts";

/** Small alphabets, so that keys of one map cover each other and maps share keys. */
const label = fc.constantFrom("a", "b", "a-b");
const segment = fc.constantFrom("a", "b", "a-b", "%20", "");
const frequency = fc.oneof(
  fc.constantFrom("0", "0", "0/3", "0~"),
  fc.constantFrom("1", "5", "2+", "3~/2", "/", "/4", "7-", "-"),
);

const host: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.array(label, { maxLength: 3 }).map((rest) => ["com", ...rest].join(",")),
  },
  { weight: 1, arbitrary: fc.constantFrom("localhost", "1,0,0,127", "com,a:8080", "org,b") },
);

/** A path without trailing slashes, except the root's; `//` within is kept. */
const path: fc.Arbitrary<string> = fc
  .array(segment, { maxLength: 3 })
  .map((segments) => `/${segments.join("/")}`.replace(/\/+$/, "") || "/");

const query = fc.constantFrom("?q", "?q=a/b", "?");

/** A key of any kind that a map may hold. */
export const mapKey: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})${p}`) },
  { weight: 3, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})${p === "/" ? "" : p}/*`) },
  { weight: 2, arbitrary: host.map((h) => `${h},*`) },
  { weight: 2, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h},*)${p}`) },
  { weight: 1, arbitrary: fc.tuple(host, path, query).map(([h, p, q]) => `${h})${p}${q}`) },
  { weight: 1, arbitrary: host.map((h) => `${h})`) },
  { weight: 1, arbitrary: fc.constantFrom("*", "dns:a.com") },
);

/** A key that only maps with queries have. */
export const queryKey: fc.Arbitrary<string> = fc
  .tuple(
    host,
    fc.constantFrom("", "", ",*"),
    path,
    fc.constantFrom("?*", "?*", "?q", "?q", "?q=a/b", "?x%2ay", "?%2a"),
  )
  .map((parts) => parts[0] + parts[1] + ")" + parts[2] + parts[3]);

/** What is looked up: SURTs, tidy and less tidy. */
export const lookupSurt: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(host, path, fc.constantFrom("", "", "", "/", "//", "?q", "/?q"))
      .map(([h, p, end]) => `${h})${p}${end}`),
  },
  { weight: 2, arbitrary: mapKey },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", ")", ")/a", ",com)/", "com", "com)?q", "a b)/", "com,a)/\n"),
  },
);

const datetime: fc.Arbitrary<string> = fc.constantFrom(
  "2014",
  "201406",
  "20140612",
  "2015:",
  ":2013",
  "2013:201406",
  ":",
  "20150101000000",
);

/** A time to look up at. */
export const time: fc.Arbitrary<string> = fc.constantFrom(
  "2013",
  "20140612101112",
  "201407",
  "20150101000000",
  "2016",
);

/** One row, as the columns that a map writes. */
export interface Row {
  readonly key: string;
  readonly datetime?: string;
  readonly frequency: string;
  readonly json?: string;
}

export function rowText(row: Row): string {
  return [row.key, row.datetime, row.frequency, row.json].filter((c) => c !== undefined).join(" ");
}

/** Compares as bytes do; the keys here are ASCII. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Rows keyed by SURT alone, sorted, no key twice; at least one, as a map without any is refused. */
export const rows: fc.Arbitrary<Row[]> = fc
  .uniqueArray(fc.record({ key: mapKey, frequency }), {
    selector: (r) => ownSpelling(r.key),
    minLength: 1,
    maxLength: 24,
  })
  .map(sortedRows);

const splitJson = fc.constantFrom(
  '{"datetime": {"2014": "20~/10"}}',
  '{datetime: {"201406": "0", "2015": 4}}',
  '{"status": {"200": 5}}',
);

/** Rows keyed by SURT and datetime, some of them split further in their JSON block. */
export const datetimeRows: fc.Arbitrary<Row[]> = fc
  .uniqueArray(
    fc.record(
      { key: mapKey, datetime, frequency, json: splitJson },
      { requiredKeys: ["key", "datetime", "frequency"] },
    ),
    { selector: (r) => `${r.key} ${r.datetime}`, minLength: 1, maxLength: 24 },
  )
  .map((all) => sortedRows(spelledOnce(all)));

/** Leaves out rows of a key that is written in two ways. */
export function spelledOnce(all: readonly Row[], options: KeyOptions = {}): Row[] {
  const spelled = new Map(all.map(({ key }) => [ownSpelling(key, options), key]));
  return all.filter(({ key }) => spelled.get(ownSpelling(key, options)) === key);
}

function sortedRows(unsorted: readonly Row[]): Row[] {
  return unsorted.toSorted(
    (a, b) => byText(a.key, b.key) || byText(a.datetime ?? "", b.datetime ?? ""),
  );
}

/** How a file may be laid out without changing what it says. */
export const layout: fc.Arbitrary<Layout> = fc.record({
  newline: fc.constantFrom("\n", "\n", "\r\n"),
  endsInNewline: fc.boolean(),
  headers: fc.constantFrom<string[]>(
    [],
    ['!context ["https://git.io/mementomap"]', "", '!meta {name: "x"}'],
  ),
});

export interface Layout {
  readonly newline: string;
  readonly endsInNewline: boolean;
  readonly headers: readonly string[];
}

export const PLAIN: Layout = { newline: "\n", endsInNewline: true, headers: [] };
export const DATETIME_FIELDS = '!fields {"keys": ["surt", "datetime"], "values": ["frequency"]}';

export function mapBytes(
  content: readonly Row[],
  { newline, endsInNewline, headers }: Layout,
): Uint8Array {
  const lines = [...headers, ...content.map(rowText)];
  return new TextEncoder().encode(
    lines.join(newline) + (endsInNewline && lines.length > 0 ? newline : ""),
  );
}
