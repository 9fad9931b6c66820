// Looks keys up in a packed map with the short reader. Keys are SURTs: `com,example)/a/b`.
//
//   node examples/packed-lookup.mjs FILE [KEY...]    answers for keys, or for lines of standard input

import { readFileSync } from "node:fs";
import { openPacked } from "./packed-reader.mjs";

const [file, ...keys] = process.argv.slice(2);
const map = openPacked(readFileSync(file));
for (const key of keys.length > 0 ? keys : readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { present, name = "-", atMost = "-", years } = map.lookup(key);
  const answer = [key, present ? "present" : "absent", name, atMost];
  console.log([...answer, ...(years ? [years.join("-")] : [])].join(" "));
}
