import type { Ranked } from "./top-list.ts";

/** What a part of the tree of keys holds. */
export interface SubTree extends Ranked {
  /** As a key of a map: `com,example,*`, `com,example)/*`, `com,example)/a/*`. */
  readonly name: string;
  readonly mementos: number;
  readonly originals: number;
  readonly keys: number;
  readonly hosts: number;
  /** The most mementos that one original in it has. */
  readonly largestOriginal: number;
}

/** An original that is archived often. */
export interface TopOriginal extends Ranked {
  /** Its SURT. */
  readonly name: string;
  readonly mementos: number;
}

/** What is held under one top-level domain. */
export interface TldHoldings extends Ranked {
  readonly name: string;
  readonly originals: number;
  readonly mementos: number;
}
