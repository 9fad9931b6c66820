import { MementoMapError, quote } from "../../errors.ts";

/**
 * Complains about a row whose key is not behind the last one.
 *
 * @param order negative if it comes before the last key, 0 if it is the same
 * @throws MM_NOT_SORTED
 */
export function rejectOrder(order: number, key: Uint8Array, last: string): never {
  const text = quote(new TextDecoder().decode(key));
  throw new MementoMapError(
    "MM_NOT_SORTED",
    order === 0
      ? `key ${text} comes twice; merge adds such rows up`
      : `key ${text} comes after ${quote(last)}; sort the rows with LC_ALL=C sort`,
  );
}
