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
  /** How the server pages; detected by default. */
  readonly paging?: CdxPaging | undefined;
  /**
   * Lines per request; by default 10,000 for servers with resume keys, and unlimited for those that
   * send one stream.
   */
  readonly linesPerPage?: number | undefined;
  /** Whether to write an index without captures; an error by default. */
  readonly allowsEmpty?: boolean | undefined;
  /** Called with the number of lines of each page. */
  readonly onLines?: ((lines: number) => void) | undefined;
}

export interface HarvestSummary {
  readonly lines: number;
  readonly bytes: number;
  readonly pages: number;
  /** Requests sent in this run. */
  readonly requests: number;
  /** Lines fetched by earlier runs. */
  readonly resumedLines: number;
  /** Why captures may be missing; the index is then marked as a sample. Undefined if none are. */
  readonly sampleReason: string | undefined;
}

/**
 * Fetches the index of an archive from its CDX server into a file.
 *
 * Fetched lines are stored in `FILE.part`, and the progress in `FILE.part.json`. After an interruption
 * or an error, the same harvest resumes after the last complete page. The file appears when the
 * harvest is complete, compressed if its name ends in `.gz` or `.zst`. Holds one chunk.
 *
 * Servers that send one stream may silently stop at a limit, so the last row is requested as well. If
 * rows may be missing, the index begins with `!meta {"sample": true}`, and maps made from it do not
 * claim to be complete.
 *
 * @throws MM_HTTP, MM_REFUSED, MM_IO, MM_BAD_INPUT and MM_LIMIT when the responses are not an index,
 *   MM_NOT_FOUND when there are no captures, MM_USAGE when the file belongs to another unfinished
 *   harvest, MM_INTERRUPTED
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
  let cursor = cursorOfProbe(await probe(probeUrl(api, query), client));
  if (cursor.paging === "pages" || paging === "pages") {
    cursor = cursorOfProbe(await probe(pageCountUrl(api, query), client));
  }
  if (paging !== "pages" || cursor.paging === "pages") return cursor;
  throw new MementoMapError("MM_USAGE", "the server does not report its number of pages", {
    position: { source: api },
  });
}

/** @throws MM_BAD_INPUT for an HTML page. */
async function probe(url: string, client: PoliteClient): Promise<string> {
  const answer = await client.get(url, ({ chunks }) => startOf(chunks));
  if (!looksLikeHtml(answer)) return answer;
  throw htmlAnswer(url);
}

/** The result of a request. */
interface Page {
  readonly lines: number;
  readonly rows: number;
  /** Where to continue; undefined at the end of the query. */
  readonly next: CdxCursor | undefined;
  readonly sampleReason?: string | undefined;
}

/** A server may have no pages at all. */
const NO_PAGE: Page = { lines: 0, rows: 0, next: undefined };

async function fetchPage(
  url: string,
  query: CdxQuery,
  cursor: CdxCursor,
  { api, client, file, options }: Harvest,
): Promise<Page> {
  const written = await client.get(url, (answer) => writePage(file, answer, cursor));
  const { lines, rows, resumeKey } = written;
  const next = nextCursor(cursor, resumeKey, url);
  const page = { lines, rows: rows.count };
  // A server with resume keys indicates whether there are more rows.
  const hasResumeKeys = cursor.paging === "resume" && (next ?? cursor.key) !== undefined;
  if (hasResumeKeys) return { ...page, next };
  const limit = limitOf(cursor, options.linesPerPage);
  if (cursor.paging === "resume" && rows.count === limit) {
    // The server does not have resume keys after all.
    await file.cutTo(file.note.bytes);
    return { lines: 0, rows: 0, next: { paging: "stream" } };
  }
  const sampleReason = await missingRows(client, api, query, cursor, rows, limit);
  if (sampleReason !== undefined) return { ...page, next, sampleReason };
  return { ...page, next: withCheckedRows(next, rows.count) };
}

/** Records the number of rows up to which pages need no check. */
function withCheckedRows(cursor: CdxCursor | undefined, rows: number): CdxCursor | undefined {
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
    `the server has no captures of ${shown}; check the collection in the server's address (some servers accept any name), the URL, and --match`,
    { position: { source: api } },
  );
}
