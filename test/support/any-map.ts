import fc from "fast-check";

/** A map in any form that the format allows, and what to ask it. */
export interface AnyMap {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly surts: readonly string[];
}

const label = fc.constantFrom("a", "b", "a-b", "a*b", "*a", "a%2ab");
const host = fc
  .tuple(fc.constantFrom("com", "org", "c*m"), fc.array(label, { maxLength: 3 }))
  .map(([tld, labels]) => [tld, ...labels].join(","));
const segment = fc.constantFrom("a", "b", "c", "a-b", "a*b", "a(1)", "a%2ab", "*x", "ü", "c*");
const path = fc.array(segment, { maxLength: 4 }).map((segments) => segments.join("/"));
const page = fc.tuple(host, path).map(([h, p]) => `${h})/${p}`);

const key = fc.oneof(
  { weight: 12, arbitrary: page },
  { weight: 2, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p && `${p}/`}*`) },
  { weight: 1, arbitrary: host.map((h) => `${h},*`) },
  { weight: 1, arbitrary: host.map((h) => `${h})`) },
  { weight: 1, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h},*)/${p}`) },
  { weight: 1, arbitrary: page.map((text) => `${text}?q=1`) },
  { weight: 1, arbitrary: fc.constantFrom("*", "dns:a.com", "com,a)b", "com,*)") },
);

const count = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 20 }).map(String) },
  { weight: 3, arbitrary: fc.constant("0") },
  { weight: 1, arbitrary: fc.constantFrom("5+", "7-", "/", "/4", "4/2", "0/3", "5/") },
);
const frequency = fc.oneof(
  { weight: 8, arbitrary: count },
  { weight: 1, arbitrary: count.map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: fc.constant("-") },
);
const time = fc.constantFrom("2014", "201406", "2015", "2014:2016", ":");
const block = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc
      .dictionary(time, count, { minKeys: 1, maxKeys: 3 })
      .map((parts) => ` {"datetime":${JSON.stringify(parts)}}`),
  },
  { weight: 1, arbitrary: fc.constant(" {note: 'x'}") },
);
const blank = fc.oneof(
  { weight: 12, arbitrary: fc.constant(" ") },
  { weight: 1, arbitrary: fc.constantFrom("\t", "  ") },
);
const end = fc.oneof(
  { weight: 8, arbitrary: fc.constant("\n") },
  { weight: 1, arbitrary: fc.constantFrom("\r\n", " \n", "\n\n", "\n \t\n") },
);

/** Maps with rows, columns and line ends of all kinds; `maxKeys` of 1 leaves out datetime columns. */
export function anyMap(maxKeys: number): fc.Arbitrary<AnyMap> {
  const row = fc.record({ key, time, frequency, block, blank, end });
  return fc
    .record({
      rows: fc.array(row, { minLength: 1, maxLength: 40 }),
      keys: fc.integer({ min: 1, max: maxKeys }),
      values: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.constant(2)),
      hasMark: fc.boolean(),
      asked: fc.array(page, { maxLength: 20 }),
      lacksEnd: fc.boolean(),
    })
    .map(({ rows, keys, values, hasMark, asked, lacksEnd }) => {
      const lines = new Map<string, string>();
      for (const {
        key: surt,
        time: at,
        frequency: stated,
        block: json,
        blank: gap,
        end: stop,
      } of rows) {
        const tuple = keys === 1 ? surt : `${surt}${gap}${at}`;
        const others = values === 1 ? "" : `${gap}"a {b"`;
        const name = keys === 1 ? surt : `${surt} ${at}`;
        lines.set(name, `${tuple}${gap}${stated}${others}${json}${stop}`);
      }
      const sorted = Array.from(lines).sort(([a], [b]) => compareTuples(a, b));
      const fields = {
        keys: ["surt", "datetime"].slice(0, keys),
        values: ["frequency", "note"].slice(0, values),
      };
      const body = sorted.map(([, line]) => line).join("");
      const whole = `!fields ${JSON.stringify(fields)}\n${lacksEnd ? body.trimEnd() : body}`;
      const text = hasMark ? `\uFEFF${whole}` : whole;
      const held = rows.map(({ key: surt }) => surt.replace(/(?:,\*$|,\*(?=\)))/, ",b"));
      const pages = held.map((surt) => surt.replace(/\/\*$/, "/b").replace(/,b$/, ",b)/b"));
      const escaped = [...pages, ...asked, ...pages.map((surt) => surt.replace(/\?.*$/, ""))];
      return {
        text,
        bytes: new TextEncoder().encode(text),
        rows: sorted.length,
        surts: [...new Set(escaped)],
      };
    });
}

function compareTuples(a: string, b: string): number {
  const [left, right] = [a, b].map((tuple) => tuple.split(" ").map((text) => Buffer.from(text)));
  for (const [i, column] of (left ?? []).entries()) {
    const order = Buffer.compare(column, right?.[i] ?? Buffer.alloc(0));
    if (order !== 0) return order;
  }
  return 0;
}
