import { parseArchiveList } from "../../src/aggregate/route/archive.ts";
import { must, utf8 } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "ids are not empty and differ; addresses are absolute",
  seeds: () => [
    '[{"id":"ia","name":"Internet Archive","timemap":"https://web.archive.org/web/timemap/link/","timegate":"https://web.archive.org/web/","probability":1}]',
    '[{"id":"a","name":"A","timemap":"http://a.org/t/","timegate":"http://a.org/g/","map":"maps/a.ukvs","ignore":true},{"id":"b","name":"B","timemap":"http://b.org/t/","timegate":"http://b.org/g/","timeout":5,"headers":{"x":"y"}}]',
    '{"archives":[{"id":"c","timemap":"https://c.org/{uri}","links":["x"]}]}',
    "[]",
  ],
  words: [
    '"id":',
    '"timemap":"',
    '"timegate":"',
    '"probability":',
    '"ignore":',
    '"map":',
    "{",
    "}",
    "[",
    "]",
    ",",
    "null",
    "true",
  ],
  run(input) {
    const archives = parseArchiveList(utf8(input), "archives.json");
    const ids = archives.map(({ id }) => id);
    must(ids.every((id) => id !== "") && new Set(ids).size === ids.length, "ids", ids);
    for (const { timemap, timegate } of archives) {
      for (const address of [timemap, timegate]) {
        must(address === undefined || /^https?:\/\//i.test(address), "an address", address);
      }
    }
  },
};
