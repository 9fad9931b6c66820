import { isMementoMapError } from "../../errors.ts";
import type { MissList } from "../../compact/misses.ts";
import { packMap, type PackOptions } from "../../pack/pack-files.ts";
import { mapPredictor, type Predictor } from "./predictor.ts";

interface PackedMapsOptions extends Pick<PackOptions, "scratch" | "streams"> {
  /** Lookups that missed, to make as many maps again that learn from them. */
  readonly misses: MissList | undefined;
}

/** Packs a map to each of these sizes, where that is possible. */
export async function* packedMaps(
  path: string,
  sizes: readonly number[],
  { misses, scratch, streams }: PackedMapsOptions,
): AsyncGenerator<Predictor, void, undefined> {
  for (const learned of misses === undefined ? [undefined] : [undefined, misses]) {
    const label = learned === undefined ? "packed" : "packed, trained,";
    for (const maxBytes of sizes) {
      const file = await packedTo(path, { maxBytes, misses: learned, scratch, streams });
      if (file !== undefined) yield mapPredictor(`${label} ${maxBytes} B`, file);
    }
  }
}

/** Undefined where no packed map is so small. */
async function packedTo(path: string, options: PackOptions): Promise<Uint8Array | undefined> {
  try {
    return (await packMap(path, options)).file;
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_BUDGET") return undefined;
    throw error;
  }
}
