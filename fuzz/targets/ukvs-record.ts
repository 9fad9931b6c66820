import { formatRecord, parseDatetimeKey, parseRecord } from "../../src/ukvs/record.ts";
import { formatFrequency, parseFrequency } from "../../src/ukvs/frequency.ts";
import { formatHeader, parseHeader } from "../../src/ukvs/header.ts";
import { mustEqual, outcomeOf, utf8 } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const FIELDS = [
  { keys: ["surt"], values: ["frequency"] },
  { keys: ["surt", "datetime"], values: ["frequency", "x"] },
];

export const target: TargetDefinition = {
  holds: "headers, records and frequencies that are read can be written and read again",
  seeds: () => [
    '!fields {"keys":["surt","datetime"],"values":["frequency"]}',
    "@meta 0 {name:'x', a:[1,2,],}",
    "com,example)/a/b 54321/1234",
    'com,example)/a 2014:2016 5+/3~ - {"a":[1,{"b":null}]}',
    '"com,a) b" 20140102 "a \\" b" 5',
    "12-/3+",
    "/5",
    "2014:20160102030405",
    ":2016",
  ],
  words: ["!id ", "!meta ", "{", "}", '"', "/", "+", "~", "-", ":", "2014", "\\u0020"],
  run(input) {
    const text = utf8(input);
    stable("header", text, parseHeader, formatHeader);
    for (const fields of FIELDS) {
      stable(
        "record",
        text,
        (line) => parseRecord(line, fields),
        (record) => formatRecord(record, fields),
      );
    }
    stable("frequency", text, parseFrequency, formatFrequency);
    outcomeOf(() => parseDatetimeKey(text));
  },
};

/** What is read, written and read again is the same. */
function stable<T>(
  what: string,
  text: string,
  parse: (text: string) => T,
  format: (value: T) => string,
): void {
  const first = outcomeOf(() => parse(text));
  if (!("value" in first)) return;
  const line = outcomeOf(() => format(first.value));
  if (!("value" in line)) return mustEqual(line, first, `a ${what} that is read can be written`);
  const again = outcomeOf(() => parse(line.value));
  // JSON has a -0, which is written as 0.
  mustEqual(JSON.stringify(again), JSON.stringify(first), `the ${what} ${line.value} read again`);
}
