import { MementoMapError, quote } from "../../errors.ts";
import type { DamageLog } from "../../bytes/damage.ts";
import { addDamageLog } from "../../bytes/damage.ts";
import type { IndexInput, Part } from "../../input/index-input.ts";
import type { Lane } from "./lane.ts";
import type { GeneratePlan } from "./plan.ts";
import { ReadReporter } from "./read-reporter.ts";
import { Shares } from "./shares.ts";
import { KeyCuts } from "./key-cuts.ts";

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
 * Adds to `damage` what the lanes have passed over, in the order of parts. Of several failures the
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
        const line = (await partLines.before) + fault.linesBefore + 1;
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
