import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { Random } from "../../src/bytes/random.ts";
import { sampleLookups } from "../../src/study/sample/sample-lookups.ts";

/** Originals in the order in which people ask for them, with repeats. */
export interface LookupStream {
  readonly name: string;
  readonly originals: readonly string[];
}

const DATA =
  process.env["MEMENTOMAP_DATA"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url));
const REAL = join(DATA, "congress-a.lookups.tsv.gz");

/** Requests for the n-th most wanted original fall off with this power of n. */
const ZIPF_EXPONENT = 0.8;

/** Real links in the order they were posted, where that file is at hand; else drawn from a seed. */
export function lookupStream(): LookupStream {
  return existsSync(REAL) ? postedLinks() : drawnLinks(300_000, 200_000);
}

function postedLinks(): LookupStream {
  const lines = gunzipSync(readFileSync(REAL)).toString("utf8").split("\n");
  const originals = lines
    // Clients do not send what stands behind "#".
    .map((line) => line.slice(line.indexOf("\t") + 1).replace(/#.*$/, ""))
    .filter((uri) => /^https?:\/\/[!-~]+$/.test(uri));
  return { name: "links in posts of members of Congress, 2017 to 2023", originals };
}

function drawnLinks(requests: number, distinct: number): LookupStream {
  const uris = [...new Set(sampleLookups({ lines: 1_000_000, count: distinct, held: 0.5 }))];
  const random = new Random(1, "stream");
  const ends: number[] = [];
  let total = 0;
  for (let rank = 1; rank <= uris.length; rank++) {
    total += rank ** -ZIPF_EXPONENT;
    ends.push(total);
  }
  const originals = Array.from(
    { length: requests },
    () => uris[firstBeyond(ends, random.real() * total)],
  );
  return { name: "originals near those of the sample archive, drawn by Zipf's law", originals };
}

/** The place of the first number above `value`, in rising numbers whose last is above it. */
function firstBeyond(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
