import { createReadStream } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { surt } from "../src/surt/uri-to-surt.ts";
import { madeOnce } from "./bench-folder.ts";
import { mementomap } from "./peers/mementomap.ts";
import { shuffleLines } from "./shuffle-lines.ts";

/** Lookups, as URIs and as the SURTs of these. */
export interface Lookups {
  readonly uris: string;
  readonly surts: string;
}

/** The index of a sample archive, sorted CDXJ. */
export function sampleIndex(folder: string, lines: number): Promise<string> {
  return madeOnce(folder, `index-${lines}.cdxj`, (path) =>
    mementomap("sample", "--lines", String(lines), "-o", path),
  );
}

/** Lookups as an aggregator gets them: few are held. */
export async function usualLookups(
  folder: string,
  lines: number,
  lookups: number,
): Promise<Lookups> {
  const uris = await madeOnce(folder, `uris-${lines}-${lookups}.txt`, (path) =>
    mementomap("sample", "--lines", String(lines), "--uris", String(lookups), "-o", path),
  );
  const surts = await madeOnce(folder, `surts-${lines}-${lookups}.txt`, (path) =>
    writeSurts(uris, path),
  );
  return { uris, surts };
}

/** Lookups of captured URIs in random order: the index holds every one. */
export async function heldLookups(
  folder: string,
  index: string,
  lines: number,
  lookups: number,
): Promise<Lookups> {
  const uris = await madeOnce(folder, `held-uris-${lines}-${lookups}.txt`, async (path) => {
    const ordered = `${path}.ordered`;
    await writeFile(ordered, await capturedUris(index, lines / lookups));
    await shuffleLines(ordered, (await stat(ordered)).size, path);
  });
  const surts = await madeOnce(folder, `held-surts-${lines}-${lookups}.txt`, (path) =>
    writeSurts(uris, path),
  );
  return { uris, surts };
}

/** The URI of every `step`th line of a CDXJ file. */
async function capturedUris(index: string, step: number): Promise<string> {
  const uris: string[] = [];
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(index) })) {
    if (Math.floor(++line / step) > uris.length) {
      const { url } = JSON.parse(text.slice(text.indexOf("{"))) as { url: string };
      uris.push(url);
    }
  }
  return `${uris.join("\n")}\n`;
}

async function writeSurts(uris: string, path: string): Promise<void> {
  const list = (await readFile(uris, "utf8")).trimEnd().split("\n");
  await writeFile(path, list.map((uri) => `${surt(uri)}\n`).join(""));
}
