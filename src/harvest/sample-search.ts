import { formatAmount, MementoMapError, quote } from "../errors.ts";
import { badAnswer, serverAddress, type TimeWindow, withoutUser } from "./cdx-request.ts";
import { isJsonObject } from "../ukvs/header.ts";
import { wholeText } from "../input/cdx-json.ts";
import {
  areCounts,
  HarvestFiles,
  harvestName,
  type HarvestNote,
  type PartFile,
  stale,
} from "./harvest-files.ts";
import { PoliteClient, type PoliteOptions } from "./polite-client.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";
import { surt } from "../surt/uri-to-surt.ts";
import { Random } from "../bytes/random.ts";
import { lineBatches } from "../bytes/lines.ts";

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
 * Ends after the given number of searches, or when no new word is left. While it searches, the captures are in
 * `FILE.part`, the words in `FILE.part.words` and how far it got in `FILE.part.json`. The same sample
 * begun again, after an interruption or an error, goes on behind the last search, and finds what it
 * would have found without. The file appears when all is there. Holds the words and captures seen.
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
  const name = harvestName(["search", api, words, maxItems, seed, from, to]);
  const meta = { sample: true, source: withoutUser(api) };
  const client = new PoliteClient(api, options);
  const head = `!meta ${JSON.stringify(meta)}\n`;
  const store = await SearchStore.open(target, name, head, options.interrupt);
  const resumedLines = store.state.lines;
  try {
    if (store.state.searches > most) throw tooMany(target, store.state.searches);
    const picker = new WordPicker(seed, words);
    const seen = store.isFinished ? new Set<string>() : await catchUp(store, picker);
    while (!store.isFinished && store.state.searches < most) {
      const word = picker.next();
      if (word === undefined) break;
      const url = searchUrl(api, { word, maxItems, from, to });
      const { captures, leftOut } = await client.ask(url, async ({ chunks, source }) =>
        parseSearchAnswer(await wholeText(chunks, source), source),
      );
      const learnt = captures.flatMap(({ text }) => picker.learn(text));
      const lines = [...new Set(captures.map(foundLine))].filter((line) => !seen.has(line));
      for (const line of lines) seen.add(line);
      await store.commitSearch({ word, learnt, lines, leftOut });
      options.onLines?.(lines.length);
    }
    await store.finish();
  } finally {
    client.close();
    await store.close();
  }
  const { lines, searches, leftOut } = store.state;
  return { lines, searches, requests: client.requests, leftOut, resumedLines };
}

/** Brings the picker to where an earlier run was; returns the lines that were found. */
async function catchUp(store: SearchStore, picker: WordPicker): Promise<Set<string>> {
  let searches = 0;
  for await (const { word, learnt } of store.searches()) {
    if (picker.next() !== word) throw store.damaged();
    picker.add(learnt);
    searches++;
  }
  if (searches !== store.state.searches) throw store.damaged();
  const seen = new Set<string>();
  for await (const line of store.lines()) seen.add(line);
  return seen;
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

interface TextSearch extends TimeWindow {
  readonly word: string;
  readonly maxItems: number;
}

/** Longer than what there is any use for; a line of all of them is still one that can be read. */
const MAX_MEMBER_CHARACTERS = 1 << 14;

/**
 * The request for a word, as Arquivo.pt's text search takes it.
 *
 * @throws MM_USAGE for an invalid address.
 */
export function searchUrl(api: string, { word, maxItems, from, to }: TextSearch): string {
  const url = serverAddress(api);
  url.searchParams.set("q", word);
  url.searchParams.set("maxItems", String(maxItems));
  if (from !== undefined) url.searchParams.set("from", from);
  if (to !== undefined) url.searchParams.set("to", to);
  return url.href;
}

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
  return badAnswer(source, message, cause);
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
  return html.replaceAll(/<[^>]*>|&\w+;/g, " ");
}

const WORD = /\p{L}[\p{L}\p{N}]{2,29}/gu;

/**
 * Chooses words to search for at random, and learns new ones from what was found.
 *
 * The same seed, first words and texts give the same choices; so do the words that `learn` found,
 * given to `add` after as many calls of `next`. Holds every word seen, up to a limit;
 * asks for each word once.
 */
export class WordPicker {
  readonly #random: Random;
  readonly #seen = new Set<string>();
  readonly #waiting: string[] = [];
  readonly #maxWords: number;

  constructor(seed: number, firstWords: readonly string[], maxWords: number = 1_000_000) {
    this.#random = new Random(seed, "words");
    this.#maxWords = maxWords;
    this.add(firstWords);
  }

  /** The next word to ask for; undefined when all that is known was asked for. */
  next(): string | undefined {
    const { length } = this.#waiting;
    if (length === 0) return undefined;
    const at = this.#random.below(length);
    const word = this.#waiting[at];
    // The order of the rest does not matter, only that it is the same each time.
    this.#waiting[at] = this.#waiting[length - 1];
    this.#waiting.pop();
    return word;
  }

  /** Takes the words of a text into account; returns those that are new, in their order. */
  learn(text: string): string[] {
    return this.add(Array.from(text.toLowerCase().matchAll(WORD), ([word]) => word));
  }

  /** Takes words into account, as they are; returns those that are new, in their order. */
  add(words: Iterable<string>): string[] {
    const added: string[] = [];
    for (const word of words) {
      if (this.#seen.size >= this.#maxWords || this.#seen.has(word)) continue;
      this.#seen.add(word);
      this.#waiting.push(word);
      added.push(word);
    }
    return added;
  }
}

/** What is remembered between runs, besides the lines and the words. */
interface SearchState extends HarvestNote {
  readonly searches: number;
  readonly lines: number;
  readonly leftOut: number;
  readonly bytes: number;
  readonly wordBytes: number;
}

interface SearchYield {
  readonly word: string;
  readonly learnt: readonly string[];
  /** Lines that are new, without their ends. */
  readonly lines: readonly string[];
  readonly leftOut: number;
}

/**
 * What a sample has found so far, and the words that it has learnt: a line of `FILE.part.words` for
 * each search, an array in JSON of the word and of those learnt by it.
 */
class SearchStore {
  readonly #files: HarvestFiles<SearchState>;
  readonly #part: PartFile;
  readonly #words: PartFile;

  private constructor(files: HarvestFiles<SearchState>) {
    this.#files = files;
    [this.#part, this.#words] = files.parts;
  }

  /**
   * @param head what the index begins with.
   * @throws MM_USAGE when what an earlier run left does not fit, MM_IO, also for a second run
   */
  static async open(
    path: string,
    harvest: string,
    head: string,
    interrupt?: Interrupt,
  ): Promise<SearchStore> {
    const start = { harvest, searches: 0, lines: 0, leftOut: 0, bytes: 0, wordBytes: 0 };
    const parts = ({ bytes, wordBytes }: SearchState): [string, number][] => [
      [".part", bytes],
      [".part.words", wordBytes],
    ];
    const plan = { start, isWhole: isState, parts, head, interrupt };
    return new SearchStore(await HarvestFiles.open<SearchState>(path, plan));
  }

  get state(): SearchState {
    return this.#files.note;
  }

  /** Whether an earlier run made the index already. */
  get isFinished(): boolean {
    return this.#files.isFinished;
  }

  /** The lines found so far, with the head of the index. */
  lines(): AsyncGenerator<string, void, undefined> {
    return linesOf(this.#part);
  }

  /**
   * The searches made so far.
   *
   * @throws MM_USAGE when they cannot be read.
   */
  async *searches(): AsyncGenerator<Pick<SearchYield, "word" | "learnt">, void, undefined> {
    for await (const line of linesOf(this.#words)) {
      const [word, ...learnt] = wordsOf(line) ?? [];
      if (word === undefined) throw this.damaged();
      yield { word, learnt };
    }
  }

  /** An error about words that cannot be those of this sample. */
  damaged(): Error {
    return stale(this.#words.path, "is damaged");
  }

  async commitSearch({ word, learnt, lines, leftOut }: SearchYield): Promise<void> {
    const { state } = this;
    await this.#part.write(Buffer.from(lines.map((line) => `${line}\n`).join("")));
    await this.#words.write(Buffer.from(`${JSON.stringify([word, ...learnt])}\n`));
    await this.#part.sync();
    await this.#words.sync();
    await this.#files.commit({
      ...state,
      searches: state.searches + 1,
      lines: state.lines + lines.length,
      leftOut: state.leftOut + leftOut,
      bytes: this.#part.end,
      wordBytes: this.#words.end,
    });
  }

  async finish(): Promise<void> {
    await this.#files.finish();
  }

  async close(): Promise<void> {
    await this.#files.close(this.state.searches === 0);
  }
}

/** Lines as they were written: what else may end a line for others does not here. */
async function* linesOf(file: PartFile): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  // A search may teach very many words.
  const options = { source: file.path, maxLineBytes: file.end };
  for await (const { bytes, starts, ends, count } of lineBatches(file.chunks(), options)) {
    for (let i = 0; i < count; i++) yield decoder.decode(bytes.subarray(starts[i], ends[i]));
  }
}

function wordsOf(line: string): string[] | undefined {
  try {
    const words: unknown = JSON.parse(line);
    const isList = Array.isArray(words) && words.every((word) => typeof word === "string");
    return isList ? words : undefined;
  } catch {
    return undefined; // what it means is said by the caller
  }
}

function isState(value: Partial<SearchState>): value is SearchState {
  const { searches, lines, leftOut, bytes, wordBytes } = value;
  return areCounts(searches, lines, leftOut, bytes, wordBytes);
}
