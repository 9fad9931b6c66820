import { readFile } from "node:fs/promises";
import { formatAmount } from "../format.ts";
import { badInput, MementoMapError, quote, withoutCredentials } from "../errors.ts";
import { withParameters } from "./cdx-request.ts";
import { isJsonObject } from "../ukvs/header.ts";
import { wholeText } from "../input/cdx-json.ts";
import { PoliteClient, type PoliteOptions } from "./polite-client.ts";
import { ResumableFile, type ResumeNote } from "./resumable-file.ts";
import { checkSignal } from "../interruption.ts";
import { surt } from "../surt/uri-to-surt.ts";
import { Random } from "../bytes/random.ts";

export interface SampleSearchOptions extends PoliteOptions {
  /** Initial words. */
  readonly words: readonly string[];
  /** Maximum number of searches, one word each; 100 by default. */
  readonly searches?: number | undefined;
  /** Results per search; 200 by default. */
  readonly resultsPerSearch?: number | undefined;
  /** The same seed leads to the same words if the responses are the same; 1 by default. */
  readonly seed?: number | undefined;
  /** Only captures from this date on. */
  readonly from?: string | undefined;
  /** Only captures up to this date. */
  readonly to?: string | undefined;
  /** Called with the number of new captures of each search. */
  readonly onLines?: ((lines: number) => void) | undefined;
}

export interface SampleSearchSummary {
  /** Distinct captures found. */
  readonly lines: number;
  readonly searches: number;
  /** Requests sent in this run. */
  readonly requests: number;
  /** Results without a URI or a datetime. */
  readonly leftOut: number;
  /** Captures found by earlier runs. */
  readonly resumedLines: number;
}

/**
 * Samples the holdings of an archive through its full-text search, with random words learned from the
 * results, and writes the captures to a file, as CDXJ marked as a sample.
 *
 * Ends after the maximum number of searches, or when no new word is left. Captures are stored in
 * `FILE.part`, and the words in `FILE.part.json`. After an interruption or an error, the same sample
 * resumes after the last search, with the same results as an uninterrupted one. The file appears at
 * the end. Holds up to 10,000 words, and the captures seen.
 *
 * @throws MM_HTTP, MM_REFUSED, MM_IO, MM_BAD_INPUT and MM_LIMIT for invalid responses, MM_USAGE when
 *   the file belongs to another unfinished harvest, MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { once } from "node:events";
 * import { sampleSearch } from "mementomap/node";
 *
 * const items = [{ title: "News", originalURL: "http://example.com/", tstamp: "20150101000000" }];
 * const search = createServer((_request, response) => {
 *   response.end(JSON.stringify({ response_items: items }));
 * }).listen(0, "127.0.0.1");
 * await once(search, "listening");
 * const { port } = search.address() as { port: number };
 *
 * const { lines } = await sampleSearch(`http://127.0.0.1:${port}/search`, "sample.cdxj", {
 *   words: ["archive"],
 *   searches: 1,
 *   intervalMs: 0,
 * });
 * console.log(lines);
 * search.close();
 * ```
 * ```
 * 1
 * ```
 */
export async function sampleSearch(
  api: string,
  target: string,
  options: SampleSearchOptions,
): Promise<SampleSearchSummary> {
  checkSignal(options.signal);
  const {
    words,
    searches: maxSearches = 100,
    resultsPerSearch: maxItems = 200,
    seed = 1,
  } = options;
  const { from, to } = options;
  const meta = { sample: true, source: withoutCredentials(api) };
  const client = new PoliteClient(api, options);
  const file = await ResumableFile.open<SampleNote>(target, {
    harvest: ["search", api, words, maxItems, seed, from, to],
    start: { bytes: 0, searches: 0, lines: 0, leftOut: 0, words: [...new Set(words)] },
    head: `!meta ${JSON.stringify(meta)}\n`,
    interrupt: options.interrupt,
  });
  const resumedLines = file.note.lines;
  try {
    if (file.note.searches > maxSearches) throw tooMany(target, file.note.searches);
    const seen = new Set((await readFile(file.path, "utf8")).split("\n"));
    while (file.note.searches < maxSearches) {
      const { searches } = file.note;
      const known = [...file.note.words];
      const word = pickWord(known, searches, seed);
      if (word === undefined) break;
      // The parameters of Arquivo.pt's text search.
      const url = withParameters(api, { q: word, maxItems: String(maxItems), from, to });
      const { captures, leftOut } = await client.get(url, async ({ chunks, source }) =>
        parseSearchAnswer(await wholeText(chunks, source), source),
      );
      const lines = captures.map(foundLine).filter((line) => !seen.has(line) && seen.add(line));
      await file.write(Buffer.from(lines.map((line) => `${line}\n`).join("")));
      await file.commit({
        searches: searches + 1,
        lines: file.note.lines + lines.length,
        leftOut: file.note.leftOut + leftOut,
        words: withWordsOf(captures, known),
      });
      options.onLines?.(lines.length);
    }
    await file.finish();
  } finally {
    client.close();
    await file.close(file.note.searches === 0);
  }
  const { lines, searches, leftOut } = file.note;
  return { lines, searches, requests: client.requests, leftOut, resumedLines };
}

/** State stored between runs, in addition to the captures. */
interface SampleNote extends ResumeNote {
  readonly searches: number;
  readonly lines: number;
  readonly leftOut: number;
  /** All words seen: first those already used in searches, then the others. */
  readonly words: readonly string[];
}

/** Limit on stored words; a sample searches for a few hundred. */
const MAX_WORDS = 10_000;
const WORD = /\p{L}[\p{L}\p{N}]{2,29}/gu;

/**
 * Picks the next word to search for at random, and moves it after those already used; undefined when
 * none is left. The same seed and responses lead to the same words, even after an interruption.
 */
function pickWord(words: string[], searched: number, seed: number): string | undefined {
  if (searched >= words.length) return undefined;
  const at = searched + new Random(seed, `word ${searched}`).below(words.length - searched);
  const word = words[at];
  words[at] = words[searched];
  words[searched] = word;
  return word;
}

/** Adds new words from titles and snippets. */
function withWordsOf(captures: readonly FoundCapture[], words: readonly string[]): string[] {
  const all = new Set(words);
  for (const { text } of captures) {
    for (const [word] of text.toLowerCase().matchAll(WORD)) {
      if (all.size >= MAX_WORDS) return [...all];
      all.add(word);
    }
  }
  return [...all];
}

function tooMany(source: string, searches: number): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    `${formatAmount(searches, "search has", "searches have")} already been made for this file; use at least --searches ${searches}, or another -o`,
    { position: { source } },
  );
}

interface FoundCapture {
  readonly uri: string;
  /** Fourteen digits. */
  readonly date: string;
  readonly mime: string | undefined;
  readonly status: string | undefined;
  /** Title and snippet, a source of new words. */
  readonly text: string;
}

/** Longer than any useful value; a line with several of them is still below the line limit. */
const MAX_MEMBER_CHARACTERS = 1 << 14;

/**
 * Parses the captures in a response of Arquivo.pt's text search: members of `response_items` with
 * `originalURL` and `tstamp`. Items without either are skipped and counted, as are those with a URI
 * longer than 16,384 characters.
 *
 * @throws MM_BAD_INPUT for any other response.
 */
export function parseSearchAnswer(
  text: string,
  source: string,
): { readonly captures: readonly FoundCapture[]; readonly leftOut: number } {
  const items = itemsOf(text, source);
  const found: FoundCapture[] = [];
  for (const item of items) {
    const uri = textOf(item, "originalURL");
    const date = textOf(item, "tstamp");
    if (uri === undefined || uri.trim() === "" || uri.length > MAX_MEMBER_CHARACTERS) continue;
    if (date === undefined || !/^\d{14}$/.test(date)) continue;
    found.push({
      uri,
      date,
      mime: startOf(textOf(item, "mimeType")),
      status: startOf(textOf(item, "statusCode")),
      text: `${startOf(textOf(item, "title")) ?? ""} ${plainText(startOf(textOf(item, "snippet")) ?? "")}`,
    });
  }
  return { captures: found, leftOut: items.length - found.length };
}

/** A found capture as a line of CDXJ, without its terminator. */
export function foundLine({ uri, date, mime, status }: FoundCapture): string {
  return `${surt(uri)} ${date} ${JSON.stringify({ url: uri, mime, status })}`;
}

function itemsOf(text: string, source: string): Record<string, unknown>[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw notAnAnswer(text, source, cause);
  }
  const items = isJsonObject(value) ? value["response_items"] : undefined;
  if (!Array.isArray(items)) throw notAnAnswer(text, source);
  return (items as unknown[]).map((item) => (isJsonObject(item) ? item : {}));
}

function notAnAnswer(text: string, source: string, cause?: unknown): MementoMapError {
  const message = `not a text search response, no "response_items": ${quote(text)}`;
  return badInput(source, message, cause);
}

function textOf(item: Record<string, unknown>, name: string): string | undefined {
  const value = item[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function startOf(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_MEMBER_CHARACTERS);
}

/** Removes markup from a snippet, which highlights the words found: `<em>word</em>`. */
function plainText(html: string): string {
  return html.replaceAll(/<[^<>]*>|&\w+;/g, " ");
}
