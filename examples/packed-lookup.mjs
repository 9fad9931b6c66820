// Looks keys up in a packed map with the short reader. Keys are SURTs: `com,example)/a/b`.
//
//   node examples/packed-lookup.mjs FILE [KEY...]    looks up keys, or lines of standard input

import { readFileSync } from "node:fs";
import { openPacked } from "./packed-reader.mjs";

const [file, ...keys] = process.argv.slice(2);
const map = openPacked(readFileSync(file));
for (const key of keys.length > 0 ? keys : readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { present, name = "-" } = map.lookup(key);
  console.log([key, present ? "present" : "absent", name].join(" "));
}
