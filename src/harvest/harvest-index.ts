import { MementoMapError, quote } from "../errors.ts";
import {
  type CdxCursor,
  type CdxPaging,
  type CdxQuery,
  cursorOfProbe,
  htmlAnswer,
  limitOf,
  nextCursor,
  pageCountUrl,
  pageUrl,
  probeUrl,
  windowOf,
  withoutUser,
} from "./cdx-request.ts";
import { looksLikeHtml } from "../bytes/bytes.ts";
import { checkAnswer } from "./answer-check.ts";
import { harvestName } from "./harvest-files.ts";
import { HarvestStore } from "./harvest-store.ts";
import { PoliteClient, type PoliteOptions, startOf } from "./polite-client.ts";
import { checkSignal } from "../interruption.ts";

export interface HarvestOptions extends PoliteOptions {
  /** How the server pages; found out by default. */
  readonly paging?: CdxPaging | undefined;
  /**
   * Lines to ask for at a time; by default 10,000 of servers with resume keys, and all of those that
   * send one stream.
   */
  readonly linesPerPage?: number | undefined;
  /** Whether to write an index without a capture; an error by default. */
  readonly allowsEmpty?: boolean | undefined;
  /** Called with the number of lines of each page. */
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
  /** Why captures may be missing; the index says that it is a sample. Undefined where none are. */
  readonly sampleReason: string | undefined;
}

/**
 * Fetches the index of an archive from its CDX server into a file.
 *
 * While it is fetched, the lines are in `FILE.part` and how far it got in `FILE.part.json`. The
 * same harvest begun again, after an interruption or an error, goes on behind the last whole page.
 * The file appears when all is there, compressed if its name ends so. Holds one chunk.
 *
 * Servers that send one stream may stop at a limit and not say so. The last row is asked for; if
 * rows are missing, the captures are asked for in smaller windows of time. Where that fails, the
 * index begins with `!meta {"sample": true}`, and maps of it do not claim to be complete.
 *
 * @throws MM_HTTP, MM_REFUSED, MM_IO, MM_BAD_INPUT and MM_LIMIT when the answers are not an index,
 *   MM_NOT_FOUND when there is no capture, MM_USAGE when the file is of another harvest that was
 *   begun, MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { once } from "node:events";
 * import { harvestIndex } from "mementomap/node";
 *
 * const row = "com,example)/ 20150101000000 http://example.com/ text/html 200 AAAA 100\n";
 * const cdxServer = createServer((request, response) => {
 *   response.end(request.url?.includes("showNumPages") === true ? "1\n" : row);
 * }).listen(0, "127.0.0.1");
 * await once(cdxServer, "listening");
 * const { port } = cdxServer.address() as { port: number };
 *
 * const queries = [{ url: "example.com", match: "domain" }] as const;
 * const { lines } = await harvestIndex(`http://127.0.0.1:${port}/cdx`, queries, "harvest.cdx", {
 *   intervalMs: 0,
 * });
 * console.log(lines);
 * cdxServer.close();
 * ```
 * ```
 * 1
 * ```
 */
export async function harvestIndex(
  api: string,
  queries: readonly CdxQuery[],
  target: string,
  options: HarvestOptions = {},
): Promise<HarvestSummary> {
  checkSignal(options.signal);
  const client = new PoliteClient(api, options);
  const store = await HarvestStore.open(target, harvestName([api, queries]), options.interrupt);
  const resumedLines = store.state.lines;
  const harvest: Harvest = { api, client, store, options, isOnlyQuery: queries.length === 1 };
  try {
    while (store.state.query < queries.length) {
      const query = queries[store.state.query];
      const cursor = store.state.cursor ?? (await firstCursor(api, query, client, options));
      const url = pageUrl(api, query, cursor, options.linesPerPage);
      const lines =
        url === undefined ? await takeNothing(store) : await fetchPage(url, query, cursor, harvest);
      options.onLines?.(lines);
    }
    if (store.rows === 0 && options.allowsEmpty !== true) {
      await store.discard();
      throw nothingFound(api, queries);
    }
    await store.finish(withoutUser(api));
  } finally {
    client.close();
    await store.close();
  }
  const { lines, bytes, pages, sampleReason } = store.state;
  return { lines, bytes, pages, requests: client.requests, resumedLines, sampleReason };
}

interface Harvest {
  readonly api: string;
  readonly client: PoliteClient;
  readonly store: HarvestStore;
  readonly options: HarvestOptions;
  readonly isOnlyQuery: boolean;
}

async function firstCursor(
  api: string,
  query: CdxQuery,
  client: PoliteClient,
  { paging }: HarvestOptions,
): Promise<CdxCursor> {
  if (paging === "resume") return { paging, key: undefined };
  if (paging === "stream") return { paging };
  let cursor = cursorOfProbe(await askAbout(probeUrl(api, query), client));
  if (cursor.paging === "pages" || paging === "pages") {
    cursor = cursorOfProbe(await askAbout(pageCountUrl(api, query), client));
  }
  if (paging !== "pages" || cursor.paging === "pages") return cursor;
  throw new MementoMapError("MM_USAGE", "the server does not say how many pages there are", {
    position: { source: withoutUser(api) },
  });
}

/** @throws MM_BAD_INPUT for a page in HTML. */
async function askAbout(url: string, client: PoliteClient): Promise<string> {
  const answer = await client.ask(url, ({ chunks }) => startOf(chunks));
  if (!looksLikeHtml(answer)) return answer;
  throw htmlAnswer(withoutUser(url));
}

async function fetchPage(
  url: string,
  query: CdxQuery,
  cursor: CdxCursor,
  { api, client, store, options, isOnlyQuery }: Harvest,
): Promise<number> {
  const written = await client.ask(url, (answer) => store.writePage(answer, cursor, isOnlyQuery));
  const end = cursor.paging === "resume" ? await store.takeResumeKey() : undefined;
  const lines = written - (end?.lines ?? 0);
  const rows = await store.pageRows(windowOf(query, cursor));
  const next = nextCursor(cursor, end?.key, withoutUser(url));
  if (cursor.paging === "resume" && (next !== undefined || cursor.key !== undefined)) {
    // It has resume keys, so it says when there are more rows.
    await store.commitPage(next, { lines, rows: rows.count });
    return lines;
  }
  const limit = limitOf(cursor, options.linesPerPage);
  const verdict = await checkAnswer(client, api, query, cursor, rows, limit);
  switch (verdict.is) {
    case "whole":
      await store.commitPage(checked(next, rows.count), { lines, rows: rows.count });
      return lines;
    case "cut": {
      const open = cursor.paging === "stream" ? (cursor.windows ?? []) : [];
      const windows = [...open.slice(0, -1), ...verdict.windows.toReversed()];
      await store.dropPage({ paging: "stream", windows });
      return 0;
    }
    case "sample": {
      const { keepsRows, reason } = verdict;
      if (!keepsRows) await store.forgetPage();
      const page = keepsRows ? { lines, rows: rows.count } : { lines: 0, rows: 0 };
      await store.commitPage(next, page, reason);
      return page.lines;
    }
  }
}

/** Remembers how many rows a page may have without being looked at. */
function checked(cursor: CdxCursor | undefined, rows: number): CdxCursor | undefined {
  if (cursor?.paging !== "pages") return cursor;
  return { ...cursor, checkedRows: Math.max(rows, cursor.checkedRows ?? 0) };
}

/** There may be no page at all. */
async function takeNothing(store: HarvestStore): Promise<number> {
  await store.commitPage(undefined, { lines: 0, rows: 0 });
  return 0;
}

function nothingFound(api: string, queries: readonly CdxQuery[]): MementoMapError {
  const urls = queries.map(({ url }) => quote(url));
  const shown = urls.length > 3 ? `${urls.length} URLs` : urls.join(", ");
  return new MementoMapError(
    "MM_NOT_FOUND",
    `the server has no captures of ${shown}; check the name of the collection in its address (some servers answer for any name), the URL, and how far beyond it to match`,
    { position: { source: withoutUser(api) } },
  );
}
