import { MementoMapError, quote } from "../errors.ts";

/** Longer URIs are rejected without querying archives: none is known to hold one. */
export const MAX_ORIGINAL_LENGTH = 8192;

/** A URI encoded as a whole, or all but its slashes, by a client library: no valid URI begins like this. */
const ENCODED = /^[a-z][a-z0-9+.-]*%3A(?:%2F|\/)/i;
/** `http:/`, after a proxy merged slashes, as nginx does by default. */
const MERGED_SLASHES = /^(https?):\/([^/].*)$/is;
/** `mailto:`, `javascript:`; but not `example.org:8080`. */
const OTHER_SCHEME = /^[a-z][a-z0-9+-]*:(?!\/\/)(?!\d{1,5}(?:[/?]|$))/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** User information is not sent to archives and their logs; captures are never indexed by it. */
const USER = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;

/**
 * The original URI of a request, as sent to archives: `http://` is added if it has no scheme; fragment and user
 * information are removed. Nothing else is decoded, normalized or collapsed, unless the URI was encoded as a
 * whole, or a
 * proxy merged the slashes of its scheme.
 *
 * @throws MM_BAD_URI for a URI that is empty or too long, has blanks or control characters (encoded control
 * characters
 *   included), or has another scheme, such as `mailto:a@b`.
 */
export function originalUri(raw: string): string {
  if (raw === "") throw badUri("the URI is missing; write it at the end");
  if (raw.length > MAX_ORIGINAL_LENGTH) {
    throw badUri(
      `the URI has ${raw.length} characters; at most ${MAX_ORIGINAL_LENGTH} are accepted`,
    );
  }
  const uri = withScheme(ENCODED.test(raw) ? decodedOnce(raw) : raw)
    .replace(/#.*/s, "")
    .replace(USER, "$1");
  const [bad] = /[\0-\u0020\u007f]/.exec(uri) ?? [];
  if (bad !== undefined) {
    const code = bad.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase();
    const advice = bad === " " ? "write %20" : `remove the character ${code}`;
    throw badUri(`${quote(raw)} contains a blank or a control character; ${advice}`);
  }
  if (/%(?:[01][0-9a-f]|7f)/i.test(uri)) {
    throw badUri(`${quote(raw)} contains an encoded control character`);
  }
  if (/^[a-z][a-z0-9+.-]*:\/\/(?:[^/?]*@)?(?:[:/?]|$)/i.test(uri)) {
    throw badUri(`${quote(raw)} has no host`);
  }
  return uri;
}

function withScheme(uri: string): string {
  if (SCHEME.test(uri)) return uri;
  const [, scheme, rest] = MERGED_SLASHES.exec(uri) ?? [];
  if (scheme !== undefined) return `${scheme}://${rest}`;
  if (OTHER_SCHEME.test(uri)) throw badUri(`${quote(uri)} is not a web address`);
  return `http://${uri}`;
}

/** Non-ASCII characters are percent-encoded as UTF-8, as browsers do. */
function decodedOnce(raw: string): string {
  try {
    return asciiUri(decodeURIComponent(raw));
  } catch {
    throw badUri(`${quote(raw)} is not valid percent-encoded UTF-8`);
  }
}

function asciiUri(text: string): string {
  return text.replaceAll(/[^\0-\u007f]+/gu, encodeURIComponent);
}

/** A pasted address: the URI of a page, with the datetime if it was the address of a memento. */
export interface PastedAddress {
  readonly uri: string;
  /** Up to 14 digits. */
  readonly datetime: string | undefined;
}

/** `https://web.archive.org/web/20050101000000id_/http://example.org/`, for any archive. */
const MEMENTO = /^https?:\/\/[^/]+(?:\/[^/]+){0,3}\/(\d{4,14})(?:[a-z]{2}_)?\/(https?:\/.+)$/is;

/**
 * Parses an address as users paste or type it: surrounded by blanks, quotes or commas, from the source view of a
 * browser, or as the address of a memento.
 *
 * @throws MM_BAD_URI for text that is not the address of a page, such as plain words.
 */
export function pastedAddress(text: string): PastedAddress {
  const bare = text
    .trim()
    .replace(/^view-source:/i, "")
    .replace(/^["'<(«“‘]+/, "")
    .replace(/(?<!["'>»”’,;])["'>»”’,;]+$/, "")
    .trim();
  if (bare !== "" && !SCHEME.test(bare) && (/\s/.test(bare) || !/[.:%]|^localhost\b/.test(bare))) {
    throw badUri(`${quote(text)} is not an address; write one such as https://example.org/page`);
  }
  const uri = originalUri(asciiUri(bare.replaceAll(/\s/g, encodeURIComponent)));
  const [, datetime, original] = MEMENTO.exec(uri) ?? [];
  return original === undefined
    ? { uri, datetime: undefined }
    : { uri: originalUri(original), datetime };
}

function badUri(message: string): MementoMapError {
  return new MementoMapError("MM_BAD_URI", message);
}
