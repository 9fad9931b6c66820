import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aggregateProcess, writeList } from "../support/aggregate-process.ts";
import { localArchive } from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";
import { linkTimeMap } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";
import { type Inputs, makeInputs, type Network, networkJobs } from "./jobs.ts";
import { run, start } from "./process.ts";
import { canMount, namesIn, smallDisk } from "./small-disk.ts";

let inputs: Inputs;
let network: Network;
let packed: string;

beforeAll(async () => {
  if (!canMount) process.stdout.write("full disks: skipped, nothing may be mounted here\n");
  inputs = await makeInputs(30_000);
  network = await networkJobs(inputs);
  packed = join(inputs.folder, "map.ukvs.gz");
  writeFileSync(packed, gzipSync(readFileSync(inputs.map)));
});

afterAll(() => {
  network.close();
  inputs.close();
});

const NO_SPACE = /^mementomap: \S+: no space left on the device; free some[^\n]*\[MM_IO\]\n$/;

describe.skipIf(!canMount)("a disk that is full", () => {
  /** Commands whose result goes to OUT on a disk that is too small for it. */
  it.each([
    "generate -q INDEX -o OUT",
    "generate -q --threads 3 INDEX OTHER -o OUT",
    "generate -q INDEX OTHER -o OUT.gz",
    "compact -q --host-weight inf --path-weight inf MAP -o OUT",
    "compact -q --relative-cost 90% MAP -o OUT",
    "merge -q MAP OTHERMAP -o OUT",
    "sample -q --lines 20000 -o OUT",
    "analyze -q INDEX --html OUT",
    "split -q --pages 2 MAP -o FOLDER",
    "page -q MAP -o FOLDER",
    "fetch -q --direct SERVER/map -o OUT",
    "harvest -q --interval 0 --retries 0 SERVER/cdx --url a.com -o OUT",
  ])("keeps the old file, and leaves nothing else: %s", async (line) => {
    const disk = smallDisk(64);
    const target = join(disk, `out${/OUT(\S*)/.exec(line)?.[1] ?? ""}`);
    const folder = join(disk, "pages");
    const old = /FOLDER|analyze/.test(line) ? undefined : oldFile(target, line);
    const before = namesIn(disk);
    const ended = await run(words(line, { OUT: join(disk, "out"), FOLDER: folder }));
    expect({ ...ended, ms: 0 }).toMatchObject({ code: 2, stderr: expect.stringMatching(NO_SPACE) });
    expect(namesIn(disk)).toEqual(before);
    expect(old === undefined || readFileSync(target).equals(old)).toBe(true);
  });

  /** Commands whose scratch files go to SCRATCH, where there is too little room for them. */
  it.each([
    "generate -q --threads 1 --memory 1m --by datetime:day --tmp SCRATCH INDEX OTHER -o OUT",
    "compact -q --max-bytes 90k --tmp SCRATCH MAP -o OUT",
    "compact -q --max-bytes 90k --misses MISSES --tmp SCRATCH MAP -o OUT",
    "compact -q --relative-cost 50% --tmp SCRATCH PACKED -o OUT",
    "merge -q --tmp SCRATCH PACKED OTHERMAP -o OUT",
    "split -q --pages 2 PACKED -o OUT",
    "analyze -q --memory 1m --tmp SCRATCH INDEX OTHER --html OUT",
    "serve PACKED --port 0",
    "fetch -q --direct SERVER/map",
  ])("of scratch files ends the run, and is left as it was: %s", async (line) => {
    const disk = smallDisk(64);
    const folder = scratchDir();
    const ended = await run(words(line, { SCRATCH: disk, OUT: join(folder, "out") }), {
      env: { TMPDIR: disk },
    });
    expect({ ...ended, ms: 0 }).toMatchObject({ code: 2, stderr: expect.stringMatching(NO_SPACE) });
    expect(namesIn(disk)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("does not end a harvest for good: with more room the next run goes on", async () => {
    const disk = smallDisk(2000);
    writeFileSync(join(disk, "fill"), Buffer.alloc(1_500_000));
    const line =
      "harvest -q --interval 0 --retries 0 --page-lines 300 SERVER/cdx --url a.com -o OUT";
    const argv = words(line, { OUT: join(disk, "out") });
    expect(await run(argv)).toMatchObject({ code: 2 });
    const whole = join(scratchDir(), "whole");
    expect(await run(words(line, { OUT: whole }))).toMatchObject({ code: 0 });
    rmSync(join(disk, "fill"));
    const verbose = argv.filter((word) => word !== "-q");
    expect(await run(verbose)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/3,000 captures, \d[\d,]* of them before/),
    });
    expect(readFileSync(join(disk, "out")).equals(readFileSync(whole))).toBe(true);
    expect(namesIn(disk)).toEqual(["out"]);
  });

  it("does not end an aggregator that keeps answers, maps and a log on it", async () => {
    const disk = smallDisk(256);
    const archive = await localArchive("a", (request, response) => {
      if (request.url === "/map") {
        response.end(readFileSync(inputs.map));
        return;
      }
      const original = (request.url ?? "").replace(/^\/timemap\/link\//, "");
      response.writeHead(200, { "Content-Type": "application/link-format" });
      const datetimes = Array.from({ length: 900 }, (_, i) => `${20_000_101_000_000 + i}`);
      response.end(linkTimeMap(original, "http://a.test/web/", datetimes));
    });
    const listed = { archive: { ...archive.archive, mementomap: `${archive.url}/map` } };
    const service = await aggregateProcess([
      "-a",
      writeList([listed]),
      "--no-routing",
      "--state",
      join(disk, "state"),
      "--log",
      join(disk, "memgator.log"),
    ]);
    for (let page = 0; page < 40; page++) {
      const answer = await fetch(`${service.url}/timemap/link/http://b.test/${page}`);
      expect(answer.status).toBe(200);
      expect((await answer.text()).split("\n").length).toBeGreaterThan(900);
    }
    await until(() => /no space left/.test(service.said()));
    expect(service.said()).toContain("answer not cached");
    service.kill("SIGTERM");
    expect(await service.done).toMatchObject({ code: 0 });
    expect(namesIn(disk).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("keeps a service running whose messages cannot be written", async () => {
    const archive = await localArchive("a", (_request, response) => {
      response.writeHead(404).end();
    });
    const { child, ended } = start(
      ["aggregate", "--serve", "--port", "0", "-a", writeList([archive])],
      { under: "exec 2>/dev/full" },
    );
    const url = await firstLine(child.stdout);
    for (let page = 0; page < 5; page++) {
      expect((await fetch(`${url}/timemap/link/http://b.test/${page}`)).status).toBe(404);
    }
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  });
});

function firstLine(stream: NodeJS.ReadableStream | null): Promise<string> {
  return new Promise((resolve) => {
    stream?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
}

/** Puts a small file of the kind that the command writes where its result is to be. */
function oldFile(target: string, line: string): Buffer {
  if (/^(?:sample|harvest)/.test(line)) cpSync(inputs.small.index, target);
  else if (target.endsWith(".gz")) writeFileSync(target, gzipSync(readFileSync(inputs.small.map)));
  else cpSync(inputs.small.map, target);
  return readFileSync(target);
}

function words(line: string, names: Readonly<Record<string, string>>): string[] {
  const known: Record<string, string> = {
    INDEX: inputs.index,
    OTHERMAP: inputs.otherMap,
    OTHER: inputs.otherIndex,
    PACKED: packed,
    MAP: inputs.map,
    MISSES: inputs.misses,
    SERVER: network.address,
    ...names,
  };
  return line.split(" ").map((word) => word.replace(/^[A-Z]+/, (name) => known[name] ?? name));
}
