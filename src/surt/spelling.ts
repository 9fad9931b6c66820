import { MementoMapError, quote } from "../errors.ts";
import { ANY_QUERY, escapeUtf8, hasQuery, hostEnd, type KeyOptions, surtKey } from "./key.ts";

/** Characters that keys of this tool have only in wildcards, or at the end of the host. */
// oxlint-disable-next-line no-control-regex -- all of ASCII
const FOREIGN = /[*)]|[^\u0000-\u007f]/u;
// oxlint-disable-next-line no-control-regex -- all of ASCII
const NOT_ASCII = /[^\u0000-\u007f]+/gu;
const ESCAPED_BYTES = /(?:%[89a-f][0-9a-f])+/g;
/** Matches keys that the authors' tool may write differently. */
const MAY_DIFFER = /%2a|%[89a-f][0-9a-f]/;
/** A host that is empty, has an empty label at an end, or an unescaped `)` or `/`. */
const UNPUBLISHED_HOST = /^,|,$|^$|[)/]/;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Converts a key of the authors' tool (oduwsdl/MementoMap) to the spelling of this tool. The authors' tool copies
 * keys from an index unchanged: `com,cnn)` is a home page, and neither non-ASCII characters nor a `*` within a
 * label or segment are escaped. The rest of lookup, merging and packing is unaware of this.
 */
export function ownSpelling(key: string, { queries = false }: KeyOptions = {}): string {
  if (!FOREIGN.test(key)) return key;
  const isOfAny = queries && key.endsWith(ANY_QUERY);
  const page = isOfAny ? key.slice(0, -ANY_QUERY.length) : key;
  const ascii = page.replace(NOT_ASCII, escapeUtf8);
  const escaped = ascii.replace(/\*/g, (star: string, at: number) =>
    isWhole(ascii, at, at + 1) ? star : "%2a",
  );
  const home = isBareHome(escaped) ? `${escaped}/` : escaped;
  return isOfAny ? home + ANY_QUERY : home;
}

/**
 * The lookup key that finds a row with this key: in a map without queries, a key with a query is found by its page.
 */
export function askedKey(key: string, options: KeyOptions = {}): string {
  const own = ownSpelling(key, options);
  const isFoundByPage = options.queries !== true && !own.includes("*") && hasQuery(own);
  return isFoundByPage ? surtKey(own) : own;
}

/**
 * Rejects a key that only unpublished versions of this tool wrote, such as `com,a,)/` or `com,a)b)/`: lookups would
 * misread its host.
 *
 * @throws MM_BAD_KEY, without a position
 */
export function refuseUnpublished(key: string): void {
  const end = hostEnd(key);
  const isUnpublished =
    end === -1
      ? /^[^/:]*\)\?/.test(key) && hasQuery(key)
      : UNPUBLISHED_HOST.test(key.slice(0, end));
  if (!isUnpublished) return;
  throw new MementoMapError(
    "MM_BAD_KEY",
    `key ${quote(key)} is not valid: only unpublished versions wrote such keys; regenerate the map from its index`,
  );
}

/** Whether this is the home page of a host, without its slash. */
function isBareHome(key: string): boolean {
  return key.indexOf(")") === key.length - 1 && key.length > 1 && !key.endsWith(",*)");
}

/** Whether a range of a key is a complete label or segment. */
function isWhole(key: string, start: number, end: number): boolean {
  const startsOne = start === 0 || ",/".includes(key.charAt(start - 1));
  return startsOne && (end === key.length || ",/)?".includes(key.charAt(end)));
}

/**
 * The alternative spellings of a key by the authors' tool, for sources that find keys by their bytes; usually
 * none, except
 * for home pages. The inverse of {@link ownSpelling}.
 */
export function foreignSpellings(key: string, options: KeyOptions = {}): string[] {
  const isHome = key.endsWith(")/") && isBareHome(key.slice(0, -1));
  const forms = isHome ? [key, key.slice(0, -1)] : [key];
  return forms
    .flatMap(withRawForms)
    .filter((one) => one !== key && ownSpelling(one, options) === key);
}

/** The key, and its variants with unescaped stars and characters. */
function withRawForms(key: string): string[] {
  if (!MAY_DIFFER.test(key)) return [key];
  const starred = key.replace(/%2a/g, (escaped: string, at: number) =>
    isWhole(key, at, at + escaped.length) ? escaped : "*",
  );
  return [...new Set([key, withRawCharacters(key), starred, withRawCharacters(starred)])];
}

function withRawCharacters(key: string): string {
  return key.replace(ESCAPED_BYTES, (escaped) => {
    try {
      return decoder.decode(
        Uint8Array.from(escaped.slice(1).split("%"), (hex) => parseInt(hex, 16)),
      );
    } catch {
      // Not valid UTF-8, so no map has it unescaped.
      return escaped;
    }
  });
}
