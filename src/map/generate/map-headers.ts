import type { Header } from "../../ukvs/header.ts";
import { UkvsHeaders } from "../../ukvs/header.ts";

/**
 * How the keys of a map were made: `surt`, as `surt()` makes them, or `index`, as they stood in the
 * index and without a URI to compare them with.
 */
export type Canonicalization = "surt" | "index";

/** What a map says about itself and its archive. */
export interface MapDescription {
  /** The archive's URI. */
  readonly id?: string | undefined;
  /** The archive's name, for people. */
  readonly name?: string | undefined;
  /** ISO 8601; when the index that the map was made from last changed. */
  readonly updatedAt?: string | undefined;
  /** The program that made the map, with its version. */
  readonly generator?: string | undefined;
  /** Whether the archive may hold more than the map tells: only its rows with 0 say absent. */
  readonly isSample?: boolean | undefined;
  /** How keys were made; see {@link Canonicalization}. */
  readonly canonicalization?: Canonicalization | undefined;
}

export const MAP_CONTEXT = "https://git.io/mementomap";

/** The headers of a new map. */
export function mapHeaders(description: MapDescription, datetimeDigits: number): UkvsHeaders {
  const { id, name, updatedAt, generator, canonicalization, isSample } = description;
  const meta = {
    ...(name === undefined ? {} : { name }),
    type: "MementoMap",
    ...(updatedAt === undefined ? {} : { updated_at: updatedAt }),
    ...(generator === undefined ? {} : { generator }),
    ...(canonicalization === undefined ? {} : { canonicalization }),
    ...(isSample === true ? { sample: true } : {}),
  };
  const keys = datetimeDigits > 0 ? ["surt", "datetime"] : ["surt"];
  const list: Header[] = [
    { name: "context", value: [MAP_CONTEXT] },
    { name: "fields", value: { keys, values: ["frequency"] } },
    ...(id === undefined ? [] : [{ name: "id", value: { uri: id } }]),
    { name: "meta", value: meta },
  ];
  return new UkvsHeaders(list);
}
