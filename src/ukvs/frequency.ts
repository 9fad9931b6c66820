import { MementoMapError, quote } from "../errors.ts";

/** How a count relates to the true number: no suffix, `+`, `-`, `~`. */
export type Bound = "exact" | "atLeast" | "atMost" | "about";

/** A stated number of things. `value` is an integer from 0 to 2^53-1. */
export interface Count {
  readonly value: number;
  readonly bound: Bound;
}

/** What a map states about a key. A member that is absent is unknown, which is not zero. */
export interface Frequency {
  readonly mementos?: Count;
  readonly originals?: Count;
}

const SUFFIX_OF: Readonly<Record<Bound, string>> = {
  exact: "",
  atLeast: "+",
  atMost: "-",
  about: "~",
};
const BOUND_OF: Readonly<Record<string, Bound>> = {
  "": "exact",
  "+": "atLeast",
  "-": "atMost",
  "~": "about",
};

const GRAMMAR = /^(?:(\d+)([+\-~]?))?(?:\/(?:(\d+)([+\-~]?))?)?$/;

/**
 * Reads `[mementos][/[originals]]`, each count with an optional `+`, `-` or `~`.
 *
 * `200/` reads as `200`; `/` as present with both counts unknown.
 *
 * @throws MementoMapError `MM_BAD_FREQUENCY` on any other text, and on counts above 2^53-1.
 */
export function parseFrequency(text: string): Frequency {
  const match = GRAMMAR.exec(text);
  if (match === null || text === "") {
    throw new MementoMapError(
      "MM_BAD_FREQUENCY",
      `frequency ${quote(text)} is not of the form [mementos][/[originals]], each count an integer with an optional "+", "-" or "~"`,
    );
  }
  const [, mementoDigits, mementoSuffix, originalDigits, originalSuffix] = match;
  const mementos = readCount(mementoDigits, mementoSuffix);
  const originals = readCount(originalDigits, originalSuffix);
  return {
    ...(mementos === undefined ? {} : { mementos }),
    ...(originals === undefined ? {} : { originals }),
  };
}

/** As `parseFrequency`, with `undefined` for text that is no frequency. */
export function tryParseFrequency(text: string): Frequency | undefined {
  try {
    return parseFrequency(text);
  } catch (error) {
    if (error instanceof MementoMapError) return undefined;
    throw error;
  }
}

/**
 * Writes the shortest text that reads back as the same frequency.
 *
 * @throws MementoMapError `MM_BAD_FREQUENCY` if a count is not an integer from 0 to 2^53-1.
 */
export function formatFrequency(frequency: Frequency): string {
  const { mementos, originals } = frequency;
  if (originals === undefined) return mementos === undefined ? "/" : formatCount(mementos);
  return `${mementos === undefined ? "" : formatCount(mementos)}/${formatCount(originals)}`;
}

/**
 * Adds what two rows state, so that the sum claims no more than both together do.
 *
 * Commutative and associative. Unknown and known make "at least" the known part, and stay unknown
 * while the known part is 0: `0+` would read as absent.
 *
 * @throws MementoMapError `MM_LIMIT` if a sum is above 2^53-1.
 */
export function addFrequencies(a: Frequency, b: Frequency): Frequency {
  const mementos = addCounts(a.mementos, b.mementos);
  const originals = addCounts(a.originals, b.originals);
  return {
    ...(mementos === undefined ? {} : { mementos }),
    ...(originals === undefined ? {} : { originals }),
  };
}

/** Whether a request may be routed here: the memento count is not 0. Unknown counts are present. */
export function isPresent(frequency: Frequency): boolean {
  return frequency.mementos === undefined || frequency.mementos.value !== 0;
}

/** The error for a sum that no longer fits a number. */
export function countOverflow(): MementoMapError {
  return new MementoMapError(
    "MM_LIMIT",
    `a sum of counts exceeds ${Number.MAX_SAFE_INTEGER}, the largest exact integer`,
  );
}

function readCount(digits: string | undefined, suffix: string | undefined): Count | undefined {
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (value > Number.MAX_SAFE_INTEGER) {
    throw new MementoMapError(
      "MM_BAD_FREQUENCY",
      `count ${quote(digits)} exceeds ${Number.MAX_SAFE_INTEGER}, the largest exact integer`,
    );
  }
  return { value, bound: BOUND_OF[suffix ?? ""] };
}

function formatCount(count: Count): string {
  if (!Number.isSafeInteger(count.value) || count.value < 0) {
    throw new MementoMapError(
      "MM_BAD_FREQUENCY",
      `count ${count.value} is not an integer from 0 to ${Number.MAX_SAFE_INTEGER}`,
    );
  }
  return `${count.value}${SUFFIX_OF[count.bound]}`;
}

function addCounts(a: Count | undefined, b: Count | undefined): Count | undefined {
  if (a === undefined || b === undefined) {
    const known = a ?? b;
    if (known === undefined || known.value === 0) return undefined;
    return { value: known.value, bound: joinBounds(known.bound, "atLeast") };
  }
  const value = a.value + b.value;
  if (value > Number.MAX_SAFE_INTEGER) throw countOverflow();
  return { value, bound: joinBounds(addedBound(a), addedBound(b)) };
}

/**
 * The bound a count brings into a sum. No count is below 0, so `0-` is exactly 0 and `0~` is at
 * least 0. Without this, `/` + `0~` + `5` would depend on the order of adding.
 */
function addedBound(count: Count): Bound {
  if (count.value !== 0) return count.bound;
  if (count.bound === "atMost") return "exact";
  return count.bound === "about" ? "atLeast" : count.bound;
}

function joinBounds(a: Bound, b: Bound): Bound {
  if (a === b || b === "exact") return a;
  return a === "exact" ? b : "about";
}
