import * as fc from "fast-check";
import {
  byText,
  datetimeRows,
  lookupSurt,
  mapKey,
  queryKey,
  type Row,
  rows,
  rowText,
  spelledOnce,
  time,
} from "./map-arbitraries.ts";

const TIMED = '!fields {"keys":["surt","datetime"],"values":["frequency"]}';
const PLAIN = '!fields {"keys":["surt"],"values":["frequency"]}';

function header(isTimed: boolean, queries: boolean): string {
  const fields = isTimed ? TIMED : PLAIN;
  return queries ? fields.replace(/}$/, ',"queries":true}') : fields;
}

/** A map with what the format allows, older spellings included. */
export interface AnyMap {
  readonly text: string;
  readonly isTimed: boolean;
  /** Whether it is a map with queries. */
  readonly queries: boolean;
}

/** A map that holds nothing, and says so. */
export function emptyMap({ isTimed, queries }: Pick<AnyMap, "isTimed" | "queries">): string {
  return `${header(isTimed, queries)}\n!size {"bytes":0,"records":0}\n`;
}

/** How a file may be written without changing what it says. */
interface Form {
  readonly mark: string;
  readonly newline: string;
  readonly blank: string;
  readonly between: string;
  readonly isQuoted: boolean;
  readonly hasSlash: boolean;
  readonly endsInNewline: boolean;
}

const anyForm: fc.Arbitrary<Form> = fc.record({
  mark: fc.constantFrom("", "\uFEFF"),
  newline: fc.constantFrom("\n", "\r\n"),
  blank: fc.constantFrom(" ", "\t", "  "),
  between: fc.constantFrom("", "", "\n", " \t\n"),
  isQuoted: fc.boolean(),
  hasSlash: fc.boolean(),
  endsInNewline: fc.boolean(),
});

/** A `*` within a key, as older maps have it, and what it is today. */
const OLDER_KEYS = [
  "com,a)/x*y",
  "com,a)/x*y/*",
  "com,*)/x*y",
  "com,a*b)/",
  "com,a*b)",
  "com,a)/x%2ay",
  "com,a%2ab)/*",
];

const olderRows = fc.uniqueArray(
  fc.record({ key: fc.constantFrom(...OLDER_KEYS), frequency: fc.constantFrom("0", "5", "/") }),
  { selector: ({ key }) => key, maxLength: 4 },
);

const rowsWithQueries = fc.uniqueArray(
  fc.record({ key: queryKey, frequency: fc.constantFrom("0", "5", "/", "0/3") }),
  { selector: ({ key }) => key, maxLength: 8 },
);

const block = fc.option(
  fc.constantFrom(
    '{"datetime":{"2014":"0","2016":"5"}}',
    '{datetime: {"2013:201406": 3, ":": "0"}}',
    '{"datetime":{"2015":"0/2"},"mime":{"text/html":1}}',
    "{}",
  ),
  { nil: undefined, freq: 2 },
);

const plainRows = fc
  .tuple(rows, fc.array(block, { minLength: 24, maxLength: 24 }))
  .map(([content, blocks]) => content.map((row, i): Row => withBlock(row, blocks[i])));

export const anyMap: fc.Arbitrary<AnyMap> = fc
  .tuple(fc.boolean(), plainRows, datetimeRows, olderRows, fc.option(rowsWithQueries), anyForm)
  .map(([isTimed, plain, timed, older, asked, form]) => {
    const queries = asked !== null;
    // A query of nothing is none, in a map with queries.
    const own = (isTimed ? timed : plain).map((row): Row => ({
      ...row,
      key: queries ? row.key.replace(/\?$/, "?r") : row.key,
    }));
    const more = [...older, ...(asked ?? [])]
      .filter(({ key }) => !own.some((row) => row.key === key))
      .map((row): Row => (isTimed ? { ...row, datetime: ":" } : row));
    const once = spelledOnce([...own, ...more], { queries });
    const text = written(sorted(once), header(isTimed, queries), form);
    return { text, isTimed, queries };
  });

function withBlock(row: Row, json: string | undefined): Row {
  return json === undefined ? row : { ...row, json };
}

function sorted(content: readonly Row[]): Row[] {
  return content.toSorted(
    (a, b) => byText(a.key, b.key) || byText(a.datetime ?? "", b.datetime ?? ""),
  );
}

function written(content: readonly Row[], head: string, form: Form): string {
  const lines = content.map((row) => {
    const ended =
      form.hasSlash && /^\d+$/.test(row.frequency) ? `${row.frequency}/` : row.frequency;
    const frequency = form.isQuoted && ended !== "-" ? JSON.stringify(ended) : ended;
    return rowText({ ...row, frequency }).replaceAll(" ", form.blank);
  });
  const end = form.newline + form.between.replaceAll("\n", form.newline);
  return form.mark + [head, ...lines].join(end) + (form.endsInNewline ? form.newline : "");
}

/** A SURT or URI to look up, and a time or none. */
export type Question = readonly [string, string | undefined];

const anyTime = fc.option(time, { nil: undefined });

/** SURTs as clients ask for them, and as they do not. */
export const questions: fc.Arbitrary<Question[]> = fc.array(
  fc.tuple(
    fc.oneof(
      { weight: 6, arbitrary: lookupSurt },
      { weight: 2, arbitrary: fc.constantFrom(...OLDER_KEYS, "com,b)/x*y", "com,a)/x*y/b") },
      { weight: 1, arbitrary: mapKey },
      { weight: 2, arbitrary: queryKey },
    ),
    anyTime,
  ),
  { minLength: 1, maxLength: 12 },
);

/** SURTs that can stand on a line of a batch. */
// oxlint-disable-next-line no-control-regex -- control characters are the point
export const lineQuestions = questions.map((all) =>
  all.filter(([surt]) => surt !== "" && !/[\0-\x20]/.test(surt)),
);

const uri = fc
  .tuple(
    fc.constantFrom("com", "a.com", "b.com", "a-b.com", "b.a.com", "www.a.com", "a.b.a.com", "org"),
    fc.constantFrom("", "", "", ":8080"),
    fc.array(fc.constantFrom("a", "b", "a-b", "%20", "x*y", "x%2Ay", ""), { maxLength: 3 }),
    fc.constantFrom("", "", "/", "?q", "?q=a/b", "?", "?x*y", "?*", "/?q"),
  )
  .map(([host, port, path, end]) => `http://${host}${port}/${path.join("/")}${end}`);

export const uriQuestions: fc.Arbitrary<Question[]> = fc.array(fc.tuple(uri, anyTime), {
  minLength: 1,
  maxLength: 12,
});
