import {
  datetimeOfEpochMs,
  epochMs,
  formatDatetime,
  formatHttpDate,
  formatRfc3339,
  tryParseDatetime,
  tryReadDatetime,
} from "../../src/memento/datetime.ts";
import { mustEqual, utf8 } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "bytes and text give the same time, which all its forms give again",
  seeds: () => [
    "Tue, 20 Jun 2000 18:02:59 GMT",
    "2000-06-20T18:02:59Z",
    "2000-06-20T18:02:59.123+02:00",
    "20000620180259",
    "Tue, 29 Feb 2000 23:59:60 GMT",
    "6 Nov 1994 8:49 +0100",
    "2000-06-20 18:02",
  ],
  words: ["GMT", "Jun", "Z", "T", "+", ":", "-", "2000", "99", "60"],
  run(input) {
    const text = utf8(input);
    const time = tryParseDatetime(text);
    mustEqual(tryReadDatetime(input, 0, input.length), time, "read from bytes");
    if (time === undefined) return;
    for (const form of [formatDatetime, formatHttpDate, formatRfc3339]) {
      mustEqual(tryParseDatetime(form(time)), time, form(time));
    }
    mustEqual(datetimeOfEpochMs(epochMs(time)), time, "by milliseconds");
  },
};
