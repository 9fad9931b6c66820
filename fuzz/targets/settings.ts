import { writeFileSync } from "node:fs";
import { AGGREGATE_OPTIONS } from "../../src/cli/common/aggregate-options.ts";
import { fileSettings } from "../../src/cli/common/command-line.ts";
import { must } from "../check.ts";
import { scratchFile } from "../scratch-file.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "every setting is an option, with texts as values",
  seeds: () => [
    '{"port": 1208, "archives": "archives.json", "quiet": true}',
    '{"host": "127.0.0.1", "proxy": "http://p:3128", "timeout": "10s", "private": ["10.0.0.0/8"]}',
    '{"no-proxy": true, "log": "-", "cache": false}',
    "{}",
  ],
  words: [
    '"port":',
    '"host":',
    '"timeout":',
    '"archives":',
    "{",
    "}",
    "[",
    "]",
    "true",
    "null",
    ",",
    '"',
  ],
  run(input) {
    const path = scratchFile("settings.json");
    writeFileSync(path, input);
    const { values } = fileSettings(AGGREGATE_OPTIONS, path);
    for (const [name, texts] of values) {
      must(Object.hasOwn(AGGREGATE_OPTIONS, name), "an option", name);
      must(
        texts.every((text) => typeof text === "string"),
        "texts",
        texts,
      );
    }
  },
};
