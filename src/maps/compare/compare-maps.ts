import { MementoMapError } from "../../errors.ts";
import type { SignalOption } from "../../interruption.ts";
import type { NamedChunks } from "../diff-maps.ts";
import { lowestRow } from "../row-cursor.ts";
import { combinationsOf, type MapComparison, sumsOf } from "./comparison.ts";
import { KeyRows } from "./key-rows.ts";
import { MAX_COMPARED } from "./overlap.ts";
import { OverlapTree } from "./overlap-tree.ts";
import { loadSuffixLabels } from "./suffix-labels.ts";

/** A map to be compared. */
export interface ComparedSource extends NamedChunks {
  /** Its name in the comparison. */
  readonly id: string;
}

/**
 * Compares the holdings of two to eight sorted maps: common to several, or held by one only.
 *
 * Compares the keys of pages. A map without a row for a page may still hold it, if a wildcard covers it. Rows
 * such as `com,*)/robots.txt` are counted, but do not decide about pages. Reads all maps once, in
 * parallel; holds a batch of rows of each.
 *
 * @throws MM_USAGE for too few or too many maps; MM_BAD_INPUT for inputs that are not text maps;
 *   MM_NOT_SORTED and other read errors; MM_INTERRUPTED.
 */
export async function compareMaps(
  sources: readonly ComparedSource[],
  { signal }: SignalOption = {},
): Promise<MapComparison> {
  checkSources(sources);
  const suffixLabels = await loadSuffixLabels();
  const maps: KeyRows[] = [];
  try {
    for (const source of sources) maps.push(await KeyRows.open(source, signal));
    const tree = new OverlapTree(maps, suffixLabels);
    const rows = maps.map((map) => map.rows);
    for (let lowest = lowestRow(rows); lowest !== undefined; lowest = lowestRow(rows)) {
      const key = tree.goTo(lowest);
      let having = 0;
      for (let i = 0; i < maps.length; i++) {
        if (rows[i].compareKeyTo(key.bytes, 0, key.length) !== 0) continue;
        having |= 1 << i;
        const waiting = maps[i].takeKey(key);
        if (waiting !== undefined) await waiting;
      }
      tree.add(having);
    }
    tree.end();
    const ids = sources.map(({ id }) => id);
    return {
      maps: maps.map(({ headers: { meta } }, i) => ({
        id: ids[i],
        ...(typeof meta["name"] === "string" ? { name: meta["name"] } : {}),
        ...sumsOf(tree.root.sums[i]),
        tlds: tree.tlds[i],
        domains: tree.domains[i],
      })),
      keys: combinationsOf(tree.root.keys, ids),
      domains: combinationsOf(tree.root.domains, ids),
    };
  } finally {
    await Promise.all(maps.map((map) => map.rows.close()));
  }
}

function checkSources(sources: readonly ComparedSource[]): void {
  if (sources.length < 2 || sources.length > MAX_COMPARED) {
    throw new MementoMapError("MM_USAGE", `give 2 to ${MAX_COMPARED} maps to compare`);
  }
  if (new Set(sources.map(({ id }) => id)).size < sources.length) {
    throw new MementoMapError("MM_USAGE", "two maps to compare have the same name");
  }
}
