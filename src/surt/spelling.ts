import { MementoMapError, quote } from "../errors.ts";
import { ANY_QUERY, escapeUtf8, hasQuery, hostEnd, type KeyOptions, surtKey } from "./key.ts";

/** What no key of this tool has but as a wildcard, or at its end. */
// oxlint-disable-next-line no-control-regex -- all of ASCII
const FOREIGN = /[*)]|[^\u0000-\u007f]/u;
// oxlint-disable-next-line no-control-regex -- all of ASCII
const NOT_ASCII = /[^\u0000-\u007f]+/gu;
const ESCAPED_BYTES = /(?:%[89a-f][0-9a-f])+/g;
/** What only keys have that the authors' tool writes otherwise. */
const MAY_DIFFER = /%2a|%[89a-f][0-9a-f]/;
/** A host without a name, with an empty label at an end, or with a character that is escaped in hosts. */
const UNPUBLISHED_HOST = /^,|,$|^$|[)/]/;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The key of a map of the authors' tool (oduwsdl/MementoMap) as it is written here. That tool takes
 * keys from an index as they are: `com,cnn)` is a home page, characters that are not ASCII are not escaped,
 * nor is a `*` within a label or a segment. Of this no other part of lookups, merging and packing knows.
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
 * The key of a page that lookups ask for by which they find a row with this key: in a map without queries, a
 * key with a query is found by its page.
 */
export function askedKey(key: string, options: KeyOptions = {}): string {
  const own = ownSpelling(key, options);
  const isFoundByPage = options.queries !== true && !own.includes("*") && hasQuery(own);
  return isFoundByPage ? surtKey(own) : own;
}

/**
 * Refuses a key that only unpublished versions of this tool wrote, such as `com,a,)/` or `com,a)b)/`: lookups
 * would take its host to be another.
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
    `key ${quote(key)} is written in a way that no published tool writes; make the map again from its index`,
  );
}

/** Whether this is the home page of a host, without its slash. */
function isBareHome(key: string): boolean {
  return key.indexOf(")") === key.length - 1 && key.length > 1 && !key.endsWith(",*)");
}

/** Whether a part of a key is a label or a segment as a whole. */
function isWhole(key: string, start: number, end: number): boolean {
  const startsOne = start === 0 || ",/".includes(key.charAt(start - 1));
  return startsOne && (end === key.length || ",/)?".includes(key.charAt(end)));
}

/**
 * A key as the authors' tool may have written it instead, for sources that find a key by its bytes; none for
 * nearly all keys but home pages. The inverse of {@link ownSpelling}.
 */
export function foreignSpellings(key: string, options: KeyOptions = {}): string[] {
  const isHome = key.endsWith(")/") && isBareHome(key.slice(0, -1));
  const forms = isHome ? [key, key.slice(0, -1)] : [key];
  return forms
    .flatMap(withRawForms)
    .filter((one) => one !== key && ownSpelling(one, options) === key);
}

/** A key, and that with stars and with characters that are not escaped. */
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
      // Not UTF-8, which no map has.
      return escaped;
    }
  });
}
