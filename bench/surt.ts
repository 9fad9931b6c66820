// Speed of the SURT functions over real addresses, and whether they agree with the keys beside them.
//
//   npx tsx bench/surt.ts [FILE.tsv.gz]
//
// FILE has a SURT and a URI on each line, split by a tab. With PYTHON_SURT set to a Python that has
// the `surt` package, its speed over the first 100,000 addresses is printed too.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { sharedData } from "../test/support/shared-data.ts";
import { surt, surtBytes } from "../src/surt/uri-to-surt.ts";

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RUNS = 5;
const PYTHON_SAMPLE = 100_000;
const PYTHON_PROGRAM = `
import sys, time, surt
uris = [line.rstrip("\\n") for line in sys.stdin]
start = time.perf_counter()
for uri in uris: surt.surt(uri)
print(len(uris) / (time.perf_counter() - start))
`;

interface Corpus {
  readonly bytes: Uint8Array;
  /** For each line: where its SURT starts, where its URI starts, and where the line ends. */
  readonly offsets: Int32Array;
  readonly count: number;
}

function readCorpus(path: string): Corpus {
  const bytes = gunzipSync(readFileSync(path));
  const offsets: number[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(LINE_FEED, start);
    const end = newline === -1 ? bytes.length : newline;
    offsets.push(start, bytes.indexOf(TAB, start) + 1, end);
    start = end + 1;
  }
  return { bytes, offsets: Int32Array.from(offsets), count: offsets.length / 3 };
}

function offset({ offsets }: Corpus, line: number, field: 0 | 1 | 2): number {
  return offsets[line * 3 + field] ?? 0;
}

function report(name: string, count: number, pass: () => void): void {
  const rates: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now();
    pass();
    rates.push(count / (performance.now() - start) / 1000);
  }
  rates.sort((a, b) => a - b);
  const shown = rates.map((rate) => rate.toFixed(2)).join(" ");
  console.log(`${name.padEnd(12)} M URIs/s, ${RUNS} runs, slowest first: ${shown}`);
}

function countDisagreements(corpus: Corpus): number {
  const target = new Uint8Array(1 << 16);
  let disagreements = 0;
  for (let line = 0; line < corpus.count; line++) {
    const uriStart = offset(corpus, line, 1);
    const end = surtBytes(corpus.bytes, uriStart, offset(corpus, line, 2), target, 0);
    const expected = corpus.bytes.subarray(offset(corpus, line, 0), uriStart - 1);
    if (Buffer.compare(target.subarray(0, end), expected) !== 0) disagreements++;
  }
  return disagreements;
}

const path = process.argv[2] ?? sharedData("eot-a.holdings.tsv.gz");
if (path === undefined || !existsSync(path)) {
  console.error("bench/surt: no data file at hand; name one with a SURT and a URI on each line");
  process.exitCode = 2;
} else {
  const corpus = readCorpus(path);
  const { bytes, count } = corpus;
  console.log(`${count} URIs; ${countDisagreements(corpus)} SURTs differ from the file's`);

  const target = new Uint8Array(1 << 16);
  report("surtBytes()", count, () => {
    for (let line = 0; line < count; line++) {
      surtBytes(bytes, offset(corpus, line, 1), offset(corpus, line, 2), target, 0);
    }
  });

  const decoder = new TextDecoder();
  const uris = Array.from({ length: count }, (_, line) =>
    decoder.decode(bytes.subarray(offset(corpus, line, 1), offset(corpus, line, 2))),
  );
  report("surt()", count, () => {
    for (const uri of uris) surt(uri);
  });

  const python = process.env["PYTHON_SURT"];
  if (python !== undefined) {
    const input = uris.slice(0, PYTHON_SAMPLE).join("\n");
    const { stdout } = spawnSync(python, ["-c", PYTHON_PROGRAM], { input, encoding: "utf8" });
    console.log(`Python surt  M URIs/s, 1 run: ${(Number(stdout) / 1e6).toFixed(3)}`);
  }
}
