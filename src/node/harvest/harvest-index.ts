import { MementoMapError } from "../../errors.ts";
import type { CdxCursor, CdxPaging, CdxQuery } from "../../harvest/cdx-request.ts";
import { cursorOfProbe, nextCursor, pageUrl, probeUrl } from "../../harvest/cdx-request.ts";
import { withoutUser } from "../../harvest/server-address.ts";
import { harvestName } from "./harvest-files.ts";
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
  /** Requests of this run. */
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
 * The file appears when all is there, compressed if its name ends so. Holds one chunk.
 *
 * @throws MM_HTTP, MM_REFUSED, MM_IO, MM_BAD_INPUT and MM_LIMIT when the answers are no index,
 *   MM_USAGE when the file is of another harvest that was begun, MM_INTERRUPTED
 */
export async function harvestIndex(
  api: string,
  queries: readonly CdxQuery[],
  target: string,
  options: HarvestOptions = {},
): Promise<HarvestSummary> {
  const client = new PoliteClient(api, options);
  const store = await HarvestStore.open(target, harvestName([api, queries]), options.interrupt);
  const resumedLines = store.state.lines;
  try {
    while (store.state.query < queries.length) {
      const query = queries[store.state.query];
      const cursor = store.state.cursor ?? (await firstCursor(api, query, client, options));
      const url = pageUrl(api, query, cursor, options.linesPerPage ?? DEFAULT_LINES_PER_PAGE);
      const lines =
        url === undefined
          ? await takeNothing(store)
          : await fetchPage(url, cursor, client, store, queries.length === 1);
      options.onLines?.(lines);
    }
    await store.finish();
  } finally {
    client.close();
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
    position: { source: withoutUser(api) },
  });
}

async function fetchPage(
  url: string,
  cursor: CdxCursor,
  client: PoliteClient,
  store: HarvestStore,
  isOnlyQuery: boolean,
): Promise<number> {
  const written = await client.ask(url, (answer) => store.writePage(answer, cursor, isOnlyQuery));
  const end = cursor.paging === "resume" ? await store.takeResumeKey() : undefined;
  const lines = written - (end?.lines ?? 0);
  await store.commitPage(nextCursor(cursor, end?.key, withoutUser(url)), lines);
  return lines;
}

/** There may be no page at all. */
async function takeNothing(store: HarvestStore): Promise<number> {
  await store.commitPage(undefined, 0);
  return 0;
}
