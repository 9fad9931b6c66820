import { isIP, type LookupFunction } from "node:net";
import { isMementoMapError, type MementoMapError } from "../errors.ts";

/** Behind a proxy there may be nobody who knows names, and to find that out takes long. */
const LOOKUP_MS = 2000;

/**
 * Why a name may not be asked for through a proxy, as far as this machine knows.
 *
 * The proxy resolves names, so that nobody here sees which address it connects to. A name that this
 * machine knows to be at a private address is refused all the same; one that it does not know is left
 * to the proxy.
 *
 * @param lookup fails with an error of ours for names that lead where nobody may go.
 */
export function refusedName(
  host: string,
  lookup: LookupFunction,
): Promise<MementoMapError | undefined> {
  return new Promise((resolve) => {
    // Addresses were looked at before.
    if (isIP(host) !== 0) {
      resolve(undefined);
      return;
    }
    const timer = setTimeout(() => resolve(undefined), LOOKUP_MS);
    lookup(host, { all: true }, (error) => {
      clearTimeout(timer);
      resolve(isMementoMapError(error) ? error : undefined);
    });
  });
}
