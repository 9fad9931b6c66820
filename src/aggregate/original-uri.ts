import { MementoMapError, quote } from "../errors.ts";

/** Longer URIs are refused: no archive is known to hold one, and every archive would be bothered. */
export const MAX_ORIGINAL_LENGTH = 8192;

const ENCODED_SCHEME = /^https?%3A%2F%2F/i;
/**
 * What is left of `http://` behind proxies that make one slash of several, as nginx does by default.
 * It can be nothing else: a host `http` with an empty port is not what anybody asks for.
 */
const MERGED_SLASHES = /^(https?):\/([^/].*)$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The original URI that a client names, as archives are asked for it: as sent, with `http://` in
 * front where it has no scheme. Nothing is decoded, normalised or collapsed; but a URI that begins
 * with `http%3A%2F%2F` was encoded as a whole by the client's library, and is decoded once: no URI
 * that was sent as it is begins like that. And `http:/a` is `http://a` whose slashes a proxy merged.
 *
 * @throws MM_BAD_URI for an empty, an overlong, or one with blanks or control characters in it.
 */
export function originalUri(raw: string): string {
  if (raw === "") throw new MementoMapError("MM_BAD_URI", "there is no URI; write it at the end");
  if (raw.length > MAX_ORIGINAL_LENGTH) {
    throw new MementoMapError(
      "MM_BAD_URI",
      `the URI has ${raw.length} characters; up to ${MAX_ORIGINAL_LENGTH} are taken`,
    );
  }
  if (raw.startsWith("http%") || raw.startsWith("https%")) return originalUri(decodedOnce(raw));
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i);
    if (code <= 0x20 || code === 0x7f) {
      throw new MementoMapError(
        "MM_BAD_URI",
        `${quote(raw)} has a blank or a control character in it; write %${code.toString(16).padStart(2, "0").toUpperCase()}`,
      );
    }
  }
  // By far the most are written so, and need no pattern.
  if (raw.startsWith("http://") || raw.startsWith("https://")) return raw;
  if (SCHEME.test(raw)) return raw;
  const [, scheme, rest] = MERGED_SLASHES.exec(raw) ?? [];
  return scheme === undefined ? `http://${raw}` : `${scheme}://${rest}`;
}

function decodedOnce(raw: string): string {
  try {
    if (ENCODED_SCHEME.test(raw)) return decodeURIComponent(raw);
  } catch {
    // What encodes no text was not encoded; see below.
  }
  return `http://${raw}`;
}
