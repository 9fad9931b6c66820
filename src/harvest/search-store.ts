import { lineBatches } from "../bytes/lines.ts";
import type { Interrupt } from "../interruption.ts";
import { lockFile } from "../files/shared-files.ts";
import type { HarvestNote } from "./harvest-files.ts";
import {
  areCounts,
  finishHarvest,
  forgetHarvest,
  harvestTarget,
  isFinished,
  readNote,
  stale,
  writeNote,
} from "./harvest-files.ts";
import { PartFile } from "./part-file.ts";

/** What is remembered between runs, besides the lines and the words. */
interface SearchState extends HarvestNote {
  readonly searches: number;
  readonly lines: number;
  readonly leftOut: number;
  readonly bytes: number;
  readonly wordBytes: number;
}

/** What a search gave. */
export interface SearchYield {
  /** The word that was searched for. */
  readonly word: string;
  /** Words that are new. */
  readonly learnt: readonly string[];
  /** Lines that are new, without their ends. */
  readonly lines: readonly string[];
  /** Results of no use. */
  readonly leftOut: number;
}

/**
 * What a sample has found so far, and the words that it has learnt: a line of `FILE.part.words` for
 * each search, an array in JSON of the word and of those learnt by it.
 */
export class SearchStore {
  state: SearchState;
  /** As the user named it. */
  readonly #path: string;
  readonly #target: string;
  readonly #part: PartFile;
  readonly #words: PartFile;
  readonly #unlock: () => void;
  readonly #interrupt: Interrupt | undefined;
  /** Whether an earlier run made the index already. */
  readonly isFinished: boolean;

  private constructor(
    path: string,
    target: string,
    [part, words]: readonly [PartFile, PartFile],
    state: SearchState,
    isDone: boolean,
    unlock: () => void,
    interrupt: Interrupt | undefined,
  ) {
    this.#path = path;
    this.#target = target;
    this.#part = part;
    this.#words = words;
    this.isFinished = isDone;
    this.#unlock = unlock;
    this.#interrupt = interrupt;
    this.state = state;
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
    const target = await harvestTarget(path);
    const unlock = await lockFile(target, interrupt);
    const opened: PartFile[] = [];
    let note: SearchState | undefined;
    try {
      note = await readNote(target, harvest, isState);
      const state = note ?? { harvest, searches: 0, lines: 0, leftOut: 0, bytes: 0, wordBytes: 0 };
      const isDone = await isFinished(target, note);
      const part = await PartFile.open(`${target}.part`, isDone ? 0 : state.bytes);
      opened.push(part);
      const words = await PartFile.open(`${target}.part.words`, isDone ? 0 : state.wordBytes);
      opened.push(words);
      if (note === undefined) await part.write(Buffer.from(head));
      return new SearchStore(path, target, [part, words], state, isDone, unlock, interrupt);
    } catch (error) {
      for (const file of opened) await (note === undefined ? file.remove() : file.close());
      unlock();
      throw error;
    }
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

  /** Remembers a search. */
  async commitSearch({ word, learnt, lines, leftOut }: SearchYield): Promise<void> {
    const { state } = this;
    await this.#part.write(Buffer.from(lines.map((line) => `${line}\n`).join("")));
    await this.#words.write(Buffer.from(`${JSON.stringify([word, ...learnt])}\n`));
    await this.#part.sync();
    await this.#words.sync();
    this.state = {
      ...state,
      searches: state.searches + 1,
      lines: state.lines + lines.length,
      leftOut: state.leftOut + leftOut,
      bytes: this.#part.end,
      wordBytes: this.#words.end,
    };
    await writeNote(this.#target, this.state, this.#interrupt);
  }

  /** Makes the index of what was found. */
  async finish(): Promise<void> {
    await (this.isFinished
      ? forgetHarvest(this.#target, [this.#part, this.#words])
      : finishHarvest(this.#path, this.#target, this.#part, this.state, this.#interrupt, [
          this.#words,
        ]));
  }

  async close(): Promise<void> {
    try {
      // Of a sample without any search there is nothing to go on from.
      for (const file of [this.#part, this.#words]) {
        await (this.state.searches === 0 ? file.remove() : file.close());
      }
    } finally {
      this.#unlock();
    }
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
