import { foundLine, parseSearchAnswer, searchUrl } from "../../harvest/text-search.ts";
import { WordPicker } from "../../harvest/word-picker.ts";
import { wholeText } from "../../input/whole-text.ts";
import type { Output } from "../output-file.ts";
import type { PoliteOptions } from "./polite-client.ts";
import { PoliteClient } from "./polite-client.ts";

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
  readonly requests: number;
  /** Results that name no URI or no datetime. */
  readonly leftOut: number;
}

/**
 * Samples what an archive holds through its full-text search, with random words that it learns from
 * the results, and writes the captures as CDXJ that says it is a sample.
 *
 * Ends after so many searches, or when no new word is left. Holds the words and captures seen.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_INTERRUPTED
 */
export async function sampleSearch(
  api: string,
  output: Output,
  options: SampleSearchOptions,
): Promise<SampleSearchSummary> {
  const client = new PoliteClient(options);
  const picker = new WordPicker(options.seed ?? 1, options.words);
  const encoder = new TextEncoder();
  const seen = new Set<string>();
  const meta = { sample: true, source: api };
  await output.write(encoder.encode(`!meta ${JSON.stringify(meta)}\n`));
  let searches = 0;
  let leftOut = 0;
  for (; searches < (options.searches ?? 100); searches++) {
    const word = picker.next();
    if (word === undefined) break;
    const { resultsPerSearch: maxItems = 200, from, to } = options;
    const url = searchUrl(api, { word, maxItems, from, to });
    const answer = await client.ask(url, ({ chunks }) => wholeText(chunks, url));
    let lines = "";
    let count = 0;
    const found = parseSearchAnswer(answer, url);
    leftOut += found.leftOut;
    for (const capture of found.captures) {
      picker.learn(capture.text);
      const line = foundLine(capture);
      if (seen.has(line)) continue;
      seen.add(line);
      lines += `${line}\n`;
      count++;
    }
    await output.write(encoder.encode(lines));
    options.onLines?.(count);
  }
  return { lines: seen.size, searches, requests: client.requests, leftOut };
}
