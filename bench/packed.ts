/**
 * How fast are packed maps? `npx tsx bench/packed.ts FILE.packed URIS`
 *
 * Looks up keys in bytes, and URIs in text, in a packed map that is in memory; and opens the file.
 * URIS has a URI on each line. One core; the best of several rounds.
 */
import { readFileSync } from "node:fs";
import { FileSource } from "../src/files/input-file.ts";
import { PackedLookup } from "../src/map/lookup/packed-lookup.ts";
import { OUTCOME } from "../src/packed/packed-map.ts";
import { surtKey } from "../src/surt/key.ts";
import { surt } from "../src/surt/uri-to-surt.ts";
import { machine } from "./machine.ts";

const ROUNDS = 7;

const [path, list] = process.argv.slice(2);
if (path === undefined || list === undefined)
  throw new Error("name a packed map and a list of URIs");
const uris = readFileSync(list, "utf8").trimEnd().split("\n");
const map = PackedLookup.of(readFileSync(path), path);
const { queries } = map.names.head.header;
const keys = uris.map((uri) => new TextEncoder().encode(surtKey(surt(uri), { queries })));

let present = 0;
const byBytes = best(() => {
  present = 0;
  for (const key of keys) if (map.names.find(key, 0, key.length) === OUTCOME.present) present++;
});
const byText = best(() => {
  for (const uri of uris) map.isPresent(uri);
});
const opening: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const start = performance.now();
  const source = await FileSource.open(path);
  await PackedLookup.open(source);
  opening.push(performance.now() - start);
  await source.close();
}
console.log(`${machine()}; best of ${ROUNDS} rounds.\n`);
console.log(`${keys.length} lookups, ${present} present`);
console.log(`from bytes: ${rate(byBytes)}\nfrom URIs:  ${rate(byText)}`);
console.log(`opening:    ${Math.min(...opening).toFixed(2)} ms`);

function best(run: () => void): number {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return Math.min(...times);
}

function rate(ms: number): string {
  const each = (ms * 1e6) / keys.length;
  return `${(1000 / each).toFixed(2)} M lookups/s, ${each.toFixed(0)} ns each`;
}
