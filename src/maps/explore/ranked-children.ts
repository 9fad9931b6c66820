import { type FoundChild, scanChildren } from "./child-scan.ts";
import { type NodeKind, nodeRanges } from "./key-node.ts";
import type { RowSums } from "./row-sums.ts";
import type { SummedRows } from "./summed-rows.ts";

/** A child of a list. */
export interface ListedChild {
  readonly name: string;
  readonly kind: NodeKind;
  readonly sums: RowSums;
  readonly hasMore: boolean;
}

/** The children of a node. */
export interface ChildList {
  /** Largest first; of large nodes the first only. */
  readonly byCaptures: readonly ListedChild[];
  /** In the order of the map; nothing for large nodes. */
  readonly byKey: readonly ListedChild[];
  readonly names: ReadonlySet<string>;
  /** Whether all children are listed. */
  readonly isWhole: boolean;
}

/** Children listed of a large node: more than a screen has room for. */
const MOST_RANKED = 1000;
/** Children held in all lists. */
const MOST_HELD = 200_000;

/** Lists of children, those that were used last. Lists of large nodes have their largest children. */
export class RankedChildren {
  readonly #rows: SummedRows;
  readonly #lists = new Map<string, Promise<ChildList>>();
  readonly #sizes = new Map<string, number>();
  readonly #mostRanked: number;
  #held = 0;

  constructor(rows: SummedRows, mostRanked: number = MOST_RANKED) {
    this.#rows = rows;
    this.#mostRanked = mostRanked;
  }

  /** The children of a node. Those who ask for the same at the same time share the work. */
  of(name: string, isLarge: boolean, signal?: AbortSignal): Promise<ChildList> {
    const known = this.#lists.get(name);
    if (known !== undefined) {
      this.#lists.delete(name);
      this.#lists.set(name, known);
      return known;
    }
    const list = this.#list(name, isLarge, signal);
    this.#lists.set(name, list);
    list.then(
      ({ names }) => this.#note(name, names.size),
      () => this.#lists.delete(name),
    );
    return list;
  }

  async #list(name: string, isLarge: boolean, signal?: AbortSignal): Promise<ChildList> {
    const found = new LargestChildren(isLarge ? this.#mostRanked : Infinity);
    const order: FoundChild[] = [];
    await scanChildren(this.#rows, name, nodeRanges(name), {
      onChild: (child) => found.add(child),
      onFirst: (child) => {
        if (!isLarge) order.push(child);
        return true;
      },
      signal,
    });
    const listed = new Map<FoundChild, ListedChild>();
    const byCaptures = found.ranked().map((child) => {
      const { kind, sums, hasMore } = child;
      const one = { name: child.name, kind, sums, hasMore };
      listed.set(child, one);
      return one;
    });
    return {
      byCaptures,
      byKey: order.flatMap((child) => listed.get(child) ?? []),
      names: new Set(byCaptures.map((child) => child.name)),
      isWhole: found.isWhole,
    };
  }

  #note(name: string, size: number): void {
    this.#sizes.set(name, size);
    this.#held += size;
    for (const [oldest] of this.#lists) {
      if (this.#held <= MOST_HELD || oldest === name) return;
      this.#lists.delete(oldest);
      this.#held -= this.#sizes.get(oldest) ?? 0;
      this.#sizes.delete(oldest);
    }
  }
}

/** The children with most captures of all that were added. */
class LargestChildren {
  readonly #most: number;
  #children: FoundChild[] = [];
  /** What is below this has no place among them. */
  #least = -1;
  isWhole = true;

  constructor(most: number) {
    this.#most = most;
  }

  add(child: FoundChild): void {
    if (child.sums.captures < this.#least) {
      this.isWhole = false;
      return;
    }
    this.#children.push(child);
    if (this.#children.length > 2 * this.#most) this.#cut();
  }

  ranked(): FoundChild[] {
    this.#cut();
    return this.#children;
  }

  #cut(): void {
    this.#children.sort((a, b) => b.sums.captures - a.sums.captures);
    if (this.#children.length <= this.#most) return;
    this.isWhole = false;
    this.#children.length = this.#most;
    this.#least = this.#children[this.#most - 1].sums.captures;
  }
}
