import { formatAmount, MementoMapError } from "../errors.ts";
import { withoutUser } from "./server-address.ts";
import { foundLine, parseSearchAnswer, searchUrl } from "./text-search.ts";
import { WordPicker } from "./word-picker.ts";
import { wholeText } from "../input/whole-text.ts";
import { harvestName } from "./harvest-files.ts";
import type { PoliteOptions } from "./polite-client.ts";
import { PoliteClient } from "./polite-client.ts";
import { SearchStore } from "./search-store.ts";
import { checkSignal } from "../interruption.ts";

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
  /** Told of new captures as they come. */
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
 * Ends after so many searches, or when no new word is left. While it searches, the captures are in
 * `FILE.part`, the words in `FILE.part.words` and how far it got in `FILE.part.json`. The same sample
 * begun again, after an interruption or an error, goes on behind the last search, and finds what it
 * would have found without. The file appears when all is there. Holds the words and captures seen.
 *
 * @throws MM_HTTP, MM_REFUSED, MM_IO, MM_BAD_INPUT and MM_LIMIT for answers that are no results,
 *   MM_USAGE when the file is of another harvest that was begun, MM_INTERRUPTED
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
