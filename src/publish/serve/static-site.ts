import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ByteSource, sourceChunks } from "../../bytes/byte-source.ts";
import { pageChunks, planPages, type SplitPlan, type SplitSize } from "../../maps/split-map.ts";
import { surveyMap } from "../../maps/map-survey.ts";
import { withOutput } from "../../files/output-file.ts";
import { formatNumber } from "../../format.ts";
import { htmlDocument } from "../../page/document.ts";
import { html } from "../../page/html.ts";
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
  const { name: title = survey.plan.headers.id ?? "MementoMap" } = survey.plan.headers.meta;
  const pages = plan.pages.map(({ number, records }) => ({
    href: `pages/${name(number)}`,
    records,
  }));
  const home = siteIndex(String(title), pages);
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

/** A page for people, with links to the map and its pages. */
function siteIndex(
  title: string,
  pages: readonly { readonly href: string; readonly records: number }[],
): string {
  const head = html`<link rel="mementomap" href=".well-known/mementomap" type="text/plain" />`;
  const body = html`<main class="frame">
    <h1>${title}</h1>
    <p class="lede">
      A summary of which web pages this archive holds, for Memento routing:
      <a href=".well-known/mementomap" download="mementomap.ukvs">download the map</a>, or its
      pages:
    </p>
    <ol>
      ${pages.map(({ href, records }) => html`<li><a href="${href}">${formatNumber(records)} keys</a></li> `)}
    </ol>
  </main>`;
  return htmlDocument(`${title} · MementoMap`, head, body);
}
