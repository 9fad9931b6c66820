import { hostEnd, surtKey, surtQueryKey } from "./key.ts";

/** A key to look for in a map. */
export interface LookupKey {
  readonly key: string;
  /** How far up from the URI the key is: 0 for the URI itself, 1 for all below it, and so on. */
  readonly distance: number;
}

/**
 * The keys that can answer for a SURT, most specific first; the first that a map holds decides.
 *
 * For `com,example,www2)/a/b`:
 *
 * | key | distance |
 * |---|---|
 * | `com,example,www2)/a/b` | 0 |
 * | `com,example,www2)/a/b/*` | 1 |
 * | `com,example,www2)/a/*` | 2 |
 * | `com,example,www2)/*` | 3 |
 * | `com,example,www2,*)/a/b` | 4 |
 * | `com,example,www2,*` | 5 |
 * | `com,example,*)/a/b` | 6 |
 * | `com,example,*` | 7 |
 * | `com,*)/a/b`, then `com,*` | 8 |
 *
 * With a query, the SURT as a whole comes first, at distance 0 too. `*` is never among the keys. A
 * port belongs to its label, so that `com,example:8080)/` is not below `com,example,*`. Addresses
 * are treated as names. A SURT without a host, such as `dns:example.com`, has no key but itself.
 */
export function lookupKeys(surt: string): LookupKey[] {
  const key = surtKey(surt);
  const queryKey = surtQueryKey(surt);
  const keys: LookupKey[] = queryKey === undefined ? [] : [{ key: queryKey, distance: 0 }];
  keys.push({ key, distance: 0 });
  const end = hostEnd(key);
  if (end === -1) return keys;

  const path = key.slice(end + 1);
  let distance = 0;
  for (let above = path === "/" ? "" : path; ; above = above.slice(0, above.lastIndexOf("/"))) {
    distance++;
    keys.push({ key: `${key.slice(0, end + 1)}${above}/*`, distance });
    if (above === "") break;
  }
  for (let host = key.slice(0, end); host !== "";) {
    const comma = host.lastIndexOf(",");
    distance++;
    keys.push({ key: `${host},*)${path}`, distance });
    if (comma !== -1) distance++;
    keys.push({ key: `${host},*`, distance });
    host = comma === -1 ? "" : host.slice(0, comma);
  }
  return keys;
}
