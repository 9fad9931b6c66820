import { createHash } from "node:crypto";
import { MementoMapError, quote } from "../../errors.ts";
import type { CdxCursor, CdxPaging, CdxQuery } from "../../harvest/cdx-request.ts";
import { cursorOfProbe, nextCursor, pageUrl, probeUrl } from "../../harvest/cdx-request.ts";
import { HarvestStore } from "./harvest-store.ts";
import type { PoliteOptions } from "./polite-client.ts";
import { PoliteClient, startOf } from "./polite-client.ts";

export interface HarvestOptions extends PoliteOptions {
  /** How the server pages; found out by default. */
  readonly paging?: CdxPaging | undefined;
  /** Lines to ask for at a time, where the server lets us say; 10,000 by default. */
  readonly linesPerPage?: number | undefined;
  /** Told of lines as they come. */
  readonly onLines?: ((lines: number) => void) | undefined;
}

export interface HarvestSummary {
  readonly lines: number;
  readonly bytes: number;
  readonly pages: number;
  readonly requests: number;
  /** Lines that an earlier run had fetched already. */
  readonly resumedLines: number;
}

const DEFAULT_LINES_PER_PAGE = 10_000;

/**
 * Fetches the index of an archive from its CDX server into a file.
 *
 * While it is fetched, the lines are in `FILE.part` and how far it got in `FILE.part.json`. The
 * same harvest begun again, after an interruption or an error, goes on behind the last whole page.
 * The file appears when all is there. Holds one chunk.
 *
 * @throws MM_IO, MM_BAD_INPUT when the answers are no index, MM_INTERRUPTED
 */
export async function harvestIndex(
  api: string,
  queries: readonly CdxQuery[],
  target: string,
  options: HarvestOptions = {},
): Promise<HarvestSummary> {
  const client = new PoliteClient(options);
  const store = await HarvestStore.open(target, harvestName(api, queries));
  const resumedLines = store.state.lines;
  try {
    while (store.state.query < queries.length) {
      const query = queries[store.state.query];
      const cursor = store.state.cursor ?? (await firstCursor(api, query, client, options));
      await fetchPage(api, query, cursor, client, store, options);
    }
    await store.finish();
  } finally {
    await store.close();
  }
  const { lines, bytes, pages } = store.state;
  return { lines, bytes, pages, requests: client.requests, resumedLines };
}

async function firstCursor(
  api: string,
  query: CdxQuery,
  client: PoliteClient,
  { paging }: HarvestOptions,
): Promise<CdxCursor> {
  if (paging === "resume") return { paging, key: undefined };
  if (paging === "stream") return { paging };
  const cursor = cursorOfProbe(
    await client.ask(probeUrl(api, query), ({ chunks }) => startOf(chunks)),
  );
  if (paging !== "pages" || cursor.paging === "pages") return cursor;
  throw new MementoMapError("MM_USAGE", "the server does not say how many pages there are", {
    position: { source: api },
  });
}

async function fetchPage(
  api: string,
  query: CdxQuery,
  cursor: CdxCursor,
  client: PoliteClient,
  store: HarvestStore,
  options: HarvestOptions,
): Promise<void> {
  const url = pageUrl(api, query, cursor, options.linesPerPage ?? DEFAULT_LINES_PER_PAGE);
  let next: CdxCursor | undefined;
  let lines = 0;
  if (url !== undefined) {
    lines = await client.ask(url, (answer) => store.writePage(answer, url, cursor.paging));
    const key = cursor.paging === "resume" ? await store.takeResumeKey() : undefined;
    if (key !== undefined) lines -= 2;
    if (cursor.paging === "resume" && key !== undefined && key === cursor.key) {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `the server gives the resume key ${quote(key)} again, and so no end`,
        { position: { source: url } },
      );
    }
    next = nextCursor(cursor, key);
  }
  await store.commitPage(next, lines);
  options.onLines?.(lines);
}

function harvestName(api: string, queries: readonly CdxQuery[]): string {
  return createHash("sha256")
    .update(JSON.stringify([api, queries]))
    .digest("hex");
}
