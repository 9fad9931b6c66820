import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { CdxQuery } from "../../src/harvest/cdx-request.ts";
import type { HarvestOptions, HarvestSummary } from "../../src/harvest/harvest-index.ts";
import { harvestIndex } from "../../src/harvest/harvest-index.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { scratchDir } from "../support/scratch.ts";

export const QUERY: CdxQuery = { url: "a.com", match: "domain", from: "2010" };

/** Asks without pauses. */
export const FAST: HarvestOptions = {
  intervalMs: 0,
  backOff: { retries: 3, firstMs: 1, longestMs: 50 },
};

interface Harvesting {
  readonly api: string;
  /** The requests so far. */
  readonly asked: URL[];
  readonly folder: string;
  readonly target: string;
  readonly run: (
    options?: HarvestOptions,
    queries?: readonly CdxQuery[],
  ) => Promise<HarvestSummary>;
  /** What was fetched. */
  readonly text: () => string;
}

/**
 * A server, and a file to harvest from it into.
 *
 * @param answer gives the text or the status to answer with; anything else is left to it. Requests are
 * counted from 1.
 */
export async function harvesting(
  answer: (url: URL, turn: number, response: ServerResponse) => unknown,
  name = "index.cdx",
): Promise<Harvesting> {
  const asked: URL[] = [];
  const api = await serveOnLoopback((url, response) => {
    const text = answer(url, asked.push(url), response);
    if (typeof text === "string") response.end(text);
    else if (typeof text === "number") response.writeHead(text).end();
  });
  const folder = scratchDir();
  const target = join(folder, name);
  const run = (options?: HarvestOptions, queries: readonly CdxQuery[] = [QUERY]) =>
    harvestIndex(api, queries, target, { ...FAST, ...options });
  return { api, asked, folder, target, run, text: () => readFileSync(target, "utf8") };
}

/** Whether a request only asks how a server pages, or how many pages there are. */
export function isProbe(url: URL): boolean {
  return url.searchParams.has("showNumPages");
}
