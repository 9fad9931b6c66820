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
  /** Words to begin with. */
  readonly words: readonly string[];
  /** How many words to ask for at most; 100 by default. */
  readonly searches?: number | undefined;
  /** Results to ask for at a time; 200 by default. */
  readonly resultsPerSearch?: number | undefined;
  /** The same seed asks for the same words while the answers are the same; 1 by default. */
  readonly seed?: number | undefined;
  /** Captures from then on. */
  readonly from?: string | undefined;
  /** Captures up to then. */
  readonly to?: string | undefined;
  /** Called with the number of new captures of each search. */
  readonly onLines?: ((lines: number) => void) | undefined;
}

export interface SampleSearchSummary {
  /** Distinct captures found. */
  readonly lines: number;
  readonly searches: number;
  /** Requests of this run. */
  readonly requests: number;
  /** Results that name no URI or no datetime. */
  readonly leftOut: number;
  /** Captures that an earlier run had found already. */
  readonly resumedLines: number;
}

/**
 * Samples what an archive holds through its full-text search, with random words that it learns from
 * the results, and writes the captures into a file, as CDXJ that says it is a sample.
 *
 * Ends after the given number of searches, or when no new word is left. While it searches, the
 * captures are in `FILE.part`, and the words in `FILE.part.json`. The same sample begun again, after
 * an interruption or an error, continues behind the last search, and finds what it would have found
 * without. The file appears when all is there. Holds up to 10,000 words, and the captures seen.
 *
 * @throws MM_HTTP, MM_REFUSED, MM_IO, MM_BAD_INPUT and MM_LIMIT for answers that are not results,
 *   MM_USAGE when the file is of another harvest that was begun, MM_INTERRUPTED
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
  const { words, searches: most = 100, resultsPerSearch: maxItems = 200, seed = 1 } = options;
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
    if (file.note.searches > most) throw tooMany(target, file.note.searches);
    const seen = new Set((await readFile(file.path, "utf8")).split("\n"));
    while (file.note.searches < most) {
      const { searches } = file.note;
      const known = [...file.note.words];
      const word = pickWord(known, searches, seed);
      if (word === undefined) break;
      // As Arquivo.pt's text search has it.
      const url = withParameters(api, { q: word, maxItems: String(maxItems), from, to });
      const { captures, leftOut } = await client.ask(url, async ({ chunks, source }) =>
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

/** What is remembered between runs, besides the captures. */
interface SampleNote extends ResumeNote {
  readonly searches: number;
  readonly lines: number;
  readonly leftOut: number;
  /** Every word seen: first those that were searched for, then the others. */
  readonly words: readonly string[];
}

/** Bounds what is remembered; a sample searches for a few hundred words. */
const MAX_WORDS = 10_000;
const WORD = /\p{L}[\p{L}\p{N}]{2,29}/gu;

/**
 * The next word to search for, at random, moved behind those that were searched for; undefined when
 * none is left. The same seed and answers lead to the same words, also after an interruption.
 */
function pickWord(words: string[], searched: number, seed: number): string | undefined {
  if (searched >= words.length) return undefined;
  const at = searched + new Random(seed, `word ${searched}`).below(words.length - searched);
  const word = words[at];
  words[at] = words[searched];
  words[searched] = word;
  return word;
}

/** The words, with new ones of titles and snippets. */
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
    `was begun, and ${formatAmount(searches, "search was", "searches were")} made for it; ask for as many or more, or give another -o`,
    { position: { source } },
  );
}

interface FoundCapture {
  readonly uri: string;
  /** Fourteen digits. */
  readonly date: string;
  readonly mime: string | undefined;
  readonly status: string | undefined;
  /** Title and snippet, from which more words can be learnt. */
  readonly text: string;
}

/** Longer than what there is any use for; a line of all of them is still one that can be read. */
const MAX_MEMBER_CHARACTERS = 1 << 14;

/**
 * The captures in an answer of Arquivo.pt's text search: members of `response_items` with
 * `originalURL` and `tstamp`. Items that lack either are left out, and counted, and so are those
 * whose URI is longer than 16,384 characters.
 *
 * @throws MM_BAD_INPUT for any other answer.
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

/** A found capture as a line of CDXJ, without its end. */
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
  const message = `not an answer of a text search, which has "response_items": ${quote(text)}`;
  return badInput(source, message, cause);
}

function textOf(item: Record<string, unknown>, name: string): string | undefined {
  const value = item[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function startOf(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_MEMBER_CHARACTERS);
}

/** Snippets mark the words that were found: `<em>word</em>`. */
function plainText(html: string): string {
  return html.replaceAll(/<[^<>]*>|&\w+;/g, " ");
}
