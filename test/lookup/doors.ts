import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineBatches } from "../../src/bytes/lines.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { FetchClient } from "../../src/http/http-client.ts";
import { BatchAnswers } from "../../src/lookup/batch.ts";
import type { Answer, LookupOptions, SourceLookup } from "../../src/lookup/map-lookup.ts";
import { lookupPeriod } from "../../src/lookup/map-lookup.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { openMap } from "../../src/node.ts";
import { openRemoteMap } from "../../src/publish/fetch/remote-map.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { serving } from "../support/serving.ts";

/** A way to ask a map. Without `lookupSurt` it takes only URIs. */
export interface Door {
  lookup(uri: string, options?: LookupOptions): Promise<Answer>;
  lookupSurt?(surt: string, options?: LookupOptions): Promise<Answer>;
}

/** Opens a map of text, as bytes. */
export type OpenDoor = (map: Uint8Array) => Promise<Door>;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What can be in a line of a batch. */
function isLine(input: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are the point
  return input !== "" && !/[\0-\x20\ufeff]/.test(input);
}

function inBatches(map: SourceLookup): Door {
  const ask =
    (isSurt: boolean) =>
    async (input: string, { at }: LookupOptions = {}): Promise<Answer> => {
      if (!isLine(input)) return map.lookupNow(input, { at }, isSurt);
      let text = "";
      const sink = { write: (block: Uint8Array) => void (text += Buffer.from(block).toString()) };
      const answers = new BatchAnswers(map, sink, { isSurt, period: lookupPeriod(at) });
      // Lines before and behind it: they are answered in groups.
      const lines = encode(`com,other)/x\n\n${input}\ncom,other)/x\n`);
      for await (const batch of lineBatches([lines])) await answers.writeLines(batch);
      await answers.flush();
      return parsedLine(text.split("\n")[1] ?? "");
    };
  return { lookup: ask(false), lookupSurt: ask(true) };
}

function parsedLine(line: string): Answer {
  const [, state, key, frequency, distance] = line.split("\t");
  const present = state === "present";
  if (key === "-" || key === undefined || frequency === undefined) return { present };
  return { present, key, frequency, distance: Number(distance) };
}

/** Ways that take microseconds, for properties. */
export const QUICK_DOORS: Readonly<Record<string, OpenDoor>> = {
  "an index in memory": async (map) => MemoryIndex.build(map),
  "a file": (map) => MapSearch.open(new MemorySource(map)),
  "a file in blocks of 16 bytes, of which few are kept": (map) =>
    MapSearch.open(new MemorySource(map), { blockBytes: 16, maxBytes: 48 }),
  "a batch in memory": async (map) => inBatches(MemoryIndex.build(map)),
  "a batch in a file": async (map) =>
    inBatches(await MapSearch.open(new MemorySource(map), { blockBytes: 32 })),
  "the library": (map) => openMap(new Blob([map])),
};

/** Serves bytes by ranges; returns the address. */
function rangesOf(map: Uint8Array): Promise<string> {
  return serveOnLoopback((_, response, { headers }) => {
    const [, first = "0", last = "0"] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? "") ?? [];
    const body = map.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + body.length - 1}/${map.length}`;
    response.writeHead(206, { "Content-Range": range, ETag: '"1"' }).end(body);
  });
}

async function served(map: Uint8Array, maxIndexBytes: number): Promise<Door> {
  const { url } = await serving(map, { maxIndexBytes });
  const ask =
    (isSurt: boolean) =>
    async (input: string, { at }: LookupOptions = {}): Promise<Answer> => {
      const query = [...(isSurt ? ["surt"] : []), ...(typeof at === "string" ? [`at=${at}`] : [])];
      const response = await fetch(`${url}/lookup?${[...query, `url=${input}`].join("&")}`);
      const said = (await response.json()) as { [name in keyof Answer]: Answer[name] | null };
      const { present, key, frequency, distance } = said;
      return key === null
        ? { present: present === true }
        : ({ present, key, frequency, distance } as Answer);
    };
  return { lookup: ask(false), lookupSurt: ask(true) };
}

async function command(map: Uint8Array, isBatch: boolean): Promise<Door> {
  const folder = scratchDir();
  const [path, list] = [join(folder, "map.ukvs"), join(folder, "list")];
  writeFileSync(path, map);
  const ask =
    (isSurt: boolean) =>
    async (input: string, { at }: LookupOptions = {}): Promise<Answer> => {
      writeFileSync(list, `${input}\n`);
      const options = [
        ...(isSurt ? ["--surt"] : []),
        ...(typeof at === "string" ? ["--at", at] : []),
      ];
      const what = isBatch ? ["--batch", list] : ["--", input];
      const { stdout, stderr } = await runCli(["lookup", "--quiet", ...options, path, ...what]);
      if (stdout === "") throw new Error(stderr);
      return parsedLine(stdout.trimEnd());
    };
  return { lookup: ask(false), lookupSurt: ask(true) };
}

/** All ways to ask a map of text. */
export const DOORS: Readonly<Record<string, OpenDoor>> = {
  ...QUICK_DOORS,
  "ranges of HTTP": async (map) =>
    (await openRemoteMap(new FetchClient(), await rangesOf(map))).lookup,
  "a server that holds the map": (map) => served(map, 2 ** 20),
  "a server that does not hold the map": (map) => served(map, 1),
  "the command": (map) => command(map, false),
  "the command in a batch": (map) => command(map, true),
};
