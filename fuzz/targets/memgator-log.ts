import { memgatorLog } from "../../test/study/logs/memgator-lines.ts";
import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = indexTarget({
  format: "memgator-log",
  archive: "ia",
  seeds: () => [
    memgatorLog([
      {
        uri: "http://a.com/",
        replies: [
          { archive: "ia", mementos: 12 },
          { archive: "pt", mementos: 0 },
        ],
      },
    ]),
    memgatorLog([
      { uri: "http://a.com/", replies: [{ archive: "ia", mementos: "error" }] },
      { uri: "http://b.com/é", replies: [{ archive: "ia", mementos: 3 }] },
    ]),
    "INFO: 2016/06/09 12:00:00 Aggregating Mementos for http://a.com/\nINFO: 2016/06/09 12:00:01 ia => Success: 5 mementos\nERROR: 2016/06/09 12:00:02 main.go:12: pt => Response error: 404 Not Found (404)\nERROR: 2016/06/09 12:00:02 ia => Dormant after 3 failures\n",
  ],
  words: [
    "INFO: 2016/06/09 12:00:00 Aggregating Mementos for ",
    "ia => Success: ",
    " mementos",
    "BENCHMARK: 2016/06/09 12:00:00.1 1465473600000 {",
    '"origin": "',
    '"role": "timemapfetch"',
    "ERROR: ",
  ],
});
