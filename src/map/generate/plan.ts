import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { Canonicalization, MapDescription } from "./map-headers.ts";
import type { DamageLog } from "../../bytes/damage.ts";
import { keyedByUri } from "../../input/detect.ts";
import type { AddedMap } from "./added-map.ts";
import { openAddedMap } from "./added-map.ts";
import type { IndexInput, OpenOptions } from "../../input/index-input.ts";
import { FileProgress } from "../../input/index-input.ts";
import { openInputs } from "../../input/open-inputs.ts";
import type { GenerateOptions } from "./generate-files.ts";

/** What is to be done, found out before any work is. */
export interface GeneratePlan {
  readonly inputs: readonly IndexInput[];
  /** Whether each capture is to be counted once. */
  readonly isDistinct: boolean;
  readonly description: MapDescription;
  /** How keys are made, as far as is known before all rows are read. */
  readonly canonicalization: Canonicalization;
  /** Files of records that are not read, because an index of them is. */
  readonly indexed: readonly string[];
  readonly progress: FileProgress;
  /** Whether all inputs can be read a second time. */
  readonly canReread: boolean;
}

/**
 * Makes out all inputs and how they go together.
 *
 * @param damage where to note what this thread passes over, if that is allowed.
 * @throws MM_USAGE for inputs whose counts cannot be added up, and what opening inputs throws.
 */
export async function planGenerate(
  paths: readonly string[],
  options: GenerateOptions,
  untrusted: ReadonlySet<string>,
  damage?: DamageLog,
): Promise<GeneratePlan> {
  const progress = new FileProgress();
  const indexed: string[] = [];
  const open: OpenOptions = {
    format: options.format ?? "auto",
    keys: options.keys ?? "auto",
    untrusted,
    maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
    archive: options.archive,
    streams: options.streams,
    signal: options.interrupt?.signal,
    damage,
    indexed,
    progress,
  };
  const indexes = await openInputs(paths, open);
  const isDistinct =
    options.distinct === true || indexes.some((input) => input.format.repeats === true);
  checkSamples(indexes);
  const added = options.add ?? [];
  if (added.length > 0) checkAdding(indexes, isDistinct, options);
  const maps: AddedMap[] = [];
  for (const path of added) maps.push(await openAddedMap(path, options.datetimeDigits ?? 0, open));
  return {
    inputs: largestFirst([...indexes, ...maps.map((map) => map.input)]),
    isDistinct,
    description: describe(maps, options),
    canonicalization: keysOf(indexes, maps, options),
    indexed,
    progress,
    canReread: indexes.every((input) => input.source !== "stdin" && input.size !== undefined),
  };
}

/** A sample tells of captures that an index has too: adding both up would be wrong. */
function checkSamples(inputs: readonly IndexInput[]): void {
  const sample = inputs.find((input) => input.format.isSample === true);
  const index = inputs.find((input) => input.format.isSample !== true);
  if (sample === undefined || index === undefined) return;
  throw new MementoMapError(
    "MM_USAGE",
    `${quote(sample.source)} is a sample of what an archive holds, and ${quote(index.source)} an ` +
      "index; they tell of the same captures and cannot be counted together",
  );
}

function checkAdding(
  inputs: readonly IndexInput[],
  isDistinct: boolean,
  options: GenerateOptions,
): void {
  const why =
    options.originals === true
      ? "a map does not say which originals it counted; leave out --originals"
      : isDistinct
        ? "a map does not say which captures it counted, so duplicates cannot be told"
        : inputs.some((input) => input.format.isSample === true)
          ? "a sample tells of captures that the map has too"
          : undefined;
  if (why !== undefined) throw new MementoMapError("MM_USAGE", `cannot add to a map: ${why}`);
}

/** Files that one thread has to read alone should not be begun last. */
function largestFirst(inputs: readonly IndexInput[]): IndexInput[] {
  return inputs.toSorted((a, b) => (b.size ?? 0) - (a.size ?? 0));
}

function describe(maps: readonly AddedMap[], options: GenerateOptions): MapDescription {
  const given = options.description ?? {};
  const metas = maps.map(({ headers }) => headers.meta);
  const textOf = (name: string): string[] =>
    metas.map((meta) => meta[name]).filter((value) => typeof value === "string");
  const ids = maps.map(({ headers }) => headers.id).filter((id) => id !== undefined);
  const updatedAt = [given.updatedAt ?? "", ...textOf("updated_at")].reduce((a, b) =>
    a > b ? a : b,
  );
  return {
    ...given,
    id: given.id ?? ids[0],
    name: given.name ?? textOf("name")[0],
    updatedAt: updatedAt === "" ? undefined : updatedAt,
  };
}

function keysOf(
  indexes: readonly IndexInput[],
  maps: readonly AddedMap[],
  options: GenerateOptions,
): Canonicalization {
  const areOurs =
    indexes.every((input) => hasOurKeys(input, options)) &&
    maps.every(({ headers }) => headers.meta["canonicalization"] === "surt");
  return areOurs ? "surt" : "index";
}

/** Whether keys are made from URIs, or were compared with them. */
function hasOurKeys({ format }: IndexInput, { keys }: GenerateOptions): boolean {
  if (format.name === "surts" || format.name === "map") return false;
  if (format.isRekeyed === true || keyedByUri(format) === undefined) {
    return format.name !== "cdx" || format.columns.key === -1;
  }
  return format.container !== undefined || keys !== "column";
}
