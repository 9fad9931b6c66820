import { lookupKeys } from "../surt/key.ts";

/**
 * What a key covers: one page, a page with a query, all below a path, all below a host, or one path
 * on a host and all hosts below it. `inert` keys decide about no URI: the total `*`, and keys that
 * no lookup asks for, such as one with a trailing slash.
 */
export type KeyKind = "page" | "pathWildcard" | "hostWildcard" | "spread" | "inert";

/** A key with the keys that speak for it in a map that lacks it. */
export interface CoveringKeys {
  readonly kind: KeyKind;
  /**
   * The key itself, then every key that covers all of what it covers, most specific first: the
   * first that a map holds decides about the whole key. Just the key itself for inert ones.
   */
  readonly chain: readonly string[];
}

/** Finds what decides about a key as a whole. The home page is `com,cnn)/` here. */
export function coveringKeys(key: string): CoveringKeys {
  const kind = kindOf(key);
  const chain = chainOf(key, kind);
  return chain[0] === key ? { kind, chain } : { kind: "inert", chain: [key] };
}

function kindOf(key: string): KeyKind {
  if (key === "*") return "inert";
  if (key.endsWith(",*")) return "hostWildcard";
  if (isSpread(key)) return "spread";
  return key.endsWith("/*") ? "pathWildcard" : "page";
}

function chainOf(key: string, kind: KeyKind): string[] {
  switch (kind) {
    case "inert":
      return [key];
    case "page":
      return keysFor(key);
    case "pathWildcard":
      // A spread key covers one path only, never all below one.
      return keysFor(key.slice(0, -2)).filter((wide) => wide.endsWith("*") && !isSpread(wide));
    case "hostWildcard":
      return keysFor(`${key.slice(0, -2)})/`).filter((wide) => wide.endsWith(",*"));
    case "spread":
      return keysFor(key.replace(",*)", ")")).filter(
        (wide) => wide.endsWith(",*") || isSpread(wide),
      );
  }
}

function keysFor(surt: string): string[] {
  return lookupKeys(surt).map(({ key }) => key);
}

/** Whether a key has the form `X,*)/p`. */
function isSpread(key: string): boolean {
  const star = key.indexOf(",*)");
  return star >= 0 && key.indexOf(")") === star + 2;
}

/** The host and path of a spread key or a page, the host and top path of a wildcard. */
export interface KeyParts {
  readonly host: string;
  /** `/` for the root; empty for a host wildcard. */
  readonly path: string;
}

/** Takes a key that is not inert apart. */
export function keyParts(key: string, kind: KeyKind): KeyParts {
  if (kind === "hostWildcard") return { host: key.slice(0, -2), path: "" };
  const text = kind === "spread" ? key.replace(",*)", ")") : key;
  const end = text.indexOf(")/");
  const path = text.slice(end + 1);
  return {
    host: text.slice(0, end),
    path: kind === "pathWildcard" ? path.slice(0, -2) || "/" : path,
  };
}
