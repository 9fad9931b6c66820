import { MementoMapError, quote, withoutCredentials } from "../errors.ts";
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
} from "./cdx-request.ts";
import { looksLikeHtml } from "../bytes/bytes.ts";
import { missingRows } from "./answer-check.ts";
import { type HarvestNote, writePage } from "./harvest-page.ts";
import { PoliteClient, type PoliteOptions, startOf } from "./polite-client.ts";
import { ResumableFile } from "./resumable-file.ts";
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
 * Servers that send one stream may stop at a limit and not say so. The last row is requested, too;
 * if rows may be missing, the index begins with `!meta {"sample": true}`, and maps of it do not
 * claim to be complete.
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
  const file = await ResumableFile.open<HarvestNote>(target, {
    harvest: [api, queries],
    start: { query: 0, bytes: 0, lines: 0, pages: 0, rows: 0 },
    interrupt: options.interrupt,
  });
  const resumedLines = file.note.lines;
  const harvest: Harvest = { api, client, file, options };
  try {
    while (file.note.query < queries.length) {
      const query = queries[file.note.query];
      const cursor = file.note.cursor ?? (await firstCursor(api, query, client, options));
      const url = pageUrl(api, query, cursor, options.linesPerPage);
      const page = url === undefined ? NO_PAGE : await fetchPage(url, query, cursor, harvest);
      await commitPage(file, page);
      options.onLines?.(page.lines);
    }
    if (file.note.rows === 0 && options.allowsEmpty !== true) {
      await file.discard();
      throw nothingFound(api, queries);
    }
    const meta = { sample: true, source: withoutCredentials(api) };
    const isSample = file.note.sampleReason !== undefined;
    await file.finish(isSample ? `!meta ${JSON.stringify(meta)}\n` : "");
  } finally {
    client.close();
    await file.close(file.note.pages === 0);
  }
  const { lines, bytes, pages, sampleReason } = file.note;
  return { lines, bytes, pages, requests: client.requests, resumedLines, sampleReason };
}

interface Harvest {
  readonly api: string;
  readonly client: PoliteClient;
  readonly file: ResumableFile<HarvestNote>;
  readonly options: HarvestOptions;
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
    position: { source: api },
  });
}

/** @throws MM_BAD_INPUT for a page in HTML. */
async function askAbout(url: string, client: PoliteClient): Promise<string> {
  const answer = await client.ask(url, ({ chunks }) => startOf(chunks));
  if (!looksLikeHtml(answer)) return answer;
  throw htmlAnswer(url);
}

/** What a request brought. */
interface Page {
  readonly lines: number;
  readonly rows: number;
  /** Where to continue; undefined at the end of the query. */
  readonly next: CdxCursor | undefined;
  readonly sampleReason?: string | undefined;
}

/** A server may have no page at all. */
const NO_PAGE: Page = { lines: 0, rows: 0, next: undefined };

async function fetchPage(
  url: string,
  query: CdxQuery,
  cursor: CdxCursor,
  { api, client, file, options }: Harvest,
): Promise<Page> {
  const written = await client.ask(url, (answer) => writePage(file, answer, cursor));
  const { lines, rows, resumeKey } = written;
  const next = nextCursor(cursor, resumeKey, url);
  const page = { lines, rows: rows.count };
  // A server that has resume keys says when there are more rows.
  const saysMore = cursor.paging === "resume" && (next ?? cursor.key) !== undefined;
  if (saysMore) return { ...page, next };
  const limit = limitOf(cursor, options.linesPerPage);
  if (cursor.paging === "resume" && rows.count === limit) {
    // It only seemed to have resume keys.
    await file.cutTo(file.note.bytes);
    return { lines: 0, rows: 0, next: { paging: "stream" } };
  }
  const sampleReason = await missingRows(client, api, query, cursor, rows, limit);
  if (sampleReason !== undefined) return { ...page, next, sampleReason };
  return { ...page, next: checked(next, rows.count) };
}

/** Remembers how many rows a page may have without being checked. */
function checked(cursor: CdxCursor | undefined, rows: number): CdxCursor | undefined {
  if (cursor?.paging !== "pages") return cursor;
  return { ...cursor, checkedRows: Math.max(rows, cursor.checkedRows ?? 0) };
}

async function commitPage(file: ResumableFile<HarvestNote>, page: Page): Promise<void> {
  const { note } = file;
  await file.commit({
    query: page.next === undefined ? note.query + 1 : note.query,
    cursor: page.next,
    lines: note.lines + page.lines,
    pages: note.pages + 1,
    rows: note.rows + page.rows,
    sampleReason: note.sampleReason ?? page.sampleReason,
  });
}

function nothingFound(api: string, queries: readonly CdxQuery[]): MementoMapError {
  const urls = queries.map(({ url }) => quote(url));
  const shown = urls.length > 3 ? `${urls.length} URLs` : urls.join(", ");
  return new MementoMapError(
    "MM_NOT_FOUND",
    `the server has no captures of ${shown}; check the name of the collection in its address (some servers answer for any name), the URL, and how far beyond it to match`,
    { position: { source: api } },
  );
}
