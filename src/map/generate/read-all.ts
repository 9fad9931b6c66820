import { closeSync, openSync } from "node:fs";
import { ioError, MementoMapError, quote } from "../../errors.ts";
import { CLOSE_PAREN, QUESTION } from "../../bytes/bytes.ts";
import { addDamageLog, type DamageLog } from "../../bytes/damage.ts";
import type { FileProgress, IndexInput, Part, RangeTask } from "../../input/index-input.ts";
import type { Lane } from "./generate-job.ts";
import type { GeneratePlan } from "./generate-plan.ts";
import { cutAfter } from "../../files/input-file.ts";

/** Says that an input has to be read again, with keys made from its URIs. */
export class KeysDiffer extends Error {
  readonly source: string;

  constructor(source: string) {
    super(source);
    this.source = source;
  }
}

/**
 * Has the lanes read all parts of all inputs.
 *
 * Adds to `damage` what the lanes have skipped, in the order of parts. Of several failures the
 * one in the earliest part is thrown, whichever thread met its own first.
 */
export async function readAll(
  plan: GeneratePlan,
  lanes: readonly Lane[],
  damage: DamageLog,
  onRead: ((bytes: number) => void) | undefined,
): Promise<void> {
  const reporter = new ReadReporter(plan.progress, onRead);
  const reading = new Reading(lanes, reporter, plan.canReread);
  const { inputs } = plan;
  try {
    for (const input of inputs) {
      if (reading.hasFailed) break;
      const isAlone = inputs.length === 1 && lanes.length > 1;
      await (isAlone && input.isRanged === true
        ? reading.shareOut(input)
        : reading.handOut(input, isAlone));
    }
    await reading.end(damage);
  } catch (error) {
    reporter.takeBack();
    throw error;
  } finally {
    reporter.end();
  }
}

class Reading {
  readonly #lanes: readonly Lane[];
  readonly #reporter: ReadReporter;
  readonly #canReread: boolean;
  readonly #idle: Lane[];
  readonly #busy = new Set<Promise<void>>();
  /** By the number of the part. */
  readonly #failures = new Map<number, unknown>();
  readonly #damages = new Map<number, DamageLog>();
  #parts = 0;

  constructor(lanes: readonly Lane[], reporter: ReadReporter, canReread: boolean) {
    this.#lanes = lanes;
    this.#idle = [...lanes];
    this.#reporter = reporter;
    this.#canReread = canReread;
  }

  get hasFailed(): boolean {
    return this.#failures.size > 0;
  }

  /** Hands the parts of an input to whichever lane is free. */
  async handOut(input: IndexInput, isAlone: boolean): Promise<void> {
    let total = Promise.resolve(0);
    try {
      for await (const part of input.parts(isAlone)) {
        while (this.#idle.length === 0) await Promise.race(this.#busy);
        if (this.hasFailed) return;
        const lane = this.#idle.pop() as Lane; // just waited for one
        const lines = new PartLines(total);
        ({ total } = lines);
        const work = this.#read(part, lane, lines, this.#parts++).finally(() => {
          this.#busy.delete(work);
          this.#idle.push(lane);
        });
        this.#busy.add(work);
      }
    } catch (error) {
      this.#failures.set(this.#parts, error);
    }
  }

  /**
   * Gives each lane a stretch of a file, such that a sorted index leaves the lanes with keys that do
   * not overlap.
   */
  async shareOut(input: IndexInput): Promise<void> {
    const parts: Part[] = [];
    for await (const part of input.parts(true)) parts.push(part);
    const cuts = new KeyCuts(parts);
    const shares = new Shares(parts.length, this.#lanes.length);
    let total = Promise.resolve(0);
    const lines = parts.map(() => {
      const own = new PartLines(total);
      ({ total } = own);
      return own;
    });
    const readOn = async (lane: Lane, i: number): Promise<void> => {
      for (let n = shares.take(i); n !== undefined; n = shares.take(i)) {
        // What is before a failure may have failed earlier.
        if (n > Math.min(...this.#failures.keys())) {
          lines[n].settle(0);
          continue;
        }
        await this.#read(cuts.part(n), lane, lines[n], n);
      }
    };
    const work = this.#lanes.flatMap((lane, i) =>
      Array.from({ length: lane.readsAtOnce }, () => readOn(lane, i)),
    );
    try {
      await Promise.all(work);
    } finally {
      cuts.close();
    }
  }

  /** Waits for all that was handed out; throws the failure of the earliest part. */
  async end(damage: DamageLog): Promise<void> {
    await Promise.all(this.#busy);
    if (this.hasFailed) throw this.#failures.get(Math.min(...this.#failures.keys()));
    const inOrder = [...this.#damages].toSorted(([a], [b]) => a - b);
    for (const [, passedOver] of inOrder) addDamageLog(damage, passedOver);
  }

  async #read(part: Part, lane: Lane, partLines: PartLines, index: number): Promise<void> {
    try {
      const { lines, fault, keysDiffer, damage } = await lane.read(part.task);
      if (damage !== undefined && damage.places > 0) this.#damages.set(index, damage);
      this.#reporter.add(part.bytes);
      partLines.settle(lines);
      if (fault !== undefined) {
        const skipped = (await part.linesBefore?.()) ?? 0;
        const line = skipped + (await partLines.before) + fault.linesBefore + 1;
        throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
          position: { source: part.source, line },
        });
      }
      if (keysDiffer === true && this.#canReread) throw new KeysDiffer(part.source);
    } catch (error) {
      this.#failures.set(index, error);
    } finally {
      partLines.settle(0);
    }
  }
}

/** A part in the line of parts of one input. */
class PartLines {
  /** Lines before this part, once all parts before it have been read. */
  readonly before: Promise<number>;
  /** Lines up to and including this part. */
  readonly total: Promise<number>;
  #settle: ((lines: number) => void) | undefined;

  constructor(before: Promise<number>) {
    this.before = before;
    const own = new Promise<number>((resolve) => {
      this.#settle = resolve;
    });
    this.total = before.then(async (count) => count + (await own));
  }

  /** Says how many lines this part has; only the first call counts. */
  settle(lines: number): void {
    this.#settle?.(lines);
  }
}

/** How far a better place for a cut is looked for. */
const SEARCHED_BYTES = 1 << 20;

/**
 * Moves the cuts between ranges of a file to where keys can be told apart, if that is near: then all
 * keys of a part of a sorted file come before those of the next.
 *
 * A cut is looked for when a part beside it is asked for, and without a pause: a pause would last as
 * long as whatever else this thread does.
 */
export class KeyCuts {
  readonly #parts: readonly Part[];
  readonly #ranges: readonly RangeTask[];
  readonly #cuts = new Map<number, number>();
  #file: number | undefined;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.#ranges = parts.map(({ task }) => task as RangeTask); // what a ranged input has
  }

  /** @throws MM_IO */
  part(n: number): Part {
    return {
      ...this.#parts[n],
      task: { ...this.#ranges[n], start: this.#cut(n), end: this.#cut(n + 1) },
    };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #cut(n: number): number {
    const cut = this.#cuts.get(n) ?? this.#findCut(n);
    this.#cuts.set(n, cut);
    return cut;
  }

  #findCut(n: number): number {
    if (n === this.#ranges.length) return this.#ranges[n - 1].end;
    const { path, start, end } = this.#ranges[n];
    if (n === 0) return start;
    try {
      this.#file ??= openSync(path, "r");
      return cutAfter(this.#file, start, Math.min(end, start + SEARCHED_BYTES), isKeyCut) ?? start;
    } catch (error) {
      throw ioError(error, path);
    }
  }
}

/**
 * Whether a sorted index can be cut between two rows so that every key of a row behind the cut comes
 * after all keys before it.
 *
 * Keys are key columns without their query, which breaks the order: `/a?x`, whose key is `/a`, stands
 * behind `/a/b`. Across a cut that can only happen to a key that both rows begin with, and only if
 * the row behind goes on with a byte that sorts before `?`. So a cut is good between two hosts, and
 * within one where the paths differ, and everything up to there sorts behind `?`: letters.
 *
 * Both are key columns, `before` the one of the last row before the cut.
 */
export function isKeyCut(before: Uint8Array, key: Uint8Array): boolean {
  const limit = Math.min(before.length, key.length);
  let shared = 0;
  while (shared < limit && before[shared] === key[shared]) shared++;
  if (shared === key.length || (shared < before.length && before[shared] > key[shared]))
    return false;
  const hostEnd = key.indexOf(CLOSE_PAREN);
  if (hostEnd === -1 || hostEnd >= shared) return true;
  // The slash that begins the path is there in every row of the host.
  for (let i = hostEnd + 2; i <= shared; i++) if (key[i] <= QUESTION) return false;
  return shared > hostEnd + 1;
}

/** A stretch with fewer parts left is left to its own lanes: to take one means that lanes must merge. */
const WORTH_TAKING = 4;

interface Stretch {
  /** The first part that nobody has. */
  next: number;
  /** Behind the last part that nobody has. */
  end: number;
}

/**
 * Hands out the parts of a file, by number.
 *
 * Lanes work in pairs, one from the start of a stretch, the other from its end. They meet wherever
 * they do, so that the slower of two is not waited for, and still the keys of a sorted file do not
 * overlap. Lanes of other stretches help only where much is left.
 */
export class Shares {
  readonly #stretches: readonly Stretch[];

  constructor(parts: number, lanes: number) {
    const firstOf = (lane: number): number => Math.floor((parts * Math.min(lane, lanes)) / lanes);
    this.#stretches = Array.from({ length: Math.ceil(lanes / 2) }, (_, pair) => ({
      next: firstOf(2 * pair),
      end: firstOf(2 * pair + 2),
    }));
  }

  /** The next part for a lane. */
  take(lane: number): number | undefined {
    const own = this.#stretches[lane >> 1];
    if (own.next < own.end) return lane % 2 === 0 ? own.next++ : --own.end;
    const fullest = this.#stretches.reduce((a, b) => (left(b) > left(a) ? b : a));
    return left(fullest) < WORTH_TAKING ? undefined : --fullest.end;
  }
}

function left({ next, end }: Stretch): number {
  return end - next;
}

const INTERVAL_MS = 200;

/** Adds up what all threads have read, and tells about it a few times a second. */
export class ReadReporter {
  readonly #progress: FileProgress;
  readonly #onRead: ((bytes: number) => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #told = 0;
  #ofFiles = 0;

  constructor(progress: FileProgress, onRead: ((bytes: number) => void) | undefined) {
    this.#progress = progress;
    this.#onRead = onRead;
    this.#timer = onRead === undefined ? undefined : setInterval(() => this.add(0), INTERVAL_MS);
  }

  /** Counts bytes of a part, and what the threads have read of whole files since the last call. */
  add(bytes: number): void {
    const ofFiles = this.#progress.bytes;
    const more = bytes + ofFiles - this.#ofFiles;
    this.#ofFiles = ofFiles;
    this.#told += more;
    if (more > 0) this.#onRead?.(more);
  }

  /** Takes everything back: it will be read again. */
  takeBack(): void {
    this.#onRead?.(-this.#told);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
