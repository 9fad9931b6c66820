import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";
import { target as arc } from "./arc.ts";
import { target as cdx } from "./cdx.ts";
import { target as cdxj } from "./cdxj.ts";
import { target as json } from "./cdx-json.ts";
import { target as timemap } from "./timemap.ts";
import { target as uris } from "./uri-list.ts";
import { target as warc } from "./warc.ts";

const FORMATS: readonly TargetDefinition[] = [arc, cdx, cdxj, json, timemap, uris, warc];

export const target: TargetDefinition = {
  ...indexTarget({
    format: "auto",
    seeds: () => [
      ...FORMATS.flatMap(({ seeds }) => seeds()),
      '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/ 5\ncom,a,* 3/2\n',
    ],
    words: [
      " CDX N b a",
      "WARC/1.0\r\n",
      "filedesc://",
      "com,a)/ 2014 {",
      "http://",
      "<",
      "PK\u0003\u0004",
      "PAR1",
    ],
  }),
  holds: "whatever an input turns out to be, chunks and bad lines do not matter",
};
