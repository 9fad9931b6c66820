import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ByteSource, sourceChunks } from "../../bytes/byte-source.ts";
import { pageChunks, planPages, type SplitPlan, type SplitSize } from "../../map/split-map.ts";
import { surveyMap } from "../../map/map-survey.ts";
import { withOutput } from "../../files/output-file.ts";
import { homePage, mapView } from "./home-page.ts";
import { digestOf } from "../../files/source-digest.ts";
import { pageLinks } from "./map-version.ts";

/** What was written. */
export interface StaticSite {
  readonly plan: SplitPlan;
  readonly records: number;
}

/**
 * Writes a folder that any server of files publishes with the same meaning as `serve` does.
 *
 *     .well-known/mementomap       the map, and its gzip copy beside it
 *     pages/page-0001.ukvs …       its pages, which name one another, and their gzip copies
 *     index.html                   a page for people, with a link to the map
 *     .nojekyll                    tells GitHub Pages to publish names that begin with a dot
 *
 * Reads the map three times, four when the number of pages is given; holds a chunk and the list of
 * pages.
 *
 * @throws MM_USAGE, MM_NOT_SORTED, MM_BAD_INPUT, MM_BAD_LINE, MM_IO
 */
export async function writeStaticSite(
  source: ByteSource,
  folder: string,
  size: SplitSize,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<StaticSite> {
  const { signal } = options;
  const pageRecords = "maxLines" in size ? size.maxLines : 50_000;
  const survey = await surveyMap(source, { pageRecords, signal });
  const plan = "maxLines" in size ? survey.plan : await planPages(source, size, options);
  const version = (await digestOf(sourceChunks(source, { signal }))).slice(0, 32);
  const chunks = (): AsyncIterable<Uint8Array> => sourceChunks(source, { signal });
  await writeTwice(join(folder, ".well-known", "mementomap"), chunks);
  const digits = Math.max(4, String(plan.pages.length).length);
  const name = (number: number): string => `page-${String(number).padStart(digits, "0")}.ukvs`;
  for (const page of plan.pages) {
    const more = { version, links: pageLinks(page.number, page.of, name) };
    await writeTwice(join(folder, "pages", name(page.number)), () =>
      pageChunks(source, plan, page, { more, ...options }),
    );
  }
  const map = {
    href: ".well-known/mementomap",
    modified: new Date(),
    bytes: source.size,
    pageHref: (number: number): string => `pages/${name(number)}`,
  };
  const home = homePage({ maps: [mapView(survey, map, plan)] });
  await writeFile(join(folder, "index.html"), home, { flush: true });
  await writeFile(join(folder, ".nojekyll"), "", { flush: true });
  return { plan, records: survey.records };
}

/** As it is, and compressed beside it, for servers that send such copies (`gzip_static`). */
async function writeTwice(path: string, chunks: () => AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  for (const target of [path, `${path}.gz`]) {
    await withOutput(target, { stdout: process.stdout }, async (output) => {
      for await (const chunk of chunks()) await output.write(chunk);
    });
  }
}
