import { describe, expect, it } from "vitest";
import { mergedWith } from "./map-files.ts";

describe("mergeHeaders", () => {
  it.each([
    [
      "what all say stays",
      ['!id {"uri":"a"}\n!meta {"name":"A"}\n', '!id {"uri":"a"}\n!meta {name: "A"}\n'],
      '!id {"uri":"a"}\n!meta {"name":"A"}\n',
    ],
    [
      "different ids and names are listed",
      [
        '!id {"uri":"b"}\n!meta {"name":"B","type":"MementoMap"}\n',
        '!id {"uri":"a"}\n!meta {"type":"MementoMap"}\n',
      ],
      '!meta {"merged_from":[{"uri":"a"},{"uri":"b","name":"B"}],"type":"MementoMap"}\n',
    ],
    [
      "with a sample all is a sample",
      ['!meta {"sample":true}\n', '!meta {"type":"MementoMap"}\n'],
      '!meta {"merged_from":[{"sample":true},{"type":"MementoMap"}],"sample":true}\n',
    ],
    [
      "an id that only one has is listed",
      ['!id {"uri":"b"}\n', ""],
      '!meta {"merged_from":[{"uri":"b"}]}\n',
    ],
    [
      "the latest update holds",
      [
        '!id {"uri":"a"}\n!meta {"updated_at":"2018"}\n',
        '!id {"uri":"a"}\n!meta {"updated_at":"2019"}\n',
      ],
      '!id {"uri":"a"}\n!meta {"merged_from":[{"uri":"a","updated_at":"2018"},{"uri":"a","updated_at":"2019"}],"updated_at":"2019"}\n',
    ],
    [
      "what was merged before is listed flat",
      [
        '!meta {"merged_from":[{"uri":"c"},{"uri":"a"}]}\n',
        '!id {"uri":"b"}\n',
        '!id {"uri":"a"}\n',
      ],
      '!meta {"merged_from":[{"uri":"a"},{"uri":"b"},{"uri":"c"}]}\n',
    ],
    [
      "unknown headers are kept, equal ones once",
      ['!x 1\n!y {"a":1}\n', "!x 2\n!y {a: 1}\n"],
      '!x 1\n!x 2\n!y {"a":1}\n',
    ],
    ["a context need not be stated by all", ['!context ["a"]\n', ""], '!context ["a"]\n'],
    [
      "older forms of the same columns are the same",
      ['!keys ["surt"]\n', '!fields {values: ["frequency"], keys: ["surt"]}\n', ""],
      '!fields {"keys":["surt"],"values":["frequency"]}\n',
    ],
    [
      "members named as those of every object are members",
      ['!meta {"toString":1}\n', "!meta {}\n"],
      '!meta {"merged_from":[{"toString":1}]}\n',
    ],
  ])("%s", async (_, maps, expected) => {
    const options = { checkSize: false }; // these have no records
    for (const given of [maps, maps.toReversed()]) {
      const made = await mergedWith(options, ...given);
      expect(made.replace(/^!size .*\n/m, "")).toBe(expected);
    }
  });
});
