import type { ByteSource } from "../../bytes/byte-source.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { columnEnd, skipBlanks } from "../../ukvs/record.ts";
import { columnStart } from "../../ukvs/row.ts";
import { type FoundChild, scanChildren } from "./child-scan.ts";
import {
  exactly,
  type KeyRange,
  kindOf,
  namesAbove,
  nodeName,
  nodeRanges,
  readableName,
  rowKind,
  wildcardsAbove,
} from "./key-node.ts";
import { searchParts, searchText } from "./part-search.ts";
import {
  type MapChild,
  mapChild,
  type MapSlice,
  partSums,
  type SliceOptions,
} from "./map-slice.ts";
import { nestedChildren } from "./nested-children.ts";
import { RankedChildren } from "./ranked-children.ts";
import { RowSums } from "./row-sums.ts";
import { lineEnd, SummedRows } from "./summed-rows.ts";

/** For tests: what is large, how many are ranked, how far apart samples are. */
interface ExplorerLimits {
  readonly largeRows?: number | undefined;
  readonly mostRanked?: number | undefined;
  readonly segmentBytes?: number | undefined;
  readonly searchedBytes?: number | undefined;
}

/** Children of smaller nodes are all listed at once. */
const LARGE_ROWS = 20_000;
const MAX_LIMIT = 1000;
const MAX_DEPTH = 3;
const DEFAULT_LIMIT = 200;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The holdings of a map as a tree, in slices: top-level domains, domains, hosts, paths.
 *
 * Reads the map once when it is opened; a slice takes a few reads then, however large the map is. Holds
 * about 1 % of the map, and lists of children within fixed limits.
 */
export class MapExplorer {
  readonly #rows: SummedRows;
  readonly #ranked: RankedChildren;
  readonly #largeRows: number;
  readonly #searchedBytes: number | undefined;

  constructor(rows: SummedRows, limits: ExplorerLimits = {}) {
    const { largeRows = LARGE_ROWS, mostRanked, searchedBytes } = limits;
    this.#rows = rows;
    this.#searchedBytes = searchedBytes;
    this.#largeRows = largeRows;
    this.#ranked = new RankedChildren(rows, mostRanked);
  }

  /**
   * Reads a map through.
   *
   * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO; MM_BAD_INPUT when it is not a map, or one
   *   page of a map.
   */
  static async open(
    source: ByteSource,
    options: ExplorerLimits & { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<MapExplorer> {
    return new MapExplorer(await SummedRows.read(source, options), options);
  }

  /** Ranks the children of large nodes beforehand, so that the first look at them is quick. */
  async prepare(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    const waiting = [""];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const { rows } = await this.#sumsOf(nodeRanges(name), options.signal);
      if (rows <= this.#largeRows) continue;
      const children = await this.#ranked.of(name, true, options.signal);
      for (const child of children.byCaptures) {
        if (child.sums.rows > this.#largeRows) waiting.push(child.name);
      }
    }
  }

  /**
   * A node and some of its children. A node that no key begins with has no rows.
   *
   * @throws MM_USAGE for a prefix, limit or place that cannot be; MM_IO.
   */
  async slice(options: SliceOptions = {}): Promise<MapSlice> {
    const { sort = "captures", limit = DEFAULT_LIMIT, depth = 1, signal } = options;
    const name = nodeName(options.prefix ?? "");
    checkNumber("limit", limit, MAX_LIMIT);
    checkNumber("depth", depth, MAX_DEPTH);
    if (sort !== "captures" && sort !== "key") {
      throw new MementoMapError("MM_USAGE", "sort takes captures or key");
    }
    const sums = await this.#sumsOf(nodeRanges(name), signal);
    const from = placeOf(options.from);
    const isLarge = sums.rows > this.#largeRows;
    const found =
      options.search === undefined
        ? await this.#children(name, { sort, limit, from, isLarge, signal })
        : await this.#search(name, { text: searchText(options.search), limit, from, signal });
    const children =
      depth === 1
        ? found.children
        : await nestedChildren(found.children, {
            all: partSums(sums),
            depth,
            ranked: this.#ranked,
            largeRows: this.#largeRows,
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

  async #search(
    name: string,
    options: {
      readonly text: string;
      readonly limit: number;
      readonly from: Place;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Pick<MapSlice, "children" | "next" | "search">> {
    const { text, limit, from, signal } = options;
    if (typeof from === "number" && from !== 0) throw noPlace(String(from));
    const found = await searchParts(this.#rows, name, {
      text,
      limit,
      from: typeof from === "string" ? from.slice(BY_KEY.length) : undefined,
      firstKey: (ranges) => this.#firstKey(ranges, signal),
      maxBytes: this.#searchedBytes,
      signal,
    });
    const children: MapChild[] = [];
    for (const part of found.parts) {
      const ranges = part.isRow ? [exactly(part.name)] : nodeRanges(part.name);
      const sums = await this.#sumsOf(ranges, signal);
      const hasMore = !part.isRow && (await this.#hasMore(part.name, ranges, signal));
      const kind = part.isRow ? rowKind(part.name) : kindOf(part.name);
      children.push(mapChild({ name: part.name, kind, sums, hasMore }));
    }
    return { search: text, children, next: found.next === undefined ? null : BY_KEY + found.next };
  }

  /** Whether a node has more than its own page. */
  async #hasMore(
    name: string,
    ranges: readonly KeyRange[],
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (kindOf(name) !== "path") return true;
    return (await this.#sumsOf(ranges.slice(1), signal)).rows > 0;
  }

  async #children(
    name: string,
    options: {
      readonly sort: "captures" | "key";
      readonly limit: number;
      readonly from: Place;
      readonly isLarge: boolean;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Pick<MapSlice, "children" | "next">> {
    const { sort, limit, from, isLarge } = options;
    if (isLarge && (sort === "key" || typeof from === "string")) {
      return this.#childrenByKey(name, { ...options, from });
    }
    if (typeof from === "string") throw noPlace(from);
    const list = await this.#ranked.of(name, isLarge);
    const children = sort === "key" ? list.byKey : list.byCaptures;
    const shown = children.slice(from, from + limit);
    const end = from + shown.length;
    const isLast = end >= children.length;
    const next = isLast ? (list.isWhole ? null : BY_KEY) : String(end);
    return { children: shown.map((child) => mapChild(child)), next };
  }

  /** Children of a large node in the order of the map; behind those by captures, without them. */
  async #childrenByKey(
    name: string,
    options: {
      readonly sort: "captures" | "key";
      readonly limit: number;
      readonly from: Place;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Pick<MapSlice, "children" | "next">> {
    const { sort, limit, from, signal } = options;
    const after = typeof from === "string" && from !== BY_KEY ? from.slice(BY_KEY.length) : "";
    const left =
      sort === "captures" ? (await this.#ranked.of(name, true)).names : new Set<string>();
    const found: FoundChild[] = [];
    const whole = new Set<FoundChild>();
    await scanChildren(this.#rows, name, nodeRanges(name), {
      ...(after === "" ? {} : await this.#startBehind(name, after, signal)),
      onChild: (child) => whole.add(child),
      onFirst: (child) => {
        if (child.name !== after && !left.has(child.name)) found.push(child);
        return found.length <= limit;
      },
      signal,
    });
    const children: MapChild[] = [];
    for (const child of found.slice(0, limit)) {
      if (whole.has(child)) {
        children.push(mapChild(child));
        continue;
      }
      const ranges = rangesOf(child.name, child.ending);
      const sums = await this.#sumsOf(ranges, signal);
      // What is below a page may stand far behind it.
      const hasMore = child.hasMore || (await this.#sumsOf(ranges.slice(1), signal)).rows > 0;
      children.push(mapChild({ name: child.name, kind: child.kind, sums, hasMore }));
    }
    const last = children.at(-1);
    const next = found.length > limit && last !== undefined ? `${BY_KEY}${last.prefix}` : null;
    return { children, next };
  }

  /** Where a scan goes on behind a child, and which children it would meet once more. */
  async #startBehind(
    name: string,
    after: string,
    signal: AbortSignal | undefined,
  ): Promise<{ from: Uint8Array; before: string[] }> {
    const ending = after !== name && /[,/]$/.test(after) ? after.at(-1) : "";
    const first = await this.#firstKey(rangesOf(after, ending ?? ""), signal);
    if (first === undefined || !after.startsWith(name.replace(/[,/]$/, ""))) throw noPlace(after);
    // Of `/a-b` those are `/a`, `/a-`, if a row of theirs came before.
    const before: string[] = [];
    const text = ending === "" ? after : after.slice(0, -1);
    for (let length = name.length + 1; ending !== "" && length < text.length; length++) {
      const other = text.slice(0, length) + ending;
      const key = await this.#firstKey(nodeRanges(other), signal);
      if (key !== undefined && compareText(key, first) < 0) before.push(other);
    }
    return { from: encoder.encode(first), before };
  }

  async #firstKey(
    ranges: readonly KeyRange[],
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    for (const { from, to } of ranges) {
      const key = await this.#keyAt(from, signal);
      if (key !== undefined && (to === undefined || compareText(key, decoder.decode(to)) < 0)) {
        return key;
      }
    }
    return undefined;
  }

  /** The first key that is not below `from`. */
  async #keyAt(from: Uint8Array, signal: AbortSignal | undefined): Promise<string | undefined> {
    let { segment, at } = await this.#rows.seek(from, signal);
    for (; segment < this.#rows.segments; segment++, at = 0) {
      const bytes = await this.#rows.segment(segment, signal);
      while (at < bytes.length) {
        const keyEnd = columnEnd(bytes, at, lineEnd(bytes, at));
        if (keyEnd > at) return decoder.decode(bytes.subarray(at, keyEnd));
        at = lineEnd(bytes, at) + 1;
      }
    }
    return undefined;
  }

  async #sumsOf(ranges: readonly KeyRange[], signal: AbortSignal | undefined): Promise<RowSums> {
    const sums = new RowSums();
    for (const range of ranges) sums.add(await this.#rows.sumOf(range, signal));
    return sums;
  }

  async #coveredBy(name: string, signal: AbortSignal | undefined): Promise<MapSlice["coveredBy"]> {
    const found: { key: string; frequency: string }[] = [];
    for (const key of wildcardsAbove(name)) {
      const { from } = exactly(key);
      const { segment, at } = await this.#rows.seek(from, signal);
      if (segment >= this.#rows.segments) continue;
      const bytes = await this.#rows.segment(segment, signal);
      const end = lineEnd(bytes, at);
      const keyEnd = columnEnd(bytes, at, end);
      if (decoder.decode(bytes.subarray(at, keyEnd)) !== key) continue;
      const second = skipBlanks(bytes, keyEnd, end);
      const start = columnStart(bytes, second, end, this.#rows.layout.frequencyColumn - 1);
      found.push({
        key,
        frequency: decoder.decode(bytes.subarray(start, columnEnd(bytes, start, end))),
      });
    }
    return found;
  }
}

function checkNumber(name: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new MementoMapError("MM_USAGE", `${name} takes 1 to ${most}, not ${value}`);
}

/** A number of children that came before, or the name of the last one, behind `key:`. */
type Place = number | string;
const BY_KEY = "key:";

function placeOf(from: string | undefined): Place {
  if (from === undefined) return 0;
  if (/^\d{1,9}$/.test(from)) return Number(from);
  if (from.startsWith(BY_KEY)) return from;
  throw noPlace(from);
}

function noPlace(from: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `${quote(from)} is not the next of a slice`);
}

function rangesOf(name: string, ending: string): KeyRange[] {
  return ending === "" ? [exactly(name)] : nodeRanges(name);
}

/** As bytes: the order of keys. */
function compareText(a: string, b: string): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return left[i] - right[i];
  return left.length - right.length;
}
