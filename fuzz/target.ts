import type { Random } from "../src/bytes/random.ts";

/** Something that reads untrusted bytes, and what must hold whatever it is given. */
export interface Target extends TargetDefinition {
  /** The name of its file, and of its folder in `fuzz/kept/`. */
  readonly name: string;
}

/** What a file in `fuzz/targets/` exports. */
export interface TargetModule {
  readonly target: TargetDefinition;
}

export interface TargetDefinition {
  /** What holds for every input, in one line. */
  readonly holds: string;
  /** Small, well-formed inputs; what is fuzzed are mutations of them. */
  readonly seeds: () => readonly (string | Uint8Array)[];
  /** Words of the format, which mutations insert. */
  readonly words?: readonly (string | Uint8Array)[] | undefined;
  /** The part of all runs that it gets, where an input takes long; default 1. */
  readonly share?: number | undefined;
  /**
   * Reads an input. Throws MementoMapError to refuse it; any other error is a failure.
   *
   * @param random seeded by the input, so that the same bytes always take the same course.
   */
  readonly run: (input: Uint8Array, random: Random) => void | Promise<void>;
}
