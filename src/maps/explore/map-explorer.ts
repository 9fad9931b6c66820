import type { ByteSource } from "../../bytes/byte-source.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { SignalOption } from "../../interruption.ts";
import { type Child, ChildLists, type ListLimits } from "./child-lists.ts";
import {
  exactly,
  kindOf,
  namesAbove,
  nodeName,
  nodeRanges,
  partKind,
  partRanges,
  readableName,
  wildcardsAbove,
} from "./key-node.ts";
import { findParts, type FoundParts, searchText } from "./part-search.ts";
import {
  type MapChild,
  mapChild,
  type MapSlice,
  partSums,
  type SliceOptions,
} from "./map-slice.ts";
import { nestedChildren } from "./nested-children.ts";
import { SummedRows } from "./summed-rows.ts";

/** For tests. */
interface ExplorerLimits extends ListLimits {
  readonly segmentBytes?: number | undefined;
  readonly searchedBytes?: number | undefined;
}

const MAX_LIMIT = 1000;
const MAX_DEPTH = 3;
const DEFAULT_LIMIT = 200;

/**
 * The holdings of a map as a tree, in slices: top-level domains, domains, hosts, paths.
 *
 * Reads the map once when opened; each slice then takes a few reads, however large the map is. Holds
 * about 1 % of the map, and lists of children within fixed limits.
 */
export class MapExplorer {
  readonly #rows: SummedRows;
  readonly #lists: ChildLists;
  readonly #searchedBytes: number | undefined;

  constructor(rows: SummedRows, limits: ExplorerLimits = {}) {
    this.#rows = rows;
    this.#searchedBytes = limits.searchedBytes;
    this.#lists = new ChildLists(rows, limits);
  }

  /**
   * Reads a whole map.
   *
   * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO; MM_BAD_INPUT when it is not a map, or
   *   is one page of a map.
   */
  static async open(
    source: ByteSource,
    options: ExplorerLimits & SignalOption = {},
  ): Promise<MapExplorer> {
    return new MapExplorer(await SummedRows.read(source, options), options);
  }

  /** Ranks the children of large nodes in advance, so that their first slice is fast. */
  async prepare({ signal }: SignalOption = {}): Promise<void> {
    const waiting = [""];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const { rows } = await this.#rows.sumOf(nodeRanges(name), signal);
      if (!this.#lists.isLarge(rows)) continue;
      const { children } = await this.#lists.of(name, rows, signal);
      for (const { part, sums } of children) {
        if (this.#lists.isLarge(sums.rows)) waiting.push(part.name);
      }
    }
  }

  /**
   * A node and some of its children. A node that no key begins with has no rows.
   *
   * @throws MM_USAGE for an invalid prefix, limit or position; MM_IO.
   */
  async slice(options: SliceOptions = {}): Promise<MapSlice> {
    const { sort = "captures", limit = DEFAULT_LIMIT, depth = 1, signal } = options;
    const name = nodeName(options.prefix ?? "");
    checkNumber("limit", limit, MAX_LIMIT);
    checkNumber("depth", depth, MAX_DEPTH);
    if (sort !== "captures" && sort !== "key") {
      throw new MementoMapError("MM_USAGE", "sort takes captures or key");
    }
    const sums = await this.#rows.sumOf(nodeRanges(name), signal);
    const from = await this.#placeOf(options.from, signal);
    const found = await this.#children(name, { ...options, sort, limit, from }, sums.rows);
    const children =
      depth === 1
        ? found.children
        : await nestedChildren(found.children, {
            all: partSums(sums),
            depth,
            lists: this.#lists,
            signal,
          });
    return {
      form: "text",
      prefix: name,
      url: readableName(name),
      kind: kindOf(name),
      ...partSums(sums),
      above: namesAbove(name).map((prefix) => ({ prefix, url: readableName(prefix) })),
      coveredBy: await this.#coveredBy(name, signal),
      ...(name === "" && this.#rows.total !== undefined ? { total: this.#rows.total } : {}),
      ...found,
      children,
    };
  }

  async #children(
    name: string,
    options: {
      readonly sort: "captures" | "key";
      readonly limit: number;
      readonly from: Place;
      readonly search?: string | undefined;
      readonly signal?: AbortSignal | undefined;
    },
    rows: number,
  ): Promise<Pick<MapSlice, "children" | "next" | "search">> {
    const { sort, limit, from, signal } = options;
    const key = typeof from === "number" ? undefined : from.key;
    if (options.search !== undefined) {
      if (typeof from === "number" && from !== 0) throw noPlace(String(from));
      const text = searchText(options.search);
      const maxBytes = this.#searchedBytes;
      const place = { limit, from: key, signal };
      const found = await findParts(this.#rows, name, { text, maxBytes, ...place });
      return { search: text, ...(await this.#slice(found, signal)) };
    }
    const isLarge = this.#lists.isLarge(rows);
    if (isLarge && (sort === "key" || typeof from !== "number")) {
      // All others follow those ranked by captures.
      const list = sort === "captures" ? (await this.#lists.of(name, rows)).children : [];
      const known = new Set(list.map(({ part }) => part.name));
      const found = await findParts(this.#rows, name, { limit, from: key, known, signal });
      return this.#slice(found, signal);
    }
    if (typeof from !== "number") throw noPlace(BY_KEY + (from.key ?? ""));
    const list = await this.#lists.of(name, rows);
    const byKey = (): Child[] => list.children.toSorted((a, b) => a.place - b.place);
    const children = sort === "key" ? byKey() : list.children;
    const shown = children.slice(from, from + limit);
    const end = from + shown.length;
    const next = end < children.length ? String(end) : list.isWhole ? null : BY_KEY;
    return { children: shown.map((child) => mapChild(child)), next };
  }

  /** Parts as children, with the totals of their rows. */
  async #slice(
    { parts, next }: FoundParts,
    signal: AbortSignal | undefined,
  ): Promise<Pick<MapSlice, "children" | "next">> {
    const children: MapChild[] = [];
    for (const part of parts) {
      const ranges = partRanges(part);
      const sums = await this.#rows.sumOf(ranges, signal);
      // The first range of a path is its own page.
      const isPath = partKind(part) === "path";
      const below = isPath ? await this.#rows.sumOf(ranges.slice(1), signal) : sums;
      children.push(mapChild({ part, sums, hasMore: !part.isRow && below.rows > 0 }));
    }
    return { children, next: next === undefined ? null : BY_KEY + next };
  }

  async #coveredBy(name: string, signal: AbortSignal | undefined): Promise<MapSlice["coveredBy"]> {
    const found: { key: string; frequency: string }[] = [];
    for (const key of wildcardsAbove(name)) {
      const row = await this.#rows.firstRow([exactly(key)], signal);
      if (row !== undefined) found.push(row);
    }
    return found;
  }

  /** @throws MM_USAGE for a value that is not `next` of a slice. */
  async #placeOf(from: string | undefined, signal: AbortSignal | undefined): Promise<Place> {
    if (from === undefined) return 0;
    if (/^\d{1,9}$/.test(from)) return Number(from);
    if (from === BY_KEY) return { key: undefined };
    const key = from.startsWith(BY_KEY) ? from.slice(BY_KEY.length) : "";
    if (key === "" || (await this.#rows.firstRow([exactly(key)], signal)) === undefined) {
      throw noPlace(from);
    }
    return { key };
  }
}

function checkNumber(name: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= max) return;
  throw new MementoMapError("MM_USAGE", `${name} takes 1 to ${max}, not ${value}`);
}

/** A number of children to skip, or the key to continue at; undefined for the first. */
type Place = number | { readonly key: string | undefined };
const BY_KEY = "key:";

function noPlace(from: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `${quote(from)} is not the "next" of a slice`);
}
